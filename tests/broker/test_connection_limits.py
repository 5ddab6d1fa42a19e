"""Limits of connections at work: connections.max.idle.ms, message.max.bytes and queued.max.request.bytes."""

from __future__ import annotations

import gc
import logging

import pytest

from odradek.broker.connections.large_frame import LARGE_FRAME_BYTES
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import ASK, Client, World, a_batch, produce, produce_request

IDLE = {"connections.max.idle.ms": "1000"}


def world_of(settings: dict[str, str]) -> World:
    world = World(nodes=1, settings=settings)
    world.cluster.topics.create("t", 1)
    return world


def fetch_request(max_wait_ms: int) -> FetchRequest:
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])])


def is_open(client: Client) -> bool:
    return client.closed is None


# connections.max.idle.ms


def test_idle_connection_is_closed(caplog: pytest.LogCaptureFixture) -> None:
    world = world_of(IDLE)
    client = world.client()
    client.call(API_VERSIONS, 3, ASK)
    world.advance(999)
    assert is_open(client)
    with caplog.at_level(logging.INFO):
        world.advance(1)
    assert client.closed == "idle for 1000 ms, connections.max.idle.ms is 1000"
    assert "[KafkaServer id=1] closing the connection of 127.0.0.1:50000 on PLAINTEXT, client id 'test': idle for" in caplog.text
    assert world.client().call(API_VERSIONS, 3, ASK).error_code == 0


def test_connection_with_occasional_requests_stays_open() -> None:
    world = world_of(IDLE)
    client = world.client()
    for _ in range(10):
        world.advance(900)
        client.call(API_VERSIONS, 3, ASK)
    world.advance(999)
    assert client.closed is None


def test_idle_connection_with_partial_request_is_closed() -> None:
    world = world_of(IDLE)
    small, large = world.client(), world.client()
    request = b"".join(encode_request(API_VERSIONS, 3, 1, "test", ASK))
    small.feed(request[:5])
    large.feed((1_000_000).to_bytes(4, "big") + bytes(1000))
    world.advance(600)
    small.feed(request[5:8])
    world.advance(999)
    assert (small.closed, large.closed is None) == (None, False)
    world.advance(1)
    assert small.closed


def test_idle_connection_with_waiting_request_is_closed() -> None:
    world = world_of(IDLE)
    client = world.client()
    client.send(FETCH, 11, fetch_request(5000))
    world.advance(1000)
    assert client.closed
    assert client.receive() is None
    produce(world, "t", b"x")
    assert client.sent == b""
    assert not world.turns._waiting


def test_idle_time_restarts_with_a_response() -> None:
    world = world_of(IDLE)
    client = world.client()
    client.send(FETCH, 11, fetch_request(600))
    world.advance(600)
    assert client.receive() is not None
    world.advance(999)
    assert client.closed is None
    world.advance(1)
    assert client.closed


def test_idle_time_negative_or_lost_connection_sets_no_timer() -> None:
    world = world_of({"connections.max.idle.ms": "-1"})
    timers = len(world.timers)
    client = world.client()
    assert len(world.timers) == timers
    world.advance(1 << 30)
    assert client.closed is None
    world = world_of(IDLE)
    timers = len(world.timers)
    lost: Client | None = world.client()
    assert lost is not None
    assert len(world.timers) == timers + 1
    lost.connection.lost("gone")
    assert len(world.timers) == timers
    lost = None
    gc.collect()
    assert not [thing for thing in gc.get_objects() if isinstance(thing, Client) and thing.connection.core is world.core]


# Sizes


def test_produce_acks_0_too_large_closes_the_connection() -> None:
    world = world_of({"message.max.bytes": "100"})
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(bytes(200)), acks=0))
    assert client.closed == f"Produce with acks=0 failed with {ErrorCode.MESSAGE_TOO_LARGE.name}: message.max.bytes is 100"
    assert client.sent == b""


def test_produce_limit_of_topic_overrides_the_broker() -> None:
    world = world_of({"message.max.bytes": "100"})
    world.cluster.topics.create("large", 1, configs={"max.message.bytes": "1000"})
    codes = [
        world.client().call(PRODUCE, 9, produce_request(topic, a_batch(bytes(200)))).responses[0].partition_responses[0].error_code
        for topic in ("t", "large")
    ]
    assert codes == [ErrorCode.MESSAGE_TOO_LARGE, 0]


# queued.max.request.bytes


def large_request() -> bytes:
    return b"".join(encode_request(PRODUCE, 9, 1, "test", produce_request("t", a_batch(bytes(LARGE_FRAME_BYTES)))))


def answers(client: Client) -> int:
    """Returns the number of complete answers."""
    count = position = 0
    while position < len(client.sent):
        position += 4 + int.from_bytes(client.sent[position : position + 4], "big")
        count += 1
    return count


def test_large_requests_wait_for_memory() -> None:
    world = world_of({"queued.max.request.bytes": "200000"})
    first, second, third, small = (world.client() for _ in range(4))
    request = large_request()
    first.feed(request[:100])
    second.feed(request[:100])  # exceeds the limit, but only once
    third.feed(request[:100])
    assert [client.connection.wants_data for client in (first, second, third)] == [True, True, False]
    assert small.call(API_VERSIONS, 3, ASK).error_code == 0
    first.feed(request[100:])
    assert answers(first) == 1
    assert third.connection.wants_data
    third.feed(request[100:])
    second.feed(request[100:])
    assert (answers(second), answers(third)) == (1, 1)
    assert world.cluster.brokers[1].request_memory.used_bytes == 0


def test_memory_of_lost_connections_is_released() -> None:
    world = world_of({"queued.max.request.bytes": "1000"})
    first, second, third = (world.client() for _ in range(3))
    request = large_request()
    for client in (first, second, third):
        client.feed(request[:100])
    assert not second.connection.wants_data
    second.connection.lost("gone")
    first.connection.lost("gone")
    world.end_turn()
    assert third.connection.wants_data
    third.feed(request[100:])
    assert answers(third) == 1
