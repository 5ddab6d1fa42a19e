"""Faults of new connections."""

from __future__ import annotations

import pytest

from odradek.broker.faults.explanation import describe_fault
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, START_MS, Client, World, a_batch, produce_request


@pytest.fixture
def world() -> World:
    return World(nodes=2)


def is_served(client: Client) -> bool:
    client.send(API_VERSIONS, 3, ASK)
    return client.receive() is not None


@pytest.mark.parametrize(("options", "resets"), [({}, False), ({"close": "fin"}, False), ({"close": "rst"}, True)])
def test_closed_connection_is_a_hit(world: World, options: dict[str, str], resets: bool) -> None:
    fault = world.fault(refuse="closed", node=1, **options)
    client = world.client(1)
    assert client.closed == f"fault {fault.number} closes new connections"
    assert client.connection.resets is resets
    assert is_served(world.client(2))
    assert [(exchange.node, exchange.api) for exchange in fault.exchanges] == [(1, "connection")]


def test_silent_connection_is_served_after_the_removal(world: World) -> None:
    before = world.client()
    fault = world.fault(refuse="silent")
    client = world.client()
    assert not is_served(client)
    assert is_served(before)
    world.core.faults.remove(fault)
    world.advance(0)
    assert client.receive().error_code == 0
    assert fault.hits == 1


def test_refused_listener_is_no_hit(world: World) -> None:
    fault = world.fault(refuse=True, node=1)
    broker, other = world.cluster.brokers[1], world.cluster.brokers[2]
    faults = world.core.faults
    assert faults.refuses(broker, "PLAINTEXT")
    assert not faults.refuses(other, "PLAINTEXT")
    faults.remove(fault)
    assert not faults.refuses(broker, "PLAINTEXT")
    assert fault.hits == 0


def test_refused_listener_listens_again_at_its_time(world: World) -> None:
    broker, faults = world.cluster.brokers[1], world.core.faults
    states: list[bool] = []
    world.core.on_gate_change.append(lambda: states.append(faults.refuses(broker, "PLAINTEXT")))
    world.fault(refuse="refused", after=START_MS + 10, until=START_MS + 20)
    for _ in range(3):
        world.advance(10)
    assert states == [False, True, False]


def test_connection_schedule_and_peer_are_obeyed(world: World) -> None:
    fault = world.fault(refuse="closed", peer="10.*", skip=1, times=1)
    hosts = ["10.0.0.1", "10.0.0.2", "127.0.0.1", "10.0.0.3"]
    assert [world.client(host=host).closed is None for host in hosts] == [True, False, True, True]
    assert fault.misses.total() == 3


@pytest.mark.parametrize("mode", ["refused", "closed", "silent"])
def test_requests_of_older_connections_are_not_counted(world: World, mode: str) -> None:
    world.cluster.topics.create("t", 1, 1)
    before = world.leader_of("t")
    fault = world.fault(refuse=mode)
    for _ in range(5):  # the later ones are answered by the shortcut of the connection
        before.call(PRODUCE, 9, produce_request("t", a_batch(b"value")))
    world.core.faults.settle()
    assert fault.misses.total() == 0
    assert describe_fault(fault, []).endswith("0 hits; no connection seen")
    world.core.faults.remove(fault)
    assert describe_fault(fault, []).endswith("removed, 0 hits; no connection seen")
