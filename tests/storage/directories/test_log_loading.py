from __future__ import annotations

import sys
from pathlib import Path

import pytest

from odradek.protocol.batches.record_builder import build_batch, build_marker
from odradek.protocol.batches.records import Record
from odradek.storage.directories import names
from odradek.storage.directories.log_loading import load_log
from odradek.storage.directories.producer_snapshot import ProducerEntry, producer_snapshot_bytes
from odradek.storage.directories.stored_log import read_log
from odradek.storage.log import Log
from odradek.storage.producers import Producers
from tests.storage.directories.recorded_directories import unpack

PRODUCER, EPOCH = 7, 2


def loaded(folder: Path) -> tuple[Log, Producers]:
    log, producers = Log(), Producers(sys.maxsize)
    load_log(log, producers, read_log(folder, None, 0), 0)
    return log, producers


def written(offset: int, *, sequence: int = 0, transactional: bool = False, producer_id: int = PRODUCER, epoch: int = 0) -> bytes:
    records = [Record(offset, 1000, None, b"v", []), Record(offset + 1, 1000, None, b"v", [])]
    return bytes(
        build_batch(
            records,
            base_offset=offset,
            producer_id=producer_id,
            producer_epoch=EPOCH,
            base_sequence=sequence,
            is_transactional=transactional,
            partition_leader_epoch=epoch,
        )
    )


def marker(offset: int, *, committed: bool) -> bytes:
    batch = build_marker(PRODUCER, EPOCH, 0, 1000, committed=committed)
    batch[:8] = offset.to_bytes(8, "big")
    return bytes(batch)


def write(folder: Path, *batches: bytes) -> Path:
    (folder / names.offset_name(0, names.LOG)).write_bytes(b"".join(batches))
    return folder


def test_recorded_transactions_are_known(tmp_path: Path) -> None:
    log, producers = loaded(unpack("kafka-4.3.1", tmp_path) / "transfers-0")

    assert (log.start_offset, log.end_offset) == (0, 12)
    assert [(each.first_offset, each.last_offset) for each in producers.aborted(0, 12)] == [(4, 7)]


def test_open_transaction_of_a_killed_broker_is_open(tmp_path: Path) -> None:
    log, producers = loaded(unpack("kafka-4.3.1-killed", tmp_path) / "transfers-0")

    assert list(producers.open.values()) == [log.end_offset - 1]


def test_batches_without_a_snapshot_are_replayed(tmp_path: Path) -> None:
    batches = [written(0, transactional=True), marker(2, committed=False), written(3, sequence=2, epoch=4)]
    log, producers = loaded(write(tmp_path, *batches, written(5, producer_id=-1), written(7, producer_id=8, sequence=-1)))

    states = dict(producers)
    assert [(each.first_offset, each.last_offset) for each in producers.aborted(0, 9)] == [(0, 2)]
    assert (states[PRODUCER].next_sequence, states[PRODUCER].epoch) == (4, EPOCH)
    assert set(states) == {PRODUCER, 8}
    assert [epoch for epoch, _ in log.epochs] == [0, 4]


def test_snapshot_and_the_batches_behind_it_are_the_producers(tmp_path: Path) -> None:
    write(tmp_path, written(0), written(2, sequence=2))
    entries = [ProducerEntry(PRODUCER, EPOCH, 1, 1, 1, 1000, -1, -1), ProducerEntry(9, 0, -1, -1, 0, 1000, 3, 1)]
    (tmp_path / names.offset_name(2, names.PRODUCERS)).write_bytes(producer_snapshot_bytes(entries))

    log, producers = Log(), Producers(sys.maxsize)
    load_log(log, producers, read_log(tmp_path, None, None), 0)

    states = dict(producers)
    assert [batch.base_offset for batch in states[PRODUCER].batches] == [0, 2]
    assert (states[9].batches, states[9].coordinator_epoch) == ([], 3)
    assert producers.open_since(9) == 1


def test_batch_that_ends_before_the_snapshot_is_not_replayed(tmp_path: Path) -> None:
    write(tmp_path, written(0), written(6, sequence=2))
    (tmp_path / names.offset_name(4, names.PRODUCERS)).write_bytes(producer_snapshot_bytes([]))

    log, producers = Log(), Producers(sys.maxsize)
    load_log(log, producers, read_log(tmp_path, None, None), 0)

    assert [batch.base_offset for batch in dict(producers)[PRODUCER].batches] == [6]


@pytest.mark.parametrize("contents", [(b"\0\0\0\7", b"\0\0\0\0\0\0"), (b"\0\0\0\1", b"\0\0"), (None, None)])
def test_marker_that_is_none_leaves_its_transaction_open(contents: tuple[bytes | None, bytes | None], tmp_path: Path) -> None:
    other = build_batch(
        [Record(2, 1000, *contents, [])],
        base_offset=2,
        producer_id=PRODUCER,
        producer_epoch=EPOCH,
        is_transactional=True,
        is_control=True,
    )

    _, producers = loaded(write(tmp_path, written(0, transactional=True), bytes(other)))

    assert list(producers.open.values()) == [0]
