"""Compaction as clients see it: passes by a timer, in slices."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence

import pytest

from odradek.broker.topics import cleaning
from odradek.broker.topics.cleaning import INTERNAL_SEGMENT_BYTES
from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from odradek.storage import log as log_module
from odradek.storage.log import Log
from odradek.storage.segments import Buffer, Segment
from tests.broker.harness import START_MS, World
from tests.broker.topics.aged_records import append, start_of, world_of

SETTINGS = {
    "log.initial.task.delay.ms": "500",
    "log.retention.check.interval.ms": "1000",
    "log.cleaner.backoff.ms": "700",
}


def compacting(settings: dict[str, str] | None = None, /, **configs: str) -> World:
    return world_of(SETTINGS | (settings or {}), configs)


def offsets(world: World) -> list[int]:
    log = world.cluster.topics["t"].partitions[0].log
    return [int.from_bytes(view[:8], "big") for view in log.batches(log.start_offset, log.end_offset)]


COMPACT = {"cleanup_policy": "compact", "segment_ms": "1000"}


def test_pass_by_timer_compacts_closed_segments(caplog: pytest.LogCaptureFixture) -> None:
    world = compacting(**COMPACT)
    for _ in range(5):
        append(world)
    world.advance(5000)
    assert offsets(world) == [0, 1, 2, 3, 4]  # all of it is in the active file
    append(world, START_MS + 5000)
    with caplog.at_level(logging.INFO):
        world.advance(700)
    assert offsets(world) == [4, 5]
    assert "compacted t-0 up to offset 5" in caplog.text


def test_pass_skips_logs_below_the_dirty_ratio() -> None:
    world = compacting(**COMPACT, min_cleanable_dirty_ratio="0.9")
    append(world, key=b"a")
    append(world, START_MS + 2000, key=b"b")
    world.advance(5000)
    assert world.cluster.topics["t"].partitions[0].cleaned_until == 1
    append(world, START_MS + 4000, key=b"b")
    world.advance(5000)
    assert offsets(world) == [0, 1, 2]
    append(world, START_MS + 6000, key=b"c")
    world.advance(5000)
    assert offsets(world) == [0, 1, 2, 3]  # two thirds are dirty
    world.cluster.log_cleaner.compact(now=True)
    assert offsets(world) == [0, 2, 3]
    world.cluster.log_cleaner.compact(now=True)  # the log is clean
    assert offsets(world) == [0, 2, 3]


def test_max_compaction_lag_closes_segments() -> None:
    world = compacting(cleanup_policy="compact", min_cleanable_dirty_ratio="1", max_compaction_lag_ms="3000")
    append(world)
    append(world, START_MS + 1000)
    append(world, START_MS + 3001)
    world.advance(3500)
    assert offsets(world) == [1, 2]


def test_compact_and_delete_does_both() -> None:
    world = compacting(**COMPACT | {"cleanup_policy": "compact,delete"}, retention_ms="100000")
    append(world)
    append(world)
    append(world, START_MS + 5000)
    world.advance(700)
    assert offsets(world) == [1, 2]
    world.advance(100_000)
    assert (offsets(world), start_of(world)) == ([2], 2)


def test_cleaner_disabled_and_cleaner_without_backoff() -> None:
    for settings, left in (({"log.cleaner.enable": "false"}, [0, 1, 2]), ({"log.cleaner.backoff.ms": "0"}, [1, 2])):
        world = compacting(settings, **COMPACT)
        append(world)
        append(world)
        append(world, START_MS + 5000)
        world.advance(1000)
        assert offsets(world) == left


def large_log(records: int) -> World:
    """Returns a stepwise world with a log of `records` batches, of which all but the last two share one key."""
    world = World(nodes=1, settings=SETTINGS, stepwise=True)
    world.cluster.topics.create("t", 1, configs={"cleanup.policy": "compact", "segment.ms": "1000"})
    for _ in range(records - 1):
        append(world)
    append(world, START_MS + 5000, key=b"last")
    return world


def turns_until_idle(world: World) -> int:
    turns = 0
    while world.core.turns.has_more:
        world.turn()
        turns += 1
    return turns


def test_pass_over_large_log_takes_several_turns() -> None:
    world = large_log(1000)
    world.advance(700)
    assert len(offsets(world)) == 1000, "readers see the old log until the pass has ended"
    assert append(world, START_MS + 5000, key=b"new") == 1000, "appends are possible meanwhile"
    assert turns_until_idle(world) > 2
    assert offsets(world) == [998, 999, 1000]


def test_pass_under_way_is_not_started_twice() -> None:
    world = large_log(1000)
    world.advance(700)
    world.advance(700)
    assert turns_until_idle(world) < 10
    assert offsets(world) == [998, 999]
    append(world, START_MS + 6500, key=b"last")
    append(world, START_MS + 8000, key=b"new")
    world.advance(700)
    turns_until_idle(world)
    assert offsets(world) == [998, 1000, 1001], "later passes take place"


@pytest.mark.parametrize("change", ["delete-records", "truncate", "compact", "delete-topic"])
@pytest.mark.parametrize("turns", [0, 3])
def test_pass_over_log_changed_underneath_is_discarded(change: str, turns: int) -> None:
    world = large_log(1000)
    world.advance(700)
    for _ in range(turns):
        world.turn()
    assert world.core.turns.has_more
    topic = world.cluster.topics["t"]
    partition = topic.partitions[0]
    match change:
        case "delete-records":
            partition.delete_before(500)
        case "truncate":
            partition.truncate_to(500)
        case "compact":
            world.cluster.log_cleaner.compact(now=True)
        case "delete-topic":
            world.cluster.delete_topic(topic)
    log = partition.log
    left = [bytes(view) for view in log.batches(log.start_offset, log.end_offset)]
    turns_until_idle(world)
    assert [bytes(view) for view in log.batches(log.start_offset, log.end_offset)] == left
    if change == "delete-records":
        world.advance(700)
        turns_until_idle(world)
        assert offsets(world) == [998, 999], "the next pass starts over"


@pytest.fixture
def copied(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The sizes of the arenas that compaction has filled; an arena of 1000 bytes fills a slice."""
    sizes: list[int] = []
    packed = Log.packed

    def noted(log: Log, batches: Sequence[Buffer]) -> Iterator[Segment]:
        for segment in packed(log, batches):
            sizes.append(segment.end)
            yield segment

    monkeypatch.setattr(Log, "packed", noted)
    monkeypatch.setattr(log_module, "PACKED_BYTES", 1000)
    monkeypatch.setattr(cleaning, "COPIED_BYTES", 1)
    return sizes


def log_of_keys(records: int) -> World:
    """Returns a stepwise world with a log in which every second record has the key of the one before it."""
    world = World(nodes=1, settings=SETTINGS, stepwise=True)
    world.cluster.topics.create("t", 1, configs={"cleanup.policy": "compact", "segment.ms": "1000"})
    for number in range(records):
        append(world, key=b"%d" % (number // 2))
    append(world, START_MS + 5000, key=b"last")
    return world


def test_each_turn_copies_one_arena(copied: list[int]) -> None:
    world = log_of_keys(300)
    world.advance(700)
    while world.core.turns.has_more:
        before = len(copied)
        world.turn()
        assert len(copied) <= before + 1
    assert len(copied) > 10
    assert max(copied) <= 1000
    assert offsets(world) == [*range(1, 300, 2), 300]


def test_copies_of_a_truncated_log_are_discarded(copied: list[int]) -> None:
    world = log_of_keys(300)
    world.advance(700)
    while len(copied) < 5:
        world.turn()
    world.cluster.topics["t"].partitions[0].truncate_to(100)
    turns_until_idle(world)
    assert len(copied) == 5
    assert offsets(world) == [*range(100)]


def values_by_key(world: World, topic: str) -> dict[bytes | None, bytes | None]:
    """Returns the last value of each key in the log of an internal topic."""
    (partition,) = world.cluster.topics[topic].partitions
    batches = map(RecordBatch, partition.log.batches(partition.log.start_offset, partition.log.end_offset))
    return {record.key: record.value for batch in batches for record in batch.records()}


@pytest.mark.parametrize("topic", ["__consumer_offsets", "__transaction_state"])
def test_internal_log_grows_with_what_is_live(topic: str) -> None:
    world = World(nodes=1, settings={"offsets.topic.num.partitions": "1", "transaction.state.log.num.partitions": "1"})
    world.cluster.topics.ensure_internal(topic)
    (partition,) = world.cluster.topics[topic].partitions
    expected: dict[bytes | None, bytes | None] = {}
    for number in range(20_000):
        key, value = b"key%d" % (number % 100), b"%100d" % number
        world.cluster.coordinator_log.append("g", topic, [CoordinatorRecord(key, value)])
        expected[key] = value
        if number % 1000 == 0:
            world.advance(15_000)
    world.advance(15_000)
    assert values_by_key(world, topic) == expected
    assert partition.log.size < 3 * INTERNAL_SEGMENT_BYTES
    assert world.cluster.topics[topic].config.integers["segment.bytes"] == 100 * 1024 * 1024
