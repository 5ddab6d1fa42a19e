"""The files of compacted logs: they are written in slices, and a crash in between loses nothing."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from odradek.broker.durability import shadow as shadow_module
from odradek.broker.transactions.transaction import Marker, Producer
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from odradek.storage.directories import segment_replacement
from odradek.storage.directories.stored_log import read_log
from odradek.storage.shadowed_log import ShadowedLog

from .kept_cluster import NOW_MS, KeptCluster, values

SLICE_BYTES, BATCH_BYTES = 100_000, 9_000
BATCHES = 300


@pytest.fixture
def stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> KeptCluster:
    """A log with segments of 1 MiB, in which every second batch has the same key as the one before it."""
    monkeypatch.setattr(segment_replacement, "SLICE_BYTES", SLICE_BYTES)
    kept = KeptCluster(tmp_path / "data")
    configs = {"cleanup.policy": "compact", "segment.bytes": str(1 << 20), "min.cleanable.dirty.ratio": "0"}
    kept.cluster.topics.create("t", 1, 1, configs=configs)
    for number in range(BATCHES):
        kept.append("." * (BATCH_BYTES - 100) + str(number), key=b"%d" % (number // 2))
    kept.shadow.sync()
    return kept


def folder(stored: KeptCluster) -> Path:
    return stored.directory.path / "t-0"


def sizes(stored: KeptCluster) -> list[int]:
    return [path.stat().st_size for path in sorted(folder(stored).glob("*.log"))]


def compact(stored: KeptCluster) -> None:
    stored.cluster.log_cleaner.compact(now=True)
    assert stored.shadow.sync()


def test_each_turn_writes_one_slice(stored: KeptCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests are served between two slices, and their batches are in the files at the end of their turn."""
    written: list[int] = []
    monkeypatch.setattr(os, "fdatasync", lambda descriptor: written.append(os.fstat(descriptor).st_size))
    before = sizes(stored)
    compact(stored)
    assert sizes(stored) == before, "nothing is written in the turn of the compaction"
    turns = 0
    while stored.turns.has_more:
        written.clear()
        stored.turns.next_turn()
        assert len(written) <= 1, "more than one slice in a turn"
        turns += 1
        stored.append(f"meanwhile {turns}")
        assert stored.shadow.sync()
    closed = sum(sizes(stored)[:-1])
    assert turns > closed // SLICE_BYTES >= 10
    assert [1.8 < old / new < 2.2 for old, new in zip(before[:-1], sizes(stored)[:-1], strict=True)] == [True] * (len(before) - 1)
    expected = values(stored.partition())
    stored.kill()
    again = KeptCluster(stored.directory.path)
    assert values(again.partition()) == expected
    assert expected[-1][1] == f"meanwhile {turns}"


def test_indexes_of_compacted_segments_find_every_offset(stored: KeptCluster) -> None:
    compact(stored)
    stored.work()
    found, plain = read_log(folder(stored), None, None), stored.partition().log
    log = ShadowedLog(stored.shadow._changes)
    log.load(found.segments, 0, found.end_offset, found.epochs)
    assert found.segments[0]._offsets, "there is an index"
    for offset in range(BATCHES):
        assert bytes(log.read(offset, 1, BATCHES, at_least_one=True)[0]) == bytes(plain.read(offset, 1, BATCHES, at_least_one=True)[0])


@pytest.mark.parametrize("steps", [0, 1, 7, 13, 19])
def test_kill_while_segments_are_written_loses_nothing(stored: KeptCluster, steps: int) -> None:
    before = values(stored.partition())
    compact(stored)
    for _ in range(steps):
        stored.turns.next_turn()
    after = values(stored.partition())
    stored.kill()
    again = KeptCluster(stored.directory.path)
    found = values(again.partition())
    assert set(after) <= set(found) <= set(before)
    assert not [path for path in folder(again).iterdir() if path.suffix in (".cleaned", ".deleted")]
    again.cluster.log_cleaner.compact(now=True)
    again.shadow.sync()
    again.work()
    assert values(again.partition()) == after


def test_orderly_stop_writes_what_is_left(stored: KeptCluster) -> None:
    compact(stored)
    expected = values(stored.partition())
    stored.turns.next_turn()
    stored.stop()
    assert values(KeptCluster(stored.directory.path).partition()) == expected
    assert {path.suffix for path in folder(stored).iterdir()} == {".log", ".index", ".timeindex", ".snapshot", ".metadata", ""}


def test_deleted_topic_and_a_stop_end_the_work(stored: KeptCluster) -> None:
    compact(stored)
    stored.turns.next_turn()
    stored.cluster.delete_topic(stored.cluster.topics["t"])
    stored.shadow.sync()
    stored.work()
    assert stored.shadow._compaction is None
    stored.cluster.topics.create("t", 1, 1)
    stored.append("new")
    stored.shadow.sync()
    stored.stop()
    assert values(KeptCluster(stored.directory.path).partition()) == [(0, "new")]


def test_abandoned_work_leaves_the_former_segments(stored: KeptCluster) -> None:
    before = values(stored.partition())
    compact(stored)
    stored.turns.next_turn()
    stored.shadow.abandon()
    stored.work()
    assert not list(folder(stored).glob("*.cleaned"))
    stored.directory.unlock()
    assert values(KeptCluster(stored.directory.path).partition()) == before


def test_segments_that_cannot_be_written_wait_for_another_time(
    stored: KeptCluster, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    before = sizes(stored)
    compact(stored)
    with monkeypatch.context() as failing:
        failing.setattr(Path, "replace", fail)
        stored.work()
    assert "the next compaction tries it again" in caplog.text
    assert sizes(stored) == before
    assert not [path for path in folder(stored).iterdir() if path.suffix in (".cleaned", ".deleted")]
    log = stored.partition().log
    log.replace_before(10, list(log.batches(0, 10)))
    stored.shadow.sync()
    stored.work()
    assert sum(sizes(stored)) == log.size


def test_checkpoint_waits_for_compacted_segments(stored: KeptCluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """Aborted records stay invisible after a kill: compaction has forgotten their transaction, and the file still has them."""
    monkeypatch.setattr(shadow_module, "CHECKPOINT_BYTES", 1)
    monkeypatch.setattr(shadow_module, "MIN_CHECKPOINT_BYTES", 1)
    partition = stored.partition()

    def append(sequence: int) -> int:
        batch = build_batch(
            [Record(0, NOW_MS, b"k", b"v", [])], producer_id=7, producer_epoch=0, base_sequence=sequence, is_transactional=True
        )
        offset = partition.log.append(memoryview(batch), 0, owned=False)
        partition.producers.record(7, 0, sequence, sequence, offset, offset, NOW_MS, NOW_MS, transactional=True)
        return offset

    stored.work()
    first = append(0)
    partition.append_marker(Marker(Producer(7, 0), 0, committed=False, raises_epoch=False), NOW_MS)
    stored.shadow.sync()
    end = partition.log.end_offset
    partition.log.replace_before(end, [batch for batch in partition.log.batches(0, end) if len(batch) > 1000])
    partition.producers.forget_ended([end - 1])
    stored.shadow.sync()
    for _ in range(3):
        stored.turns.next_turn()  # of the checkpoint and of the compacted files
    assert partition.producers.aborted(0, end) == []
    stored.kill()
    again = KeptCluster(stored.directory.path).partition()
    assert [(each.first_offset, each.last_offset) for each in again.producers.aborted(0, end)] == [(first, end - 1)]
