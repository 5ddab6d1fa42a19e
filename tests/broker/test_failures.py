"""Bugs in odradek close one connection, log one entry and release all resources. The errors are injected in process."""

from __future__ import annotations

import errno
import logging
from collections.abc import Generator, Iterator
from typing import Any, NoReturn

import pytest

from odradek.broker.api.context import Context
from odradek.broker.scheduling.waiting import NEXT_TURN, Wait
from odradek.broker.short_repr import MAX_CHARACTERS
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from odradek.protocol.messages.produce import PRODUCE
from odradek.storage import blocks
from tests.broker.harness import ASK, Client, World, a_batch, produce, produce_request
from tests.broker.replaced_handlers import replaced

BEAT = HeartbeatRequest(group_id="g", generation_id=1, member_id="m")
REQUEST_MEMORY = 200_000


class Bug(Exception):
    pass


def fail(*_: object) -> NoReturn:
    raise Bug("a bug of ours")


@pytest.fixture
def world() -> World:
    return World(nodes=1, settings={"queued.max.request.bytes": str(REQUEST_MEMORY)}).with_topic("t", 1)


@pytest.fixture(autouse=True)
def others_are_served(world: World) -> Iterator[None]:
    """Checks that another connection still works and that the closed ones have released their resources."""
    canary = world.client()
    canary.call(API_VERSIONS, 3, ASK)
    yield
    assert canary.closed is None
    assert canary.call(API_VERSIONS, 3, ASK).error_code == 0
    assert not world.turns._waiting
    assert not world.turns.woken
    assert not world.turns.has_more
    assert world.cluster.brokers[1].request_memory.used_bytes == 0


def entries(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [
        entry.getMessage() for entry in caplog.records if entry.levelno >= logging.INFO and not entry.name.startswith("kafka.controller")
    ]


def is_one_failure(caplog: pytest.LogCaptureFixture, doing: str) -> bool:
    (text,) = entries(caplog)
    traces = [entry.exc_info for entry in caplog.records if entry.exc_info]
    return f"an internal error while {doing}" in text and len(traces) == 1


def beat(client: Client) -> None:
    client.send(HEARTBEAT, 0, BEAT)


def test_failing_waiter_closes_only_its_connection(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """The producer that woke the waiter gets its response, and so do the other waiters."""

    def broken(request: Any, context: Context) -> Generator[Wait, None, None]:
        yield Wait((world.cluster.topics["t"].partitions[0],))
        fail()

    victim, reader = world.client(), world.client()
    with replaced(HEARTBEAT.key, broken), caplog.at_level(logging.INFO):
        beat(victim)
        wait_for_records(reader)
        assert produce(world, "t", b"x") == 0
    assert victim.closed == "an internal error"
    assert reader.receive().responses[0].partitions[0].high_watermark == 1
    assert is_one_failure(caplog, "serving Heartbeat v0: HeartbeatRequest(group_id='g'")


def wait_for_records(client: Client, *partitions: int, topic: str = "t") -> None:
    wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in partitions or (0,)]
    client.send(FETCH, 11, FetchRequest(max_wait_ms=500, min_bytes=1, topics=[FetchTopic(topic=topic, partitions=wanted)]))


def test_fetch_listing_a_partition_twice_waits(world: World) -> None:
    reader = world.client()
    wait_for_records(reader, 0, 0)
    writer = world.client()
    response = writer.call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    assert response.responses[0].partition_responses[0].error_code == 0
    assert writer.closed is None
    assert [partition.high_watermark for partition in reader.receive().responses[0].partitions] == [1]
    wait_for_records(reader, 0, 0)
    assert reader.receive() is not None  # the fetch had records
    timers = len(world.timers)
    world.cluster.topics.create("u", 1)
    wait_for_records(reader, 0, 0, topic="u")
    world.advance(500)
    assert reader.receive() is not None
    assert len(world.timers) == timers


@pytest.mark.parametrize("wait", [None, Wait(([],)), Wait(None)])  # type: ignore[arg-type]
def test_invalid_wait_closes_only_its_connection(world: World, wait: Any, caplog: pytest.LogCaptureFixture) -> None:
    closed: list[bool] = []

    def broken(request: Any, context: Context) -> Generator[Any, None, None]:
        try:
            yield wait
        finally:
            closed.append(True)

    client = world.client()
    with replaced(HEARTBEAT.key, broken), caplog.at_level(logging.INFO):
        beat(client)
    assert client.closed
    assert closed == [True]
    assert is_one_failure(caplog, "serving Heartbeat")


def test_response_encoding_error_closes_only_its_connection(world: World, caplog: pytest.LogCaptureFixture) -> None:
    client = world.client()
    with replaced(HEARTBEAT.key, lambda request, context: HeartbeatResponse(error_code=1 << 40)), caplog.at_level(logging.INFO):
        beat(client)
    assert client.closed
    assert is_one_failure(caplog, "serving Heartbeat")


def test_failing_error_response_closes_only_its_connection(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.client()
    monkeypatch.setattr("odradek.broker.api.failure._mirror", fail)

    def refuse(request: Any, context: Context) -> NoReturn:
        raise KafkaError(ErrorCode.INVALID_REQUEST)

    with replaced(HEARTBEAT.key, refuse), caplog.at_level(logging.INFO):
        beat(client)
    assert client.closed
    assert is_one_failure(caplog, "serving Heartbeat")


def test_failing_shortcut_closes_only_its_connection(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.client()
    client.call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    monkeypatch.setattr(client.connection, "_shortcut", type("Broken", (), {"answer": fail})())
    with caplog.at_level(logging.INFO):
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    assert client.closed
    assert is_one_failure(caplog, "serving its requests")


def test_failing_held_request_closes_only_its_connection(world: World, caplog: pytest.LogCaptureFixture) -> None:
    client = world.client()
    client.call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    wait_for_records(client)
    client.receive()
    client.connection.writable = False
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    client.connection._shortcut = type("Broken", (), {"answer": fail})()
    with caplog.at_level(logging.INFO):
        client.connection.writable = True
        client.connection.flushed()
        world.end_turn()
    assert client.closed
    assert is_one_failure(caplog, "serving requests that were held back")


def test_failing_cleanup_does_not_prevent_others(world: World, caplog: pytest.LogCaptureFixture) -> None:
    def broken(request: Any, context: Context) -> Generator[Wait, None, None]:
        try:
            yield Wait(("never",), context.now_ms + 1000)
        finally:
            fail()

    timers = len(world.timers)
    client = world.client()
    with replaced(HEARTBEAT.key, broken), caplog.at_level(logging.INFO):
        beat(client)
        client.connection.lost("gone")
    assert len(world.timers) == timers
    assert is_one_failure(caplog, "withdrawing a request that waited")


def test_failing_write_aborts_only_its_connection(world: World, caplog: pytest.LogCaptureFixture) -> None:
    victim, other = world.client(), world.client()
    wait_for_records(victim)
    wait_for_records(other)
    victim.connection.on_output = fail
    with caplog.at_level(logging.INFO):
        produce(world, "t", b"x")
    assert victim.aborted
    assert victim.closed
    assert other.receive().responses[0].partitions[0].high_watermark == 1
    assert is_one_failure(caplog, "writing its answers")


def test_failing_timer_does_not_prevent_others(world: World, caplog: pytest.LogCaptureFixture) -> None:
    fired: list[str] = []
    world.timers.set("before", 10, lambda: fired.append("before"))
    world.timers.set(("broken", "x" * 10_000), 10, fail)
    world.timers.set("after", 10, lambda: fired.append("after"))
    reader = world.client()
    wait_for_records(reader)
    with caplog.at_level(logging.INFO):
        world.advance(500)
    assert fired == ["before", "after"]
    assert reader.receive() is not None
    (entry,) = [entry for entry in caplog.records if entry.exc_info]
    assert "the action of timer ('broken', 'xxx" in entry.getMessage()
    assert len(entry.getMessage()) < MAX_CHARACTERS + 100


def test_request_memory_is_released_after_a_failure(world: World, caplog: pytest.LogCaptureFixture) -> None:
    request = b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("t", a_batch(bytes(REQUEST_MEMORY)))))
    victim, waiting = world.client(), world.client()
    with replaced(PRODUCE.key, fail), caplog.at_level(logging.INFO):
        victim.feed(request[:1000])
        waiting.feed(request[:1000])
        assert not waiting.wants_data()
        victim.feed(request[1000:])
    assert victim.closed
    assert is_one_failure(caplog, "serving Produce v9")
    assert waiting.wants_data()
    waiting.feed(request[1000:])
    waiting._asked.append((PRODUCE, 9))
    assert waiting.receive().responses[0].partition_responses[0].error_code == 0


def test_failing_sliced_handler_releases_its_resources(world: World, caplog: pytest.LogCaptureFixture) -> None:
    def broken(request: Any, context: Context) -> Generator[Wait, None, None]:
        yield NEXT_TURN
        fail()

    client = world.client()
    with replaced(HEARTBEAT.key, broken), caplog.at_level(logging.INFO):
        beat(client)
    assert client.closed
    assert is_one_failure(caplog, "serving Heartbeat")


# Allocation failures


class NoMemory(blocks.Block):
    def __new__(cls, *_: object, **__: object) -> NoReturn:
        raise OSError(errno.ENOMEM, "Cannot allocate memory")


def test_request_without_memory_closes_its_connection(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.client()
    with caplog.at_level(logging.INFO), monkeypatch.context() as patch:
        patch.setattr(blocks, "Block", NoMemory)
        client.feed((100_000_000).to_bytes(4) + bytes(1000))
    assert client.closed
    (entry,) = [entry for entry in caplog.records if entry.name == "kafka.network.SocketServer"]
    assert entry.levelno == logging.ERROR
    assert "no memory for a request of 100000004 bytes: cannot map 100663296 bytes: Cannot allocate memory" in entry.getMessage()


def test_log_without_memory_closes_the_producers_connection(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    client = world.client()
    with caplog.at_level(logging.INFO), monkeypatch.context() as patch:
        patch.setattr(blocks, "Block", NoMemory)
        client.send(PRODUCE, 9, produce_request("t", a_batch(b"x")))
    assert client.closed
    assert is_one_failure(caplog, "serving Produce v9")
    assert "cannot map" in caplog.text
    assert produce(world, "t", b"x") == 0
