"""Parts of a log that are read from the files, without the rest of the log."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from odradek.storage.directories import names
from odradek.storage.directories.batch_files import OffsetsNotStored, read_batches
from odradek.storage.directories.index_files import offset_index_bytes
from odradek.storage.directories.names import DamagedFile
from odradek.storage.directories.segment_files import IndexBuilder, Scan
from odradek.storage.segments import split
from tests.storage.directories.made_segments import batch, message, segment
from tests.storage.directories.recorded_directories import unpack

PART = 4096


def write(folder: Path, base: int, content: bytes, *, indexed: bool = True, zeros: int = 0) -> Path:
    """Writes a segment, and its index as Kafka does, with some zeros behind its entries."""
    path = folder / names.offset_name(base, names.LOG)
    path.write_bytes(content)
    if indexed:
        index = IndexBuilder()
        for entry in Scan(memoryview(content), base):
            index.add(entry)
        (folder / names.offset_name(base, names.INDEX)).write_bytes(offset_index_bytes(index.offsets, base) + bytes(zeros))
    return path


def offsets(folder: Path, start: int, end: int, part_bytes: int = PART) -> list[int]:
    return [int.from_bytes(view[:8], "big") for part in read_batches(folder, start, end, part_bytes) for view in split(part)]


@pytest.mark.parametrize(("indexed", "zeros"), [(True, 0), (True, 800), (False, 0)])
def test_range_is_read_from_the_index_entry_before(indexed: bool, zeros: int, tmp_path: Path) -> None:
    write(tmp_path, 0, segment(100), indexed=indexed, zeros=zeros)

    found = offsets(tmp_path, 50, 70)

    assert found[-1] == 69
    assert 50 in found
    assert (found[0] > 40) is indexed
    assert found == list(range(found[0], 70))


def test_segments_follow_one_another(tmp_path: Path) -> None:
    for base in (10, 20, 30):
        write(tmp_path, base, segment(10, base=base))

    assert offsets(tmp_path, 10, 40) == list(range(10, 40))
    assert offsets(tmp_path, 20, 30) == list(range(20, 30))
    assert offsets(tmp_path, 29, 31)[-2:] == [29, 30]


def test_batch_that_contains_the_last_offset_is_whole(tmp_path: Path) -> None:
    write(tmp_path, 0, batch(0, records=5) + batch(5, records=5) + batch(10))

    assert offsets(tmp_path, 6, 8) == [0, 5]


@pytest.mark.parametrize("part_bytes", [1, 30, 500, 1 << 20])
def test_parts_are_whole_batches_of_any_size(part_bytes: int, tmp_path: Path) -> None:
    write(tmp_path, 0, batch(0, size=3000) + batch(1, size=10) + batch(2, size=5000))

    parts = list(read_batches(tmp_path, 0, 3, part_bytes))

    assert [len(list(split(part))) for part in parts] == ([3] if part_bytes > 8000 else [1, 1, 1])


@pytest.mark.parametrize(("start", "end", "missing"), [(5, 15, 5), (12, 21, 20), (25, 30, 20)])
def test_offsets_outside_of_the_log_are_missing(start: int, end: int, missing: int, tmp_path: Path) -> None:
    write(tmp_path, 10, segment(10, base=10))

    with pytest.raises(OffsetsNotStored, match=f"has no offset {missing}$"):
        offsets(tmp_path, start, end)


def test_folder_without_segments_has_no_offset(tmp_path: Path) -> None:
    with pytest.raises(OffsetsNotStored):
        offsets(tmp_path, 0, 1)


def test_gap_that_compaction_has_left_is_no_loss(tmp_path: Path) -> None:
    write(tmp_path, 0, batch(0) + batch(5))
    write(tmp_path, 10, batch(12))

    assert offsets(tmp_path, 0, 10) == [0, 5]
    assert offsets(tmp_path, 7, 13) == [0, 5, 12]


def test_segment_that_is_deleted_meanwhile_is_missing(tmp_path: Path) -> None:
    write(tmp_path, 0, segment(10))
    later = write(tmp_path, 10, segment(10, base=10))
    reading = read_batches(tmp_path, 0, 20, 1 << 20)
    next(reading)
    later.unlink()

    with pytest.raises(OffsetsNotStored, match=r"has no offset 10$"):
        next(reading)


def test_file_that_is_truncated_meanwhile_ends_there(tmp_path: Path) -> None:
    path = write(tmp_path, 0, segment(10))
    reading = read_batches(tmp_path, 0, 10, 2000)
    next(reading)
    os.truncate(path, path.stat().st_size // 2)

    with pytest.raises(OffsetsNotStored):
        list(reading)


@pytest.mark.parametrize("torn", [1, 50, 150])
def test_torn_last_batch_is_missing(torn: int, tmp_path: Path) -> None:
    content = segment(3, size=100)
    write(tmp_path, 0, content[:-torn], indexed=False)

    assert offsets(tmp_path, 0, 2) == [0, 1]
    with pytest.raises(OffsetsNotStored, match=r"has no offset 2$"):
        offsets(tmp_path, 0, 3)


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (bytes(100), "a batch of 12 bytes with magic 0"),
        (batch(1)[:16] + b"\3" + batch(1)[17:], "with magic 3"),
        (batch(1)[:8] + (20).to_bytes(4, "big") + batch(1)[12:], "a batch of 32 bytes with magic 2"),
    ],
)
def test_bytes_that_are_no_batch_are_damage(head: bytes, reason: str, tmp_path: Path) -> None:
    write(tmp_path, 0, batch(0) + head, indexed=False)

    assert offsets(tmp_path, 0, 1) == [0]
    with pytest.raises(DamagedFile, match=f"at byte {len(batch(0))}: .*{reason}"):
        offsets(tmp_path, 0, 2)


@pytest.mark.parametrize("position", [3, 100_000])
def test_entry_of_a_wrong_index_is_not_used(position: int, tmp_path: Path) -> None:
    path = write(tmp_path, 0, segment(20))
    path.with_suffix(names.INDEX).write_bytes((10).to_bytes(4, "big") + position.to_bytes(4, "big"))

    assert offsets(tmp_path, 15, 16) == list(range(16))


def test_entry_in_the_last_bytes_is_not_used(tmp_path: Path) -> None:
    path = write(tmp_path, 0, segment(20))
    path.with_suffix(names.INDEX).write_bytes((10).to_bytes(4, "big") + (path.stat().st_size - 20).to_bytes(4, "big"))

    assert offsets(tmp_path, 15, 16) == list(range(16))


def test_old_messages_become_batches(tmp_path: Path) -> None:
    write(tmp_path, 0, message(0) + message(1) + batch(2) + message(3), indexed=False)

    parts = list(read_batches(tmp_path, 0, 4, PART))

    assert [view[16] for part in parts for view in split(part)] == [2, 2, 2]


def test_damaged_old_messages_are_damage(tmp_path: Path) -> None:
    damaged = bytearray(message(1))
    damaged[-1] ^= 1
    write(tmp_path, 0, message(0) + bytes(damaged), indexed=False)

    with pytest.raises(DamagedFile, match=f"at byte {len(message(0))}: a message with a wrong CRC"):
        offsets(tmp_path, 0, 2)


def test_shortest_message_of_format_0_is_read(tmp_path: Path) -> None:
    shortest = message(1, magic=0, value=None)
    write(tmp_path, 0, message(0, magic=0) + shortest, indexed=False)

    assert offsets(tmp_path, 1, 2) == [0]


@pytest.mark.parametrize("topic", ["format-0", "format-1", "orders"])
def test_recorded_segments_are_read(topic: str, tmp_path: Path) -> None:
    found = offsets(unpack("kafka-2.8.2", tmp_path) / f"{topic}-0", 3, 10)

    assert found
    assert max(found) < 10
