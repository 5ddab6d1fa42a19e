"""Requests that hang."""

from __future__ import annotations

import pytest

from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.connections.test_core import fetch_request
from tests.broker.harness import World, a_batch, produce, produce_request

ASK = ApiVersionsRequest(client_software_name="test", client_software_version="1")


@pytest.fixture
def world() -> World:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    return world


def test_hang_neither_reads_nor_serves_nor_closes(world: World) -> None:
    world.fault(api="Produce", hang=True)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    client.send(API_VERSIONS, 3, ASK)
    world.advance(500_000)
    assert not client.sent
    assert not client.wants_data()
    assert client.closed is None
    assert world.cluster.topics["t"].partitions[0].log.end_offset == 0


def test_hang_ends_after_its_time(world: World) -> None:
    world.fault(api="Produce", hang=True, hang_ms=100)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    world.advance(99)
    assert not client.sent
    world.advance(1)
    assert client.receive().responses[0].partition_responses[0].base_offset == 0


def test_hang_ends_when_the_fault_is_removed(world: World) -> None:
    fault = world.fault(api="Produce", hang=True)
    clients = [world.client(), world.client()]
    for client in clients:
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    world.core.faults.remove(fault)
    world.advance(0)
    assert [client.receive().responses[0].partition_responses[0].base_offset for client in clients] == [0, 1]


def test_hang_holds_the_responses_of_requests_in_flight(world: World) -> None:
    """A fetch that waits when the fault begins gets no response either, as behind a firewall."""
    client = world.client()
    client.send(FETCH, 11, fetch_request("t", max_wait_ms=10_000))
    fault = world.fault(node=1, hang=True, api=["Fetch"])
    assert fault.hits == 1
    produce(world, "t", b"x")
    world.advance(20_000)
    assert not client.sent
    world.core.faults.remove(fault)
    world.advance(0)
    assert b"x" in bytes(client.receive().responses[0].partitions[0].records)


def test_hang_leaves_other_requests_in_flight(world: World) -> None:
    client = world.client()
    client.send(FETCH, 11, fetch_request("t", max_wait_ms=10_000))
    fault = world.fault(api="Fetch", topic="other", hang=True)
    produce(world, "t", b"x")
    assert client.receive() is not None
    assert fault.hits == 0


@pytest.mark.parametrize("act", [{"hang": True}, {"drop": True}])
def test_silent_connection_is_not_closed_as_idle(act: dict[str, bool]) -> None:
    world = World(nodes=1, settings={"connections.max.idle.ms": "1000"})
    world.fault(api="ApiVersions", **act)
    client, idle = world.client(), world.client()
    client.send(API_VERSIONS, 3, ASK)
    for _ in range(20):
        world.advance(250)
    assert client.closed is None
    assert idle.closed == "idle for 1000 ms, connections.max.idle.ms is 1000"
