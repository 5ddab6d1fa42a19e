"""Retention and compaction as clients see them, by the timers of a broker."""

from __future__ import annotations

import logging

import pytest

from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.record_builder import build_batch
from odradek.protocol.records import Record
from tests.broker.harness import START_MS, World, produce, produce_request

CHECK_MS = 1000
SETTINGS = {
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": str(CHECK_MS),
    "log.cleaner.backoff.ms": "700",
}


def world_of(settings: dict[str, str] | None = None, **configs: str) -> World:
    world = World(nodes=1, settings=SETTINGS | (settings or {}))
    world.cluster.create_topic("t", 1, configs={name.replace("_", "."): text for name, text in configs.items()})
    return world


def start_of(world: World) -> int:
    return world.cluster.topics["t"].partitions[0].log.start_offset


def put(world: World, timestamp: int = START_MS, key: bytes = b"k", size: int = 100) -> int:
    """Appends a record and returns its offset."""
    batch = bytes(build_batch([Record(0, timestamp, key, bytes(size), [])]))
    (answer,) = world.client().call(PRODUCE, 9, produce_request("t", batch)).responses[0].partition_responses
    return int(answer.base_offset)


def test_records_go_when_they_are_too_old() -> None:
    world = world_of(retention_ms="5000", segment_ms="2000")
    for age in (0, 1000, 4000):
        put(world, START_MS + age)
    world.advance(5000)
    assert start_of(world) == 0
    world.advance(2000)
    assert start_of(world) == 2
    answer = world.client().call(
        FETCH,
        11,
        FetchRequest(
            max_wait_ms=0,
            min_bytes=1,
            topics=[FetchTopic(topic="t", partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=100)])],
        ),
    )
    assert answer.responses[0].partitions[0].error_code == 1
    world.advance(10_000)
    assert start_of(world) == 3  # all of it, also the newest file
    assert put(world, START_MS + 17_000) == 3


def test_the_first_look_comes_soon_and_the_next_ones_at_their_interval() -> None:
    world = world_of(retention_ms="0")
    put(world, START_MS - 1)
    world.advance(499)
    assert start_of(world) == 0
    world.advance(1)
    assert start_of(world) == 1
    put(world, START_MS)
    world.advance(CHECK_MS - 1)
    assert start_of(world) == 1
    world.advance(1)
    assert start_of(world) == 2


def test_records_go_when_they_are_too_many(caplog: pytest.LogCaptureFixture) -> None:
    world = world_of(retention_bytes="2000", internal_segment_bytes="1000")
    for _ in range(20):
        put(world)
    size = world.cluster.topics["t"].partitions[0].log.size // 20
    with caplog.at_level(logging.INFO):
        world.advance(600)
    per_file = 1000 // size
    assert start_of(world) == (20 * size - 2000) // (per_file * size) * per_file > 0
    assert f"[UnifiedLog partition=t-0] the log starts at {start_of(world)}" in caplog.text


def test_retention_may_be_switched_off() -> None:
    world = world_of(retention_ms="-1")
    put(world, 1000)
    world.advance(100_000)
    assert start_of(world) == 0


def test_a_compacted_topic_does_not_forget() -> None:
    world = world_of(cleanup_policy="compact", retention_ms="0", retention_bytes="0")
    put(world, 1000)
    world.advance(100_000)
    assert start_of(world) == 0


def test_a_waiting_fetch_of_a_log_that_is_emptied_goes_on() -> None:
    world = world_of(retention_ms="0")
    put(world)
    reader = world.client()
    wanted = FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=100)
    reader.send(FETCH, 11, FetchRequest(max_wait_ms=5000, min_bytes=1, topics=[FetchTopic(topic="t", partitions=[wanted])]))
    world.advance(2000)
    assert (start_of(world), reader.receive()) == (1, None)
    produce(world, "t", b"x")
    assert reader.receive().responses[0].partitions[0].high_watermark == 2


def offsets(world: World) -> list[int]:
    log = world.cluster.topics["t"].partitions[0].log
    return [int.from_bytes(view[:8], "big") for view in log.batches(log.start_offset, log.end_offset)]


COMPACT = {"cleanup_policy": "compact", "segment_ms": "1000"}


def test_compaction_comes_by_itself(caplog: pytest.LogCaptureFixture) -> None:
    world = world_of(**COMPACT)
    for _ in range(5):
        put(world)
    world.advance(5000)
    assert offsets(world) == [0, 1, 2, 3, 4]  # all of it is in the active file
    put(world, START_MS + 5000)
    with caplog.at_level(logging.INFO):
        world.advance(700)
    assert offsets(world) == [4, 5]
    assert "compacted t-0 up to offset 5" in caplog.text


def test_only_a_log_that_is_dirty_enough_is_compacted_unless_it_is_asked_for() -> None:
    world = world_of(**COMPACT, min_cleanable_dirty_ratio="0.9")
    put(world, key=b"a")
    put(world, START_MS + 2000, key=b"b")
    world.advance(5000)
    assert world.cluster.topics["t"].partitions[0].cleaned_until == 1
    put(world, START_MS + 4000, key=b"b")
    world.advance(5000)
    assert offsets(world) == [0, 1, 2]
    put(world, START_MS + 6000, key=b"c")
    world.advance(5000)
    assert offsets(world) == [0, 1, 2, 3]  # two thirds are dirty
    world.cluster.log_cleaner.compact(now=True)
    assert offsets(world) == [0, 2, 3]
    world.cluster.log_cleaner.compact(now=True)  # nothing is left to do
    assert offsets(world) == [0, 2, 3]


def test_the_longest_lag_ends_files_and_makes_them_due() -> None:
    world = world_of(cleanup_policy="compact", min_cleanable_dirty_ratio="1", max_compaction_lag_ms="3000")
    put(world)
    put(world, START_MS + 1000)
    put(world, START_MS + 3001)
    world.advance(3500)
    assert offsets(world) == [1, 2]


def test_compact_and_delete() -> None:
    world = world_of(**COMPACT | {"cleanup_policy": "compact,delete"}, retention_ms="100000")
    put(world)
    put(world)
    put(world, START_MS + 5000)
    world.advance(700)
    assert offsets(world) == [1, 2]
    world.advance(100_000)
    assert (offsets(world), start_of(world)) == ([2], 2)


def test_the_cleaner_may_be_switched_off_and_may_have_no_backoff() -> None:
    for settings, left in (({"log.cleaner.enable": "false"}, [0, 1, 2]), ({"log.cleaner.backoff.ms": "0"}, [1, 2])):
        world = world_of(settings, **COMPACT)
        put(world)
        put(world)
        put(world, START_MS + 5000)
        world.advance(1000)
        assert offsets(world) == left


@pytest.mark.parametrize("producer", [{}, {"producer_id": 7, "producer_epoch": 0, "base_sequence": 0}])
def test_records_without_timestamps_are_as_old_as_their_append(producer: dict[str, int]) -> None:
    world = world_of(retention_ms="5000")
    world.advance(3000)
    batch = bytes(build_batch([Record(0, -1, b"k", b"v", [])], **producer))
    world.client().call(PRODUCE, 9, produce_request("t", batch))
    world.advance(5000)
    assert start_of(world) == 0
    world.advance(CHECK_MS)
    assert start_of(world) == 1
