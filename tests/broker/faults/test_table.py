"""The order of faults, their removal, and what they record."""

from __future__ import annotations

import pytest

from odradek.broker.faults.fault import EXCHANGES, MISSES
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, Client, World, a_batch, produce_request

ASK = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    return world


def produce(client: Client, topic: str = "t") -> int:
    response = client.call(PRODUCE, 9, produce_request(topic, a_batch(b"x")))
    return int(response.responses[0].partition_responses[0].error_code)


def test_faults_are_consulted_in_their_order(world: World) -> None:
    """The second fault does not see the requests that the first one answers."""
    first = world.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER", times=1)
    second = world.fault(api="Produce", error="INVALID_RECORD", times=1)
    client = world.client()
    assert [produce(client) for _ in range(3)] == [ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.INVALID_RECORD, 0]
    assert (first.hits, second.hits, second.misses.total()) == (1, 1, 1)


def test_request_after_a_removal_is_not_hit(world: World) -> None:
    fault = world.fault(api="Produce", error="INVALID_RECORD")
    client = world.client()
    assert produce(client) == ErrorCode.INVALID_RECORD
    world.core.faults.remove(fault)
    world.core.faults.remove(fault)
    assert produce(client) == 0
    assert (fault.hits, fault.removed, world.core.gate) == (1, True, None)


def test_fault_removed_meanwhile_is_not_consulted(world: World) -> None:
    hanging = world.fault(api="Produce", hang=True)
    failing = world.fault(api="Produce", error="INVALID_RECORD")
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    world.core.faults.remove(failing)
    world.core.faults.remove(hanging)
    world.advance(0)
    assert client.receive().responses[0].partition_responses[0].error_code == 0


def test_exchange_describes_the_request(world: World) -> None:
    fault = world.fault(api="Produce", delay_ms=0)
    client = world.client()
    produce(client)
    (exchange,) = fault.exchanges
    assert (exchange.time_ms, exchange.node, exchange.connection) == (START_MS, 1, client.connection.client.connection_id)
    assert (exchange.client_id, exchange.api, exchange.version) == ("test", "Produce", 9)
    assert (exchange.correlation_id, exchange.topics) == (1, ("t",))


def test_records_of_a_fault_are_bounded(world: World) -> None:
    hit = world.fault(api="ApiVersions", delay_ms=0)
    missed = world.fault(api="Produce", topic="other", delay_ms=0)
    client = world.client()
    for _ in range(EXCHANGES + 1):
        client.call(API_VERSIONS, 3, ASK)
    for number in range(2 * MISSES):
        produce(client, f"t{number}")
    assert (hit.hits, len(hit.exchanges)) == (EXCHANGES + 1, EXCHANGES)
    assert len(missed.misses) <= MISSES + 1
    assert missed.misses.total() == EXCHANGES + 1 + 2 * MISSES


def test_handler_error_passes_through_the_acts(world: World) -> None:
    """The handler refuses the request by raising an error, whose response the acts get like any other."""
    world.fault(api="Produce", throttle_ms=5)
    request = produce_request("t", a_batch(b"x", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True))
    response = world.client().call(PRODUCE, 9, request)
    assert response.responses[0].partition_responses[0].error_code
    assert response.throttle_time_ms == 5
