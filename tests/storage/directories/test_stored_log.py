from __future__ import annotations

from pathlib import Path

import pytest

from odradek.storage.directories import names
from odradek.storage.directories.producer_snapshot import ProducerEntry, producer_snapshot_bytes
from odradek.storage.directories.stored_log import StoredLog, read_log
from odradek.storage.directories.text_files import EpochStart
from odradek.storage.transaction_index import EndedTransaction
from tests.storage.directories.made_segments import batch, segment
from tests.storage.directories.recorded_directories import unpack


def folder_of(path: Path, files: dict[int, bytes]) -> Path:
    for base, content in files.items():
        (path / names.offset_name(base, names.LOG)).write_bytes(content)
    return path


def offsets_in(log: StoredLog) -> list[int]:
    return [int.from_bytes(view[:8], "big") for view in log.batches_from(log.start_offset)]


def test_segments_follow_one_another(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {10: segment(3, base=10), 13: segment(2, base=13)}), None, None)

    assert (log.start_offset, log.end_offset, log.file_starts, log.damages) == (10, 15, [10, 13], [])
    assert offsets_in(log) == [10, 11, 12, 13, 14]
    assert log.segments[1].log_start == log.segments[0].end


def test_folder_without_segments_is_empty(tmp_path: Path) -> None:
    log = read_log(tmp_path, 5, None)

    assert (log.segments, log.start_offset, log.end_offset) == ([], 0, 0)


def test_empty_segment_has_the_offset_of_its_name(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {42: b""}), None, 0)

    assert (log.segments, log.start_offset, log.end_offset) == ([], 42, 42)


def test_start_offset_of_the_checkpoint_counts(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {0: segment(3), 3: segment(3, base=3)}), 4, None)

    assert log.start_offset == 4
    assert offsets_in(log) == [4, 5]


@pytest.mark.parametrize(("recovery_point", "expected"), [(None, [0, 1, 3, 4]), (0, [0, 1]), (3, [0, 1, 3, 4])])
def test_torn_segment_ends_a_recovered_log(recovery_point: int | None, expected: list[int], tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {0: segment(3)[:-1], 3: segment(2, base=3)}), None, recovery_point)

    assert offsets_in(log) == expected
    assert len(log.damages) == 1
    assert "00000000000000000000.log at byte offset" in str(log.damages[0])


def test_segment_that_overlaps_the_one_before_is_left_out(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {0: segment(3), 2: segment(3, base=2)}), None, None)

    assert offsets_in(log) == [0, 1, 2]
    assert "precedes the end" in str(log.damages[0])


def test_newest_valid_snapshot_within_the_trusted_log_counts(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {0: segment(6)})
    entry = ProducerEntry(7, 0, 2, 2, 0, 1000, -1, -1)
    (folder / names.offset_name(3, names.PRODUCERS)).write_bytes(producer_snapshot_bytes([entry]))
    (folder / names.offset_name(5, names.PRODUCERS)).write_bytes(b"damaged")
    (folder / names.offset_name(9, names.PRODUCERS)).write_bytes(producer_snapshot_bytes([]))

    assert read_log(folder, None, None).producers == (3, [entry])
    assert read_log(folder, None, 2).producers == (0, [])


def test_damaged_epochs_and_transactions_are_left_out(tmp_path: Path) -> None:
    folder = folder_of(tmp_path, {0: segment(3)})
    (folder / names.EPOCHS).write_text("nonsense")
    (folder / names.offset_name(0, names.TRANSACTION_INDEX)).write_bytes(b"x")

    log = read_log(folder, None, None)

    assert (log.epochs, log.aborted) == ([], [])


def test_recorded_transactions_and_epochs_are_read(tmp_path: Path) -> None:
    log = read_log(unpack("kafka-4.3.1", tmp_path) / "transfers-0", None, None)

    assert log.epochs == [EpochStart(0, 0)]
    assert log.aborted == [EndedTransaction(log.aborted[0].producer_id, 4, 7, 8, committed=False)]
    assert log.producers.offset == log.end_offset == 12


def test_old_messages_beside_batches_become_batches(tmp_path: Path) -> None:
    log = read_log(unpack("kafka-2.8.2", tmp_path) / "format-0-0", None, None)

    assert all(view[16] == 2 for view in log.batches_from(0))
    assert log.end_offset == 10


def test_batches_from_an_offset_include_the_one_of_it(tmp_path: Path) -> None:
    log = read_log(folder_of(tmp_path, {0: batch(0, records=5) + batch(5)}), None, None)

    assert [int.from_bytes(view[:8], "big") for view in log.batches_from(3)] == [0, 5]
    assert list(log.batches_from(6)) == []
