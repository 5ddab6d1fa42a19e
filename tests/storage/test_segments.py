"""Segments that several logs and snapshots share, and segments that are built from saved batches."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack_into

import pytest

from odradek.storage.log import KEEP_BYTES, Log
from odradek.storage.memory import LogMemory
from odradek.storage.segments import HEADER_BYTES, Segment, read_segment
from tests.storage.batches import make_batch, stored

RECORDS = 10
END = 40 * RECORDS


def filled(memory: LogMemory | None = None) -> Log:
    """Returns a log of 40 batches in several segments, with index entries."""
    log = Log(memory)
    for number in range(40):
        size = KEEP_BYTES if number in (20, 30) else 500
        log.append(make_batch(size, records=RECORDS, timestamp=number), 0, owned=True)
    return log


def contents(log: Log) -> list[bytes]:
    return [bytes(batch) for batch in log.batches(log.start_offset, log.end_offset)]


def shared(log: Log, memory: LogMemory | None = None) -> Log:
    """Returns a log with the same segments, as a restored snapshot has them."""
    log.seal()
    other = Log(memory)
    other.start_offset, other.end_offset = log.start_offset, log.end_offset
    other.adopt(log._segments)
    return other


def append(log: Log) -> None:
    for number in range(20):
        log.append(make_batch(500, timestamp=100 + number), 1, owned=False)


CHANGES: list[Callable[[Log], None]] = [
    append,
    Log.empty,
    *(lambda log, offset=offset: log.delete_before(offset) for offset in (3, 55, 205, END - 1, END)),
    *(lambda log, offset=offset: log.truncate_to(offset) for offset in (0, 55, 205, END - 1)),
    *(lambda log, offset=offset: log.replace_before(offset, []) for offset in (50, 200, END)),
    lambda log: log.replace_before(50, [stored(make_batch(100), 7, 0)]),
]


@pytest.mark.parametrize("change", CHANGES)
def test_shared_log_is_not_changed_by_changes_of_another(change: Callable[[Log], None]) -> None:
    log = filled()
    expected = contents(log)
    snapshot, other = shared(log), shared(log)
    for changed in (log, other):
        change(changed)
        append(changed)
        append(changed)
        assert contents(snapshot) == contents(shared(snapshot)) == expected
        for offset in range(0, END, 7):
            assert bytes(snapshot.read(offset, 1, END, at_least_one=True)[0]) == expected[offset // RECORDS]
            assert snapshot.available(offset, END) == sum(map(len, expected[offset // RECORDS :]))
        for timestamp in range(40):
            found = snapshot.find_timestamp(timestamp)
            assert found is not None
            assert bytes(found) == expected[timestamp]


def test_log_sealed_goes_on_in_the_same_arena() -> None:
    log = Log()
    for _ in range(3):
        log.append(make_batch(), 0, owned=False)
        log.seal()
    slices = log.read(0, 2**40, 3, at_least_one=True)
    assert len(slices) == 3
    assert len({id(part.obj) for part in slices}) == 1


def test_shared_memory_counts_until_the_last_log_drops_it() -> None:
    memory = LogMemory(2**40, lambda: None)
    log = filled(memory)
    size = log.size
    other = shared(log, memory)
    assert memory.used_bytes == size
    log.append(make_batch(1000), 0, owned=False)
    assert memory.used_bytes == size + 1000
    log.empty()
    assert memory.used_bytes == size
    other.delete_before(205)
    assert memory.used_bytes == sum(segment.end - segment.origin for segment in other._segments)
    other.empty()
    assert memory.used_bytes == 0


def saved_segments(log: Log, memory: LogMemory | None = None) -> Log:
    """Returns a log of segments that were built from the bytes of another log's segments."""
    other = Log(memory)
    other.start_offset, other.end_offset = log.start_offset, log.end_offset
    other.adopt(
        [
            read_segment(
                memoryview(bytes(segment.view[segment.start : segment.end])),
                segment.base_offset,
                segment.end_offset,
                segment.log_start + segment.start,
            )
            for segment in log._segments
        ]
    )
    return other


@pytest.mark.parametrize("change", [lambda log: None, *CHANGES])
def test_segments_read_again_equal_the_saved_ones(change: Callable[[Log], None]) -> None:
    log, memory = filled(), LogMemory(2**40, lambda: None)
    change(log)
    other = saved_segments(log, memory)
    assert contents(other) == contents(log)
    assert (other.size, memory.used_bytes) == (log.size, log.size)
    for offset in range(log.start_offset, log.end_offset):
        assert other.available(offset, log.end_offset) == log.available(offset, log.end_offset)
    newest = [log.latest_timestamp(), other.latest_timestamp()]
    assert (newest[0] is None) == (newest[1] is None)
    assert newest[0] is None or newest[1] is None or bytes(newest[0]) == bytes(newest[1])


def damaged(position: int, format_: str, value: int) -> bytearray:
    batches = bytearray(stored(make_batch(100), 5, 0) + stored(make_batch(100), 6, 0))
    pack_into(format_, batches, 100 + position, value)
    return batches


@pytest.mark.parametrize(
    ("batches", "message"),
    [
        (damaged(0, ">q", 5), "no batch of 100 bytes with the offset 5 can follow the offset 6"),
        (damaged(8, ">i", 89), "no batch of 101 bytes with the offset 6 can follow the offset 6"),
        (damaged(8, ">i", HEADER_BYTES - 13), "no batch of 60 bytes with the offset 6 can follow the offset 6"),
        (damaged(8, ">i", -1), "no batch of 4294967307 bytes with the offset 6 can follow the offset 6"),
        (damaged(23, ">i", -1), "no batch of 100 bytes with the offset 6 can follow the offset 6"),
        (damaged(8, ">i", 88)[:160], "60 bytes after the last batch"),
    ],
)
def test_segment_read_from_damaged_batches_is_refused(batches: bytearray, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_segment(memoryview(batches), 5, 7, 0)


def test_segment_read_from_no_batches_is_empty() -> None:
    segment: Segment = read_segment(memoryview(b""), 5, 7, 0)
    assert (segment.start, segment.end, segment.base_offset, segment.end_offset) == (0, 0, 5, 7)
