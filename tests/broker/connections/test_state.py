"""The states of a connection: each row of the table in `ConnectionState` is a transition that happens."""

from __future__ import annotations

import pytest

from odradek.broker.connections.connection import TURN_REQUESTS
from odradek.broker.connections.large_frame import LARGE_FRAME_BYTES
from odradek.broker.connections.state import WHEN_BUSY, WHEN_DUE, WHEN_MUTED, ConnectionState
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from tests.broker.harness import Client, World, produce

REQUEST = b"".join(encode_request(API_VERSIONS, 0, 1, "test", ApiVersionsRequest()))


@pytest.fixture
def world() -> World:
    return World(stepwise=True).with_topic("t", 1)


def waiting(world: World) -> Client:
    """Returns a client whose fetch waits for records."""
    client = world.leader_of("t")
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    client.send(FETCH, 11, FetchRequest(max_wait_ms=500, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
    return client


def test_request_behind_a_waiting_one_is_held_until_the_response(world: World) -> None:
    client = waiting(world)
    assert client.connection._state is ConnectionState.READING
    client.feed(REQUEST)
    assert client.connection._state is ConnectionState.HELD
    produce(world, "t", b"x")
    assert client.connection._state is ConnectionState.READING


def test_many_requests_are_put_off_to_the_next_turn(world: World) -> None:
    client = world.client()
    client.feed(REQUEST * (TURN_REQUESTS + 1))
    assert client.connection._state is ConnectionState.PUT_OFF
    world.turn()
    assert client.connection._state is ConnectionState.READING


def test_client_that_reads_again_is_served_in_the_next_turn(world: World) -> None:
    client = world.client()
    client.connection.writable = False
    client.feed(REQUEST)
    assert client.connection._state is ConnectionState.HELD
    client.connection.writable = True
    client.connection.flushed()
    assert client.connection._state is ConnectionState.PUT_OFF
    world.turn()
    assert client.connection._state is ConnectionState.READING


def test_muted_connection_reads_until_a_request_begins(world: World) -> None:
    client = world.client()
    client.connection.mute(100)
    assert (client.connection._state, client.connection.wants_data) == (ConnectionState.MUTED, True)
    client.feed(REQUEST)
    assert (client.connection._state, client.connection.wants_data) == (ConnectionState.PUT_OFF, False)
    world.advance(100)
    assert client.connection._state is ConnectionState.READING
    assert client.sent


def test_muted_connection_without_requests_is_read_again(world: World) -> None:
    client = world.client()
    client.connection.mute(100)
    world.advance(100)
    assert client.connection._state is ConnectionState.READING


def test_held_connection_that_is_muted_waits_for_both(world: World) -> None:
    client = waiting(world)
    client.feed(REQUEST)
    client.connection.mute(100)
    assert client.connection._state is ConnectionState.PUT_OFF
    world.advance(100)
    assert client.connection._state is ConnectionState.HELD
    produce(world, "t", b"x")
    assert client.connection._state is ConnectionState.READING


def test_large_frame_without_memory_is_held(world: World) -> None:
    client = world.client()
    client.connection.broker.request_memory.take = lambda size, when_free: False  # type: ignore[method-assign]
    client.feed((LARGE_FRAME_BYTES + 1).to_bytes(4, "big"))
    assert client.connection._state is ConnectionState.HELD


@pytest.mark.parametrize("muted", [False, True])
def test_closed_connection_stays_closed(world: World, muted: bool) -> None:
    client = world.client()
    client.connection.close("the test ends it")
    if muted:
        client.connection.mute(100)
        world.advance(100)
    client.connection._hold()
    assert client.connection._state is ConnectionState.CLOSED


def test_tables_lead_to_other_states() -> None:
    for table in (WHEN_BUSY, WHEN_DUE, WHEN_MUTED):
        assert all(before is not after for before, after in table.items())
        assert ConnectionState.CLOSED not in {*table, *table.values()}
