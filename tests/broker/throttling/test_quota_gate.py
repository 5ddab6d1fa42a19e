"""The gate of client quotas: what is measured, what the client is told, and when it is served again."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster.quotas import Entity, entity_of
from odradek.broker.throttling.quota_gate import IDLE_MS, QuotaGate
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.fetch import FETCH, FetchRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, Client, World, a_batch, fetch_request, produce_request


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 1)


def limit(world: World, key: str, value: float | None, **parts: str | None) -> None:
    entity: Entity = entity_of({kind.replace("_", "-"): name for kind, name in (parts or {"client_id": "test"}).items()})
    world.cluster.alter_quotas(entity, {key: value}, validate_only=False)


def produced(client: Client, size: int = 1000, client_id: str = "test") -> Any:
    return client.call(PRODUCE, 9, produce_request("t", a_batch(b"x" * size)), client_id)


def test_cluster_without_quotas_has_no_gate(world: World) -> None:
    assert world.core.gate is None
    limit(world, "producer_byte_rate", 1e6)
    assert isinstance(world.core.gate, QuotaGate)
    limit(world, "producer_byte_rate", None)
    assert world.core.gate is None


def test_producer_above_its_rate_is_muted_for_the_throttle_time(world: World) -> None:
    limit(world, "producer_byte_rate", 100)
    client = world.client()
    throttle_ms = produced(client).throttle_time_ms
    assert 500 < throttle_ms < 2000
    client.send(API_VERSIONS, 3, ASK)
    world.advance(throttle_ms - 1)
    assert not client.sent
    world.advance(1)
    assert client.receive().error_code == 0


def test_producer_below_its_rate_is_not_throttled(world: World) -> None:
    limit(world, "producer_byte_rate", 1e6)
    client = world.client()
    assert [produced(client).throttle_time_ms for _ in range(5)] == [0] * 5
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 5


def test_other_clients_are_not_throttled(world: World) -> None:
    limit(world, "producer_byte_rate", 1)
    assert produced(world.client()).throttle_time_ms > 0
    other = world.client()
    assert [produced(other, client_id="other").throttle_time_ms for _ in range(3)] == [0] * 3


def test_connections_of_a_client_share_its_quota(world: World) -> None:
    limit(world, "producer_byte_rate", 100)
    first = produced(world.client()).throttle_time_ms
    assert produced(world.client()).throttle_time_ms > first


def test_produce_without_response_is_throttled_as_well(world: World) -> None:
    limit(world, "producer_byte_rate", 1)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x" * 100), acks=0))
    client._asked.pop()
    client.send(API_VERSIONS, 3, ASK)
    assert not client.sent
    world.advance(3_600_000)
    assert client.receive().error_code == 0


def test_fetch_above_the_rate_is_empty_and_keeps_its_place(world: World) -> None:
    produced(world.client(), client_id="other")
    limit(world, "consumer_byte_rate", 50)
    client = world.client()
    throttled = client.call(FETCH, 12, fetch_request("t"))
    assert (throttled.responses, throttled.session_id, throttled.error_code) == ([], 0, ErrorCode.NONE)
    assert throttled.throttle_time_ms > 0
    limit(world, "consumer_byte_rate", 1e6)
    world.advance(throttled.throttle_time_ms)
    assert client.call(FETCH, 12, fetch_request("t")).responses[0].partitions[0].records


def in_session(session_id: int, epoch: int) -> FetchRequest:
    request = fetch_request("t", max_wait_ms=0)
    request.session_id, request.session_epoch = session_id, epoch
    return request


def test_throttled_fetch_of_a_session_continues_later(world: World) -> None:
    client = world.client()
    first = client.call(FETCH, 12, in_session(0, 0))
    produced(world.client(), client_id="other")
    limit(world, "consumer_byte_rate", 50)
    throttled = client.call(FETCH, 12, in_session(first.session_id, 1))
    assert (throttled.responses, throttled.session_id) == ([], first.session_id)
    limit(world, "consumer_byte_rate", None)
    world.advance(throttled.throttle_time_ms)
    again = client.call(FETCH, 12, in_session(first.session_id, 2))
    assert again.responses[0].partitions[0].records


def test_request_time_is_measured_and_bounded_by_the_window(world: World) -> None:
    limit(world, "request_percentage", 1)
    client = world.client()
    throttle = world.core.gate
    assert isinstance(throttle, QuotaGate)
    throttle._clock = iter([0.0, 0.5]).__next__
    response = client.call(API_VERSIONS, 3, ASK)
    assert response.throttle_time_ms == 1000


def create(client: Client, name: str, partitions: int, version: int = 7) -> Any:
    topic = CreatableTopic(name=name, num_partitions=partitions, replication_factor=1, assignments=[], configs=[])
    return client.call(CREATE_TOPICS, version, CreateTopicsRequest(topics=[topic]))


def test_strict_mutation_in_debt_is_refused_and_creates_nothing(world: World) -> None:
    limit(world, "controller_mutation_rate", 1)
    assert create(world.client(), "first", 20).throttle_time_ms == 0
    refused = create(world.client(), "second", 1)
    assert (refused.topics[0].error_code, refused.throttle_time_ms) == (ErrorCode.THROTTLING_QUOTA_EXCEEDED, 9000)
    assert "second" not in world.cluster.topics
    world.advance(9000)
    assert create(world.client(), "second", 1).topics[0].error_code == ErrorCode.NONE


def test_permissive_mutation_in_debt_is_throttled(world: World) -> None:
    limit(world, "controller_mutation_rate", 1)
    assert create(world.client(), "first", 20, version=5).throttle_time_ms == 9000
    assert create(world.client(), "second", 1, version=5).throttle_time_ms == 10_000
    assert "second" in world.cluster.topics


def test_topic_that_metadata_creates_counts_as_a_mutation(world: World) -> None:
    limit(world, "controller_mutation_rate", 0.01)
    request = MetadataRequest(topics=[MetadataRequestTopic(name="auto")], allow_auto_topic_creation=True)
    assert world.client().call(METADATA, 9, request).throttle_time_ms > 0
    assert "auto" in world.cluster.topics


@pytest.mark.parametrize("number", range(8))
def test_most_specific_entity_counts(world: World, number: int) -> None:
    entities: list[dict[str, str | None]] = [
        {"user": "ANONYMOUS", "client_id": "test"},
        {"user": "ANONYMOUS", "client_id": None},
        {"user": "ANONYMOUS"},
        {"user": None, "client_id": "test"},
        {"user": None, "client_id": None},
        {"user": None},
        {"client_id": "test"},
        {"client_id": None},
    ]
    for rate, entity in enumerate(entities[number:], number + 1):
        limit(world, "producer_byte_rate", rate, **entity)
    applying = world.cluster.quotas.applying("producer_byte_rate", "ANONYMOUS", "test")
    assert applying is not None
    assert applying.limit == number + 1


def test_changed_quota_keeps_what_was_measured(world: World) -> None:
    limit(world, "producer_byte_rate", 1e9)
    produced(world.client(), 5000)
    limit(world, "producer_byte_rate", 1)
    assert produced(world.client(), 1).throttle_time_ms > 5000_000 / 1.1


def test_silent_clients_are_forgotten(world: World) -> None:
    limit(world, "producer_byte_rate", 1e9, client_id=None)
    client, throttle = world.client(), world.core.gate
    assert isinstance(throttle, QuotaGate)
    throttle._purge_at = 5
    for number in range(4):
        produced(client, 1, f"client-{number}")
    world.advance(IDLE_MS + 1)
    client = world.client()
    for number in range(2):
        produced(client, 1, f"later-{number}")
    assert {client_id for _, _, (_, client_id) in throttle._measured} == {"later-0", "later-1"}


def test_quota_and_fault_act_on_the_same_request(world: World) -> None:
    limit(world, "producer_byte_rate", 1)
    world.fault(api="Produce", delay_ms=50)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x" * 100)))
    assert not client.sent
    world.advance(50)
    assert client.receive().throttle_time_ms > 0


@pytest.mark.parametrize("value", [float("nan"), 1e300, 5e-324])
def test_extreme_quotas_disturb_no_request(world: World, value: float) -> None:
    for key in ("request_percentage", "controller_mutation_rate"):
        limit(world, key, value)
    if value != 1e300:  # byte rates have to fit into a long
        for key in ("producer_byte_rate", "consumer_byte_rate"):
            world.cluster.quotas._quotas.setdefault((("client-id", "test"),), {})[key] = value
    assert produced(world.client()).responses[0].partition_responses[0].error_code == ErrorCode.NONE
    assert world.client().call(FETCH, 12, fetch_request("t", max_wait_ms=0)).error_code == ErrorCode.NONE
    assert create(world.client(), "new", 1).topics[0].error_code == ErrorCode.NONE
