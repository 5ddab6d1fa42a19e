"""Damaged batches and frames."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.batches.records import HEADER, RecordBatch, batches
from odradek.protocol.messages.api_versions import API_VERSIONS
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from tests.broker.harness import ASK, World, fetch_request, produce


@pytest.fixture
def world() -> World:
    return World(nodes=1).with_topic("t", 2)


def fetched(world: World) -> bytes:
    (data,) = world.client().call(FETCH, 11, fetch_request("t", max_wait_ms=0)).responses[0].partitions
    return bytes(data.records)


def differences(one: bytes, other: bytes) -> dict[int, int]:
    """Returns the differing bits by position."""
    return {position: a ^ b for position, (a, b) in enumerate(zip(one, other, strict=True)) if a != b}


def test_crc_differs_and_the_log_does_not(world: World) -> None:
    produce(world, "t", b"one")
    stored = fetched(world)
    world.fault(corrupt="crc", times=1)
    assert list(differences(stored, fetched(world))) == [17]
    assert fetched(world) == stored


def test_bit_differs_in_the_records(world: World) -> None:
    produce(world, "t", b"one")
    stored = fetched(world)
    world.fault(corrupt="bit")
    for _ in range(20):
        ((position, bits),) = differences(stored, fetched(world)).items()
        assert position >= HEADER.size
        assert bits.bit_count() == 1


def test_truncated_batch_is_incomplete(world: World) -> None:
    produce(world, "t", b"one" * 100)
    stored = fetched(world)
    world.fault(corrupt="truncate")
    damaged = fetched(world)
    assert stored.startswith(damaged)
    assert len(damaged) > HEADER.size
    assert list(batches(damaged)) == []


def test_corruption_hits_only_the_selected_partition(world: World) -> None:
    for partition in (0, 1):
        produce(world, "t", b"one", partition=partition)
    world.fault(api="Fetch", topic="t", partitions=1, corrupt="crc")
    wanted = [FetchPartition(partition=index, fetch_offset=0, partition_max_bytes=1 << 20) for index in (0, 1)]
    request = FetchRequest(max_wait_ms=0, min_bytes=1, topics=[FetchTopic(topic="t", partitions=wanted)])
    sound = [is_sound(data.records) for data in world.client().call(FETCH, 11, request).responses[0].partitions]
    assert sound == [True, False]


def is_sound(records: Any) -> bool:
    return RecordBatch(memoryview(bytes(records))).crc_valid()


def test_empty_fetch_is_no_hit_of_corruption(world: World) -> None:
    fault = world.fault(corrupt="crc", times=1)
    assert fetched(world) == b""
    assert fault.hits == 0
    produce(world, "t", b"one")
    assert not is_sound(fetched(world))
    assert is_sound(fetched(world))
    assert (fault.hits, [exchange.topics for exchange in fault.exchanges]) == (1, [("t",)])


@pytest.mark.parametrize(("kind", "position"), [("length", 0), ("correlation_id", 4)])
def test_frame_differs_in_one_byte(world: World, kind: str, position: int) -> None:
    client, other = world.client(), world.client()
    other.send(API_VERSIONS, 3, ASK)
    world.fault(api="ApiVersions", corrupt=kind)
    client.send(API_VERSIONS, 3, ASK)
    assert list(differences(bytes(other.sent), bytes(client.sent))) == [position]
    assert (int.from_bytes(client.sent[:4], "big", signed=True) < 0) is (kind == "length")
