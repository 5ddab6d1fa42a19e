"""Which requests a fault hits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, Client, World, a_batch, produce_request

ASK = ApiVersionsRequest(client_software_name="librdkafka", client_software_version="2.6.0")


@pytest.fixture
def world() -> World:
    listeners = "PLAINTEXT://127.0.0.1:9092,OTHER://127.0.0.1:9192"
    security = {"listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,OTHER:PLAINTEXT", "listeners": listeners}
    world = World(nodes=2, settings=security)
    for name in ("orders", "payments"):
        world.cluster.topics.create(name, 2, configs={})
    return world


def ask(client: Client, **options: Any) -> None:
    client.call(API_VERSIONS, 3, ASK, **options)


def beat(client: Client, group: str) -> None:
    client.call(HEARTBEAT, 3, HeartbeatRequest(group_id=group, generation_id=1, member_id="m"))


def produce(client: Client, topic: str = "orders", **options: Any) -> None:
    client.send(PRODUCE, 9, produce_request(topic, a_batch(b"x"), **options))


def init(client: Client, transactional_id: str | None) -> None:
    client.call(INIT_PRODUCER_ID, 4, InitProducerIdRequest(transactional_id=transactional_id, transaction_timeout_ms=1000))


def metadata(client: Client, *topics: str) -> None:
    client.call(METADATA, 9, MetadataRequest(topics=[MetadataRequestTopic(name=name) for name in topics]))


def has_no_acks(request: Any) -> bool:
    return bool(request.acks == 0)


Send = Callable[[World], None]


@pytest.mark.parametrize(
    ("options", "hit", "missed", "criterion"),
    [
        ({"api": "ApiVersions"}, lambda w: ask(w.client()), lambda w: metadata(w.client()), "api"),
        ({"api": ["ApiVersions", "Fetch"]}, lambda w: ask(w.client()), lambda w: metadata(w.client()), "api"),
        ({"min_version": 4}, lambda w: metadata(w.client()), lambda w: ask(w.client()), "min_version"),
        ({"max_version": 8}, lambda w: ask(w.client()), lambda w: metadata(w.client()), "max_version"),
        ({"node": 2}, lambda w: ask(w.client(2)), lambda w: ask(w.client(1)), "node"),
        ({"listener": "OTHER"}, lambda w: ask(w.client(listener="OTHER")), lambda w: ask(w.client()), "listener"),
        ({"client_id": "app-*"}, lambda w: ask(w.client(), client_id="app-1"), lambda w: ask(w.client(), client_id="1-app"), "client_id"),
        ({"principal": "User:A*"}, lambda w: ask(w.client()), None, "principal"),
        ({"principal": "User:alice"}, None, lambda w: ask(w.client()), "principal"),
        ({"peer": "10.*"}, lambda w: ask(w.client(host="10.0.0.1")), lambda w: ask(w.client()), "peer"),
        ({"connection": 1}, lambda w: ask(w.client()), lambda w: ask(w.client()), "connection"),
        ({"topic": "ord*"}, lambda w: produce(w.client(), "orders"), lambda w: produce(w.client(), "payments"), "topic"),
        ({"topic": "orders"}, lambda w: metadata(w.client(), "payments", "orders"), lambda w: metadata(w.client(), "payments"), "topic"),
        ({"topic": "orders"}, None, lambda w: ask(w.client()), "topic"),
        ({"partitions": 1}, lambda w: produce(w.client(), partition=1), lambda w: produce(w.client(), partition=0), "partitions"),
        ({"partitions": [1, 2]}, lambda w: produce(w.client(), partition=1), lambda w: produce(w.client(), partition=0), "partitions"),
        ({"group": "g?"}, lambda w: beat(w.client(), "g1"), lambda w: beat(w.client(), "g"), "group"),
        ({"transactional_id": "t*"}, lambda w: init(w.client(), "t1"), lambda w: init(w.client(), None), "transactional_id"),
        ({"acks": 1}, lambda w: produce(w.client(), acks=1), lambda w: produce(w.client(), acks=-1), "acks"),
        ({"when": has_no_acks, "api": "Produce"}, lambda w: produce(w.client(), acks=0), lambda w: produce(w.client()), "when"),
    ],
    ids=lambda value: ",".join(value) if isinstance(value, dict) else "",
)  # fmt: skip
def test_criterion_hits_and_misses(world: World, options: dict[str, Any], hit: Send | None, missed: Send | None, criterion: str) -> None:
    fault = world.fault(delay_ms=0, **options)
    if hit is not None:
        hit(world)
    assert fault.hits == (hit is not None)
    if missed is not None:
        missed(world)
    reasons = ["api"] * bool(fault.others) + [reason.criterion for _, reason in fault.misses]
    assert reasons == ([criterion] if missed else [])
    assert fault.hits == (hit is not None)


def test_client_software_is_known_after_its_first_request(world: World) -> None:
    fault = world.fault(client_software="librdkafka/2.*", delay_ms=0)
    client = world.client()
    ask(client)
    ask(client)
    assert fault.hits == 1


def test_moments_are_times_of_the_cluster(world: World) -> None:
    fault = world.fault(after=START_MS + 10, until=START_MS + 20, api="ApiVersions", delay_ms=0)
    client = world.client()
    for _ in range(3):
        ask(client)
        world.advance(10)
    assert [exchange.time_ms for exchange in fault.exchanges] == [START_MS + 10]
    assert {reason.criterion for _, reason in fault.misses} == {"after", "until"}


@pytest.mark.parametrize(
    ("schedule", "hits"),
    [
        ({"skip": 2}, [3, 4, 5, 6, 7]),
        ({"every": 3}, [3, 6]),
        ({"times": 2}, [1, 2]),
        ({"skip": 1, "every": 2, "times": 2}, [3, 5]),
    ],
)
def test_schedule_counts_the_matching_requests(world: World, schedule: dict[str, int], hits: list[int]) -> None:
    fault = world.fault(api="ApiVersions", delay_ms=0, **schedule)
    client = world.client()
    found = []
    for number in range(1, 8):
        before = fault.hits
        ask(client)
        metadata(client)
        if fault.hits > before:
            found.append(number)
    assert found == hits


def test_probability_follows_the_random_numbers_of_the_cluster() -> None:
    def hits() -> list[int]:
        world = World()
        fault = world.fault(api="ApiVersions", delay_ms=0, probability=0.5)
        found = []
        for _ in range(40):
            ask(world.client())
            found.append(fault.hits)
        return found

    first = hits()
    assert first == hits()
    assert 5 < first[-1] < 35


def test_condition_that_raises_misses_and_is_logged(world: World, caplog: pytest.LogCaptureFixture) -> None:
    fault = world.fault(when=lambda request: request.nothing, delay_ms=0)
    ask(world.client())
    ((_, reason),) = fault.misses
    assert reason.criterion == "when"
    assert "has no attribute 'nothing'" in reason.actual[0]
    assert "the condition of fault 1 failed" in caplog.text
