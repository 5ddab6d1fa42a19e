"""The order of faults, their removal, and what they record."""

from __future__ import annotations

import pytest

from odradek.broker.faults.fault import EXCHANGES, MISSES
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, START_MS, Client, World, a_batch, fetch_request, produce_request


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 1)


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
    assert (missed.misses.total(), missed.others) == (2 * MISSES, EXCHANGES + 1)


def test_handler_error_passes_through_the_acts(world: World) -> None:
    """The handler refuses the request by raising an error, whose response the acts get like any other."""
    world.fault(api="Produce", throttle_ms=5)
    request = produce_request("t", a_batch(b"x", producer_id=1, producer_epoch=0, base_sequence=0, is_transactional=True))
    response = world.client().call(PRODUCE, 9, request)
    assert response.responses[0].partition_responses[0].error_code
    assert response.throttle_time_ms == 5


def shortcut_of(client: Client) -> object:
    return client.connection._shortcut


def test_request_that_no_fault_can_hit_takes_the_shortcut(world: World) -> None:
    """The requests that are not decoded are counted as well."""
    client = world.client()
    fault = world.fault(api="Produce", topic="other", error="INVALID_RECORD")
    assert [produce(client) for _ in range(5)] == [0] * 5
    assert shortcut_of(client) is not None
    assert client.connection.sparing.count == 4
    world.core.faults.settle()
    assert list(fault.misses.values()) == [5]
    produce(client)
    client.connection.lost("the client has disconnected")
    assert list(fault.misses.values()) == [6]


def test_shortcut_of_an_earlier_time_is_not_taken(world: World) -> None:
    """A request that was served before the fault existed has the same bytes as one that the fault hits."""
    client = world.client()
    assert [produce(client) for _ in range(2)] == [0, 0]
    fault = world.fault(api="Produce", topic="t", error="INVALID_RECORD", skip=1)
    assert [produce(client) for _ in range(3)] == [0, ErrorCode.INVALID_RECORD, ErrorCode.INVALID_RECORD]
    world.core.faults.remove(fault)
    assert produce(client) == 0
    world.fault(api="Produce", topic="other", error="INVALID_RECORD")
    second = world.fault(api="Produce", topic="t", error="NOT_LEADER_OR_FOLLOWER")
    assert produce(client) == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert second.hits == 1


@pytest.mark.parametrize("passing", [{"skip": 3}, {"every": 4}, {"after": START_MS + 10}])
def test_shortcut_is_not_learned_while_a_fault_may_still_hit(world: World, passing: dict[str, int]) -> None:
    client = world.client()
    world.fault(api="Produce", error="INVALID_RECORD", **passing)
    assert [produce(client) for _ in range(3)] == [0] * 3
    world.advance(10)
    assert produce(client) == ErrorCode.INVALID_RECORD


def test_shortcut_of_other_requests_does_not_learn_a_hit_one(world: World) -> None:
    world.cluster.topics.create("slow", 1)
    fault = world.fault(api="Produce", topic="slow", delay_ms=5)
    client = world.client()
    for number in range(1, 4):
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
        assert client.receive() is not None
        client.send(PRODUCE, 9, produce_request("slow", a_batch(b"x")))
        assert client.receive() is None
        world.advance(5)
        assert client.receive() is not None
        assert fault.hits == number


def test_shortcut_is_learned_after_the_last_hit(world: World) -> None:
    client = world.client()
    world.fault(api="Produce", error="INVALID_RECORD", times=1)
    assert [produce(client) for _ in range(4)] == [ErrorCode.INVALID_RECORD, 0, 0, 0]
    assert shortcut_of(client) is not None
    assert client.connection.sparing.count == 2


def test_shortcut_is_forgotten_by_a_request_that_waits(world: World) -> None:
    """The first request after the fault is a fetch that waits, and the second has the bytes of one before the fault."""
    client = world.client()
    assert [produce(client) for _ in range(2)] == [0, 0]
    world.fault(api="Produce", error="INVALID_RECORD")
    client.send(FETCH, 11, fetch_request("t", offset=2, max_wait_ms=10))
    world.advance(10)
    assert client.receive() is not None
    assert produce(client) == ErrorCode.INVALID_RECORD
