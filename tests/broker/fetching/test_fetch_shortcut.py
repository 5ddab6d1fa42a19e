"""The shortcut of Fetch gives the same responses as a decoded request, byte by byte, and leaves everything unusual to decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.api.context import Context
from odradek.broker.fetching import fetch_shortcut
from odradek.broker.fetching.fetch_shortcut import FetchShortcut
from odradek.protocol.messages.fetch import FETCH, ReplicaState
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.fetching.frames import request, response
from tests.broker.harness import Client, World, a_batch, produce, produce_request
from tests.broker.transactions.producer import Producer

VERSIONS = range(FETCH.versions.first, FETCH.versions.last + 1)
RECORDS = [b"first", b"second" * 50, b"third" * 5000, b"fourth"]


@pytest.fixture
def world() -> World:
    world = World(1)
    world.cluster.topics.create("t", 2)
    for value in RECORDS:
        produce(world, "t", value)
    return world


def shortcut_of(client: Client) -> FetchShortcut:
    shortcut = client.connection._shortcut
    assert isinstance(shortcut, FetchShortcut)
    return shortcut


def is_taken(client: Client, data: bytes) -> bool:
    """Returns whether the shortcut of a client answers a request."""
    return shortcut_of(client).answer(memoryview(data), 4, len(data) - 4, False) is not None


@pytest.mark.parametrize("isolation_level", [0, 1])
@pytest.mark.parametrize("version", [version for version in VERSIONS if version >= fetch_shortcut.SINCE])
@pytest.mark.parametrize("learned_at", [0, 2])
def test_shortcut_response_equals_that_of_a_decoded_request(world: World, version: int, isolation_level: int, learned_at: int) -> None:
    client = world.client()
    response(client, request(world, learned_at, version, isolation_level=isolation_level))
    for offset in range(4):
        data = request(world, offset, version, isolation_level=isolation_level)
        assert is_taken(client, data)
        assert response(client, data) == response(world.client(), data)


@given(
    st.integers(0, 3),
    st.integers(61, 40_000),
    st.integers(61, 40_000),
    st.sampled_from([1, 100, 30_000]),
    st.sampled_from([6, 11, 12, 16]),
)
def test_shortcut_obeys_every_limit(offset: int, max_bytes: int, partition_max_bytes: int, min_bytes: int, version: int) -> None:
    world = World(1, {"fetch.max.bytes": "26000"})
    world.cluster.topics.create("t", 1)
    for value in RECORDS:
        produce(world, "t", value)
    options: dict[str, Any] = {"max_bytes": max_bytes, "partition_max_bytes": partition_max_bytes, "min_bytes": min_bytes, "max_wait_ms": 0}
    client = world.client()
    response(client, request(world, 2, version, **options))
    data = request(world, offset, version, **options)
    assert response(client, data) == response(world.client(), data)


def test_shortcut_returns_new_records_and_offsets(world: World) -> None:
    client = world.client()
    response(client, request(world, 0))
    produce(world, "t", b"fifth")
    world.cluster.topics["t"].partitions[0].delete_before(1)
    for offset in (1, 4):
        data = request(world, offset)
        assert is_taken(client, data)
        assert response(client, data) == response(world.client(), data)


@pytest.mark.parametrize(
    "other",
    [
        {"offset": 5},
        {"offset": -1},
        {"offset": 1, "partition": 1},
        {"offset": 1, "client_id": "tesu"},
        {"offset": 1, "version": 13},
        {"offset": 1, "isolation_level": 1},
        {"offset": 1, "partition_max_bytes": 100},
        {"offset": 1, "current_leader_epoch": 5},
        {"offset": 1, "session_id": 5, "session_epoch": 1},
        {"offset": 1, "rack_id": "a"},
    ],
    ids=str,
)
def test_shortcut_leaves_other_requests_to_decoding(world: World, other: dict[str, Any]) -> None:
    client = world.client()
    response(client, request(world, 0))
    data = request(world, **{"max_wait_ms": 500, **other})
    assert not is_taken(client, data)
    assert response(client, data) == response(world.client(), data)


def no_longer_led(world: World) -> None:
    world.cluster.topics["t"].partitions[0].leader = -1


def new_epoch(world: World) -> None:
    world.cluster.topics["t"].partitions[0].leader_epoch += 1


def created_again(world: World) -> None:
    world.cluster.delete_topic(world.cluster.topics["t"])
    world.cluster.topics.create("t", 1)


@pytest.mark.parametrize("change", [no_longer_led, new_epoch, created_again])
def test_shortcut_ends_when_the_partition_changes(world: World, change: Callable[[World], None]) -> None:
    client = world.client()
    response(client, request(world, 0, max_wait_ms=0))
    change(world)
    data = request(world, 0, max_wait_ms=0)
    assert not is_taken(client, data)
    assert response(client, data) == response(world.client(), data)


def test_template_is_replaced_after_the_partition_has_changed(world: World) -> None:
    client = world.client()
    response(client, request(world, 0))
    created_again(world)
    produce(world, "t", b"new")
    assert not is_taken(client, request(world, 0))
    response(client, request(world, 0))
    assert is_taken(client, request(world, 0))
    assert b"new" in response(client, request(world, 0))


def test_shortcut_leaves_aborted_transactions_to_decoding() -> None:
    world = World()
    world.cluster.topics.create("t", 1)
    produce(world, "t", b"a")
    leader = world.cluster.topics["t"].partitions[0].leader
    client = world.client(leader)
    response(client, request(world, 0, isolation_level=1))
    producer = Producer(world)
    producer.write(b"x")
    assert is_taken(client, request(world, 0, isolation_level=1)), "the transaction is open"
    producer.end(commit=False)
    data = request(world, 0, isolation_level=1)
    assert not is_taken(client, data)
    assert response(client, data) == response(world.client(leader), data)


@pytest.mark.parametrize(
    ("version", "options"),
    [
        (4, {}),
        (12, {"session_epoch": 0}),
        (12, {"last_fetched_epoch": 0}),
        (12, {"replica_id": 1}),
        (15, {"replica_state": ReplicaState(replica_id=1)}),
        (12, {"max_bytes": -1}),
        (12, {"current_leader_epoch": 5}),
    ],
    ids=str,
)
def test_shortcut_is_not_learned_from_unusual_requests(world: World, version: int, options: dict[str, Any]) -> None:
    client = world.client()
    response(client, request(world, 0, version, **options))
    assert client.connection._shortcut is None


def test_shortcut_is_not_learned_with_racks_or_authorizer() -> None:
    racks = {"broker.rack": "a", "replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}
    access = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer", "super.users": "User:ANONYMOUS"}
    for settings in (racks, access):
        world = World(1, settings)
        world.cluster.topics.create("t", 1)
        produce(world, "t", b"a")
        client = world.client()
        assert b"a" in response(client, request(world, 0, rack_id="b"))
        assert not isinstance(client.connection._shortcut, FetchShortcut)


def test_shortcut_is_not_learned_from_large_requests(world: World) -> None:
    room = fetch_shortcut.MAX_FRAME_BYTES + 4 - len(request(world, 0, client_id=""))
    for excess, learns in ((1, False), (0, True)):
        client = world.client()
        response(client, request(world, 0, client_id="c" * (room + excess)))
        assert isinstance(client.connection._shortcut, FetchShortcut) is learns


def test_shortcut_of_produce_is_not_replaced(world: World) -> None:
    client = world.leader_of("t")
    client.call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    shortcut = client.connection._shortcut
    response(client, request(world, 0))
    assert client.connection._shortcut is shortcut is not None


def test_template_is_learned_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    client = world.client()
    response(client, request(world, 0))
    monkeypatch.setattr(fetch_shortcut, "FetchTemplate", None)
    monkeypatch.setattr(FetchShortcut, "answer", lambda *_: None)
    assert b"first" in response(client, request(world, 0))


def test_offset_bytes_that_occur_elsewhere_are_told_apart(world: World) -> None:
    """The client id contains the eight bytes of the offset too."""
    produce(world, "t", b"fifth")
    client_id, client = "\0\0\0\0\0\0\0\4", world.client()
    response(client, request(world, 4, client_id=client_id, min_bytes=0))
    data = request(world, 0, client_id=client_id, min_bytes=0)
    assert is_taken(client, data)
    assert response(client, data) == response(world.client(), data)


def test_offset_hidden_among_too_many_candidates_is_not_learned(world: World) -> None:
    client = world.client()
    response(client, request(world, 0, client_id="\0" * 40))
    assert client.connection._shortcut is None
    response(client, request(world, 3, client_id="\0" * 40))
    assert is_taken(client, request(world, 0, client_id="\0" * 40))


def test_offset_position_of_malformed_copies_is_refused(world: World) -> None:
    """The offset's bytes are also the number of topics, the length of a name, the name and a part of the number of partitions."""
    data = memoryview(request(world, 0x0000_0001_0001_7400, 11))[4:]
    wanted = FETCH.request.decoders[11](data, 14)[0]
    client = world.client().connection
    position = fetch_shortcut._offset_position(wanted, Context(11, client.client, world.cluster, client.broker, data, False, None))
    assert position is not None
    assert bytes(data).find(bytes(data[position : position + 8])) < position


def test_templates_are_limited_in_number(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetch_shortcut, "MAX_TEMPLATES", 2)
    client = world.client()
    for number in range(3):
        response(client, request(world, 0, client_id=f"client {number}"))
    assert [is_taken(client, request(world, 1, client_id=f"client {number}")) for number in range(3)] == [False, False, True]
