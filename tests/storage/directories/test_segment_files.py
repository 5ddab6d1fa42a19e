from __future__ import annotations

from array import array
from pathlib import Path
from random import Random

import pytest

from odradek.protocol.batches.message_sets import LegacyMessage, build_message
from odradek.storage.directories.index_files import OffsetIndex, TimeIndex, new_offset_index, new_time_index
from odradek.storage.directories.names import DamagedFile
from odradek.storage.directories.segment_files import Entry, IndexBuilder, OldMessages, Scan, map_file, map_segment, read_entry
from tests.storage.directories.made_segments import batch, segment

NO_INDEX = new_offset_index(), new_time_index()


def indexes_of(content: bytes) -> tuple[OffsetIndex, TimeIndex]:
    builder = IndexBuilder()
    for entry in Scan(memoryview(content), 0):
        builder.add(entry)
    builder.finish()
    return builder.offsets, builder.times


def test_scan_yields_batches_and_messages() -> None:
    message = build_message(LegacyMessage(0, 1, 0, 77, b"k", b"v"))
    content = message + batch(1, records=3)
    scan = Scan(memoryview(content), 0)

    assert list(scan) == [
        Entry(0, len(message), 1, 0, 0, -1, 77),
        Entry(len(message), len(content) - len(message), 2, 1, 3, 3, 1000),
    ]
    assert scan.damage is None


@pytest.mark.parametrize(
    ("damaged", "reason"),
    [
        (batch(5)[:-1], "of which"),
        (batch(5)[:10], "too few"),
        (bytes(100), "magic 0"),
        (batch(5)[:-1] + b"\1", "wrong CRC"),
        (batch(4), "offset 4 after offset 4"),
        (batch(2**40), "after offset 4"),
        (batch(2**63 - 1), "offset 9223372036854775807"),
        (batch(5)[:8] + (2**31 - 1).to_bytes(4, "big") + batch(5)[12:], "of which"),
        (batch(5)[:16] + b"\3" + batch(5)[17:], "magic 3"),
        (batch(5)[:8] + (40).to_bytes(4, "big") + batch(5)[12:], "magic 2"),
        (build_message(LegacyMessage(5, 0, 0, -1, b"k", b"v"))[:-1] + b"w", "a message with a wrong CRC"),
        (build_message(LegacyMessage(-5, 0, 0, -1, b"k", b"v")), "a message with offset -5"),
    ],
)
def test_scan_ends_at_damage(damaged: bytes, reason: str) -> None:
    valid = batch(0, records=5)
    scan = Scan(memoryview(valid + damaged), 0)

    assert len(list(scan)) == 1
    assert scan.damage is not None
    assert scan.damage.position == len(valid)
    assert reason in scan.damage.reason


def test_message_of_format_0_has_no_timestamp() -> None:
    entry = read_entry(memoryview(build_message(LegacyMessage(5, 0, 0, -1, b"k", b"v"))), 0)

    assert isinstance(entry, Entry)
    assert entry.max_timestamp == -1


def test_map_file_refuses_more_than_a_segment(tmp_path: Path) -> None:
    with (tmp_path / "file").open("wb") as file:
        file.truncate(2**31)

    with pytest.raises(DamagedFile, match="2147483648 bytes"):
        map_file(tmp_path / "file")


def test_empty_file_has_no_bytes(tmp_path: Path) -> None:
    (tmp_path / "file").touch()

    assert len(map_file(tmp_path / "file")) == 0


def test_builder_makes_an_entry_every_4_kib() -> None:
    offsets, times = indexes_of(segment(12, size=1000))

    assert list(offsets.offsets) == [4, 8]
    assert list(times.timestamps) == [5004, 5008, 5011]
    assert list(times.offsets) == [4, 8, 11]


def test_builder_makes_no_entries_without_timestamps() -> None:
    content = b"".join(batch(number, size=3000, timestamp=-1) for number in range(5))

    assert not indexes_of(content)[1].timestamps


@pytest.mark.parametrize("trusts_indexes", [False, True])
def test_mapped_segment_finds_offsets_and_timestamps(trusts_indexes: bool) -> None:
    content = memoryview(segment())
    mapped, damage = map_segment(content, 0, *(indexes_of(bytes(content)) if trusts_indexes else NO_INDEX))
    size = len(content) // 100

    assert damage is None
    assert (mapped.base_offset, mapped.end_offset, mapped.end) == (0, 100, len(content))
    for offset in (0, 1, 4, 5, 50, 98, 99, 100):
        assert mapped.locate(offset) == offset * size
        found = mapped.find_timestamp(5000 + offset, 0)
        assert (found is None) if offset == 100 else bytes(found or b"") == content[offset * size :][:size]
    assert mapped.cut(0, 100, 10 * size, at_least_one=True) == 10 * size
    assert mapped.cut(0, 37, 10**9, at_least_one=True) == 37 * size
    assert mapped.max_timestamp == 5099


def test_damage_behind_trusted_indexes_is_found() -> None:
    content = segment()
    mapped, damage = map_segment(memoryview(content[:-5]), 0, *indexes_of(content))

    assert mapped.end_offset == 99
    assert damage is not None
    assert damage.position == len(content) // 100 * 99


@pytest.mark.parametrize(
    "indexes",
    [
        (OffsetIndex(array("q", [4]), array("I", [77])), TimeIndex(array("q", [9000]), array("q", [4]))),
        (OffsetIndex(array("q", [4]), array("I", [10**6])), TimeIndex(array("q", [9000]), array("q", [4]))),
        (OffsetIndex(array("q", [3]), array("I", [4 * len(batch(0, size=1000))])), TimeIndex(array("q", [9000]), array("q", [4]))),
        (OffsetIndex(array("q", [4]), array("I", [4 * len(batch(0, size=1000))])), new_time_index()),
    ],
)
def test_indexes_of_other_segments_are_not_used(indexes: tuple[OffsetIndex, TimeIndex]) -> None:
    mapped, damage = map_segment(memoryview(segment()), 0, *indexes)

    assert damage is None
    assert [mapped.locate(offset) for offset in (3, 4, 99)] == [offset * len(batch(0, size=1000)) for offset in (3, 4, 99)]


def test_time_index_with_later_and_fewer_entries_is_spread() -> None:
    content = segment(20)
    offsets, _ = indexes_of(content)
    times = TimeIndex(array("q", [5009, 5019]), array("q", [9, 19]))

    mapped, _ = map_segment(memoryview(content), 0, offsets, times)

    assert [offset for offset in range(20) if mapped.find_timestamp(5000 + offset, 0) is None] == []


def test_segment_with_old_messages_cannot_be_mapped() -> None:
    with pytest.raises(OldMessages):
        map_segment(memoryview(build_message(LegacyMessage(0, 1, 0, 77, b"k", b"v"))), 0, *NO_INDEX)


def test_damaged_lengths_do_not_stop_a_search(seed: int = 7) -> None:
    """A file may be damaged after its indexes were written; a search in it ends all the same."""
    content, random = bytearray(segment()), Random(seed)
    indexes = indexes_of(bytes(content))
    size = len(content) // 100
    mapped, _ = map_segment(memoryview(content), 0, *indexes)
    for _ in range(200):
        position = random.randrange(99) * size + 8
        before = bytes(content[position : position + 4])
        content[position : position + 4] = random.randbytes(4)
        assert mapped.locate(random.randrange(99)) >= 0
        content[position : position + 4] = before
