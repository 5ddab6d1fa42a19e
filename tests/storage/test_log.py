"""The log and its segments: appends, reads and their limits, timestamps, deletion, truncation and memory."""

from __future__ import annotations

import gc
import sys
import weakref
from collections.abc import Callable, Sequence

import pytest

from odradek.storage.blocks import Blocks
from odradek.storage.log import KEEP_BYTES, MAX_ARENA_BYTES, MIN_ARENA_BYTES, Log
from odradek.storage.memory import LogMemory
from odradek.storage.segments import end_offset_of, read_segment
from tests.storage.batches import HEADER_BYTES, make_batch, stored

EVERYTHING = 2**40

reuses = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a view of a mapping exists")


def log_of(*batches: memoryview, owned: bool = False) -> Log:
    log = Log()
    for batch in batches:
        log.append(batch, 0, owned=owned)
    return log


def contents(log: Log) -> list[bytes]:
    return [bytes(batch) for batch in log.batches(log.start_offset, log.end_offset)]


def test_log_empty_returns_nothing() -> None:
    log = Log()
    assert (log.start_offset, log.end_offset, log.size) == (0, 0, 0)
    assert log.read(0, EVERYTHING, 0, at_least_one=True) == []
    assert log.available(0, 0) == 0
    assert log.find_timestamp(0) is None
    assert log.latest_timestamp() is None
    assert log.end_offset_for_epoch(0) == (-1, -1)
    assert log.epoch_at(0) == -1
    log.delete_before(0)
    log.truncate_to(0)
    assert (log.start_offset, log.end_offset) == (0, 0)


def test_batch_start_is_the_base_offset_of_the_batch() -> None:
    log = log_of(make_batch(records=3), make_batch(records=2), make_batch())
    assert [log.batch_start(offset) for offset in range(8)] == [0, 0, 0, 3, 3, 5, 6, 7]
    assert Log().batch_start(0) == 0
    (_, middle, _) = list(log.batches(0, 6))
    log.replace_before(5, [middle])
    assert [log.batch_start(offset) for offset in range(6)] == [0, 1, 2, 3, 3, 5]
    log.replace_before(6, [middle])
    assert log.batch_start(5) == 5


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("size", [HEADER_BYTES, 168, KEEP_BYTES - 1, KEEP_BYTES, KEEP_BYTES + 1, MIN_ARENA_BYTES, MIN_ARENA_BYTES + 1])
def test_append_changes_only_base_offset_and_leader_epoch(size: int, owned: bool) -> None:
    log, expected = Log(), []
    for base_offset in (0, 3, 6):
        batch = make_batch(size, records=3)
        expected.append(stored(batch, base_offset, 4))
        assert log.append(batch, 4, owned=owned) == base_offset
    assert log.end_offset == 9
    assert log.size == 3 * size
    assert contents(log) == expected


@pytest.mark.parametrize(("size", "owned", "kept"), [(KEEP_BYTES, True, True), (KEEP_BYTES - 1, True, False), (KEEP_BYTES, False, False)])
def test_append_keeps_memory_of_large_owned_batch_only(size: int, owned: bool, kept: bool) -> None:
    batch = make_batch(size)
    log = log_of(make_batch(), batch, owned=owned)
    batch[size - 1] = 0x11
    (*_, last) = log.batches(0, 2)
    assert (last[size - 1] == 0x11) == kept
    assert last.readonly


def test_append_not_owned_batch_is_not_changed() -> None:
    batch = make_batch()
    before = bytes(batch)
    log_of(batch, memoryview(before))
    assert batch == before


@pytest.mark.parametrize("owned", [False, True])
def test_append_counts_its_bytes_in_the_memory(owned: bool) -> None:
    memory = LogMemory(10 * KEEP_BYTES, lambda: None)
    log = Log(memory)
    log.append(make_batch(KEEP_BYTES), 0, owned=owned)
    log.append_copy(make_batch(100), 0, 0, 5)
    assert memory.used_bytes == KEEP_BYTES + 100
    log.delete_before(2)
    assert memory.used_bytes == 0


def test_append_copy_uses_the_given_header_fields() -> None:
    log = Log()
    assert log.append_copy(make_batch(100, records=3), 4, 2, 1000) == 0
    assert (log.end_offset, log.epoch_at(0)) == (3, 4)
    assert log.find_timestamp(1000) is None  # the batch itself has an earlier one
    assert contents(log) == [stored(make_batch(100, records=3), 0, 4)]


def test_read_returns_one_slice_per_segment() -> None:
    small, large = make_batch(168), make_batch(KEEP_BYTES)
    log = log_of(*[small] * 100, *[make_batch(KEEP_BYTES) for _ in range(2)], *[small] * 100, owned=True)
    assert [len(part) for part in log.read(0, EVERYTHING, log.end_offset, at_least_one=True)] == [16800, len(large), len(large), 16800]


def test_arena_size_grows_with_the_log() -> None:
    log = log_of(*[make_batch(1024)] * (64 * 8))
    sizes = [len(part) for part in log.read(0, EVERYTHING, log.end_offset, at_least_one=True)]
    assert [size // MIN_ARENA_BYTES for size in sizes] == [1, 1, 2, 4]


def test_append_batch_larger_than_largest_arena() -> None:
    log = log_of(make_batch(), make_batch(MAX_ARENA_BYTES + 1), make_batch())
    assert [len(batch) for batch in log.batches(0, 3)] == [100, MAX_ARENA_BYTES + 1, 100]


# Ten batches of 100 bytes and ten records each.
READS: list[tuple[int, int, int, bool, Sequence[int]]] = [
    # offset, max_bytes, end_offset, at_least_one, base offsets
    (0, 1000, 100, False, range(0, 100, 10)),
    (0, 999, 100, False, range(0, 90, 10)),
    (0, 100, 100, False, [0]),
    (0, 99, 100, False, []),
    (0, 99, 100, True, [0]),
    (0, 0, 100, True, [0]),
    (0, 0, 100, False, []),
    (0, 199, 100, True, [0]),
    (9, 1000, 100, False, range(0, 100, 10)),  # the batch that contains it
    (10, 1000, 100, False, range(10, 100, 10)),
    (99, 1000, 100, False, [90]),
    (99, 99, 100, False, []),
    (99, 99, 100, True, [90]),
    (100, 1000, 100, True, []),
    (0, 1000, 50, False, range(0, 50, 10)),
    (0, 250, 50, False, [0, 10]),
    (40, 1000, 50, True, [40]),
    (50, 1000, 50, True, []),
    (60, 1000, 50, True, []),  # a consumer beyond the high watermark
    (0, 1000, 0, True, []),
    (90, 1000, 1000, True, [90]),
    (100, 1000, 1000, True, []),
]


@pytest.mark.parametrize(("offset", "max_bytes", "end_offset", "at_least_one", "base_offsets"), READS)
def test_read_respects_offsets_and_limits(
    offset: int, max_bytes: int, end_offset: int, at_least_one: bool, base_offsets: Sequence[int]
) -> None:
    log = log_of(*[make_batch(100, records=10)] * 10)
    parts = log.read(offset, max_bytes, end_offset, at_least_one=at_least_one)
    assert b"".join(parts) == b"".join(stored(make_batch(100, records=10), base, 0) for base in base_offsets)


def test_read_at_least_one_counts_across_segments() -> None:
    log = log_of(*[make_batch(KEEP_BYTES) for _ in range(3)], owned=True)
    assert [len(part) for part in log.read(0, 1, 3, at_least_one=True)] == [KEEP_BYTES]
    assert [len(part) for part in log.read(0, 2 * KEEP_BYTES, 3, at_least_one=True)] == [KEEP_BYTES] * 2
    assert log.read(0, KEEP_BYTES - 1, 3, at_least_one=False) == []
    assert [len(part) for part in log.read(0, EVERYTHING, 2, at_least_one=False)] == [KEEP_BYTES] * 2


def test_available_equals_size_of_read() -> None:
    log = log_of(*[make_batch(100, records=10)] * 100, make_batch(KEEP_BYTES), make_batch(KEEP_BYTES), make_batch(100), owned=True)
    for offset in [*range(0, 1000, 37), *range(998, 1003)]:
        for end_offset in (0, 10, 500, 1000, 1001, 1002, 1003):
            found = log.read(offset, EVERYTHING, end_offset, at_least_one=False)
            assert log.available(offset, end_offset) == sum(map(len, found))


@pytest.mark.parametrize("max_bytes", [0, 89, 90, 4095, 4096, 4140, 10_000, EVERYTHING])
@pytest.mark.parametrize("end_offset", [0, 1, 45, 46, 47, 300, 599, 600])
def test_read_and_available_in_indexed_segment(max_bytes: int, end_offset: int) -> None:
    log = log_of(*[make_batch(90)] * 600)
    for offset in (0, 1, 44, 45, 46, 47, 91, 92, 299, 300, 550, 599):
        count = max(0, min(end_offset - offset, max_bytes // 90))
        first = [offset] if offset < end_offset else []
        expected = {False: list(range(offset, offset + count)), True: list(range(offset, offset + count)) or first}
        for at_least_one in (False, True):
            parts = log.read(offset, max_bytes, end_offset, at_least_one=at_least_one)
            assert bases(b"".join(parts), 90) == expected[at_least_one]
        assert log.available(offset, end_offset) == 90 * max(0, end_offset - offset)


def bases(batches: bytes, size: int) -> list[int]:
    return [int.from_bytes(batches[position : position + 8], "big") for position in range(0, len(batches), size)]


def test_find_timestamp_returns_first_batch_in_log() -> None:
    log = log_of(*[make_batch(100, timestamp=timestamp) for timestamp in (5, 20, 10, 20, 30)])
    found = {timestamp: log.find_timestamp(timestamp) for timestamp in (-1, 5, 6, 20, 21, 30, 31)}
    bases = {timestamp: None if batch is None else int.from_bytes(batch[:8], "big") for timestamp, batch in found.items()}
    assert bases == {-1: 0, 5: 0, 6: 1, 20: 1, 21: 4, 30: 4, 31: None}


@pytest.mark.parametrize("timestamps", [range(2000), range(2000, 0, -1), [7] * 2000, [*range(1000), *range(1000)]])
def test_find_timestamp_over_many_index_entries(timestamps: Sequence[int]) -> None:
    log = log_of(*[make_batch(100, timestamp=timestamp) for timestamp in timestamps])
    for wanted in (-1, 0, 1, 6, 7, 8, 500, 999, 1000, 1500, 1999, 2000, 2001):
        first = next((base for base, timestamp in enumerate(timestamps) if timestamp >= wanted), None)
        found = log.find_timestamp(wanted)
        assert (None if found is None else int.from_bytes(found[:8], "big")) == first
    latest = log.latest_timestamp()
    assert latest is not None
    assert int.from_bytes(latest[:8], "big") == timestamps.index(max(timestamps))


def test_find_timestamp_ignores_deleted_batches() -> None:
    log = log_of(*[make_batch(100, timestamp=timestamp) for timestamp in (99, 5, 30, 30, 7)])
    log.delete_before(1)
    latest = log.latest_timestamp()
    assert latest is not None
    assert int.from_bytes(latest[:8], "big") == 2
    assert log.find_timestamp(31) is None
    found = log.find_timestamp(-1)
    assert found is not None
    assert int.from_bytes(found[:8], "big") == 1


def test_find_timestamp_before_the_offset_is_not_found() -> None:
    log = log_of(make_batch(timestamp=30), make_batch(timestamp=5))
    assert log.find_timestamp(20) is not None
    assert log.find_timestamp(20, offset=1) is None


def test_find_timestamp_ignores_deleted_in_indexed_segment() -> None:
    log = log_of(*[make_batch(100, timestamp=600 - base) for base in range(600)])
    log.delete_before(333)
    for found in (log.find_timestamp(0), log.latest_timestamp()):
        assert found is not None
        assert int.from_bytes(found[:8], "big") == 333
    assert log.find_timestamp(600 - 332) is None


def test_delete_before_frees_whole_segments() -> None:
    batches = [make_batch(KEEP_BYTES, records=10) for _ in range(3)]
    log = log_of(*batches, owned=True)
    log.delete_before(15)
    assert (log.start_offset, log.end_offset, log.size) == (15, 30, 2 * KEEP_BYTES)  # the batch that contains it stays
    log.delete_before(10)
    assert log.start_offset == 15
    log.delete_before(20)
    assert log.size == KEEP_BYTES
    log.delete_before(31)
    assert (log.start_offset, log.end_offset, log.size) == (30, 30, 0)
    assert log.append(make_batch(), 0, owned=False) == 30
    assert contents(log) == [stored(make_batch(), 30, 0)]


class Frame(bytearray):
    """Memory whose end can be watched."""


free = pytest.mark.parametrize("free", [lambda log: log.delete_before(10), lambda log: log.truncate_to(0), lambda log: log.truncate_to(5)])


@free
def test_freed_frame_is_released_with_last_view(free: Callable[[Log], None]) -> None:
    frame = Frame(make_batch(KEEP_BYTES, records=10))
    log = log_of(memoryview(frame), owned=True)
    watched = weakref.ref(frame)
    view = log.read(0, EVERYTHING, 1, at_least_one=True)
    del frame
    free(log)
    gc.collect()
    assert watched() is not None  # a view of it may still be sent
    del view
    gc.collect()
    assert watched() is None


@free
def test_freed_arena_is_released(free: Callable[[Log], None]) -> None:
    log = log_of(make_batch(records=10))
    watched = weakref.ref(log.read(0, EVERYTHING, 1, at_least_one=True)[0].obj)
    free(log)
    gc.collect()
    assert watched() is None


@pytest.mark.parametrize("owned", [False, True])
@pytest.mark.parametrize("size", [100, KEEP_BYTES])
@pytest.mark.parametrize("offset", range(0, 50, 7))
def test_append_after_truncation_keeps_earlier_views(offset: int, size: int, owned: bool) -> None:
    log = log_of(*[make_batch(size, records=10) for _ in range(5)], owned=owned)
    views = [*log.read(0, EVERYTHING, 50, at_least_one=True), *log.batches(0, 50)]
    before = [bytes(view) for view in views]
    log.truncate_to(offset)
    assert log.end_offset == offset
    kept = contents(log)
    assert len(kept) == offset // 10
    other = make_batch(size, records=10, pattern=0xCD)
    assert log.append(other, 1, owned=False) == offset
    assert contents(log) == [*kept, stored(other, offset, 1)]
    assert [bytes(view) for view in views] == before


def test_truncate_inside_batch_leaves_offset_gap() -> None:
    log = log_of(*[make_batch(KEEP_BYTES, records=10) for _ in range(2)], owned=True)
    log.truncate_to(15)
    assert (log.end_offset, log.size) == (15, KEEP_BYTES)
    assert log.read(12, EVERYTHING, 15, at_least_one=True) == []
    assert log.available(12, 15) == 0
    log.append(make_batch(), 1, owned=False)
    assert [bytes(part) for part in log.read(12, 1, 16, at_least_one=True)] == [stored(make_batch(), 15, 1)]
    log.truncate_to(12)
    assert (log.end_offset, log.size) == (12, KEEP_BYTES)
    log.delete_before(11)
    assert (log.start_offset, log.end_offset, log.size) == (11, 12, 0)
    assert log.read(11, EVERYTHING, 12, at_least_one=True) == []
    log.append(make_batch(), 1, owned=False)
    assert [bytes(part) for part in log.read(11, 1, 13, at_least_one=True)] == [stored(make_batch(), 12, 1)]


def test_truncate_below_start_empties_the_log() -> None:
    log = log_of(*[make_batch(100, records=10)] * 5)
    log.delete_before(33)
    log.truncate_to(31)
    assert (log.start_offset, log.end_offset, log.size) == (31, 31, 0)
    log.truncate_to(40)
    assert log.end_offset == 31
    log.append(make_batch(), 0, owned=False)
    log.truncate_to(5)
    assert (log.start_offset, log.end_offset) == (5, 5)


@pytest.mark.parametrize("timestamps", [range(2000), range(2000, 0, -1), [(base * 7919) % 2000 for base in range(2000)]])
@pytest.mark.parametrize("offset", [1, 45, 46, 47, 500, 1999, 2000])
def test_truncate_indexed_segment_updates_timestamps(offset: int, timestamps: Sequence[int]) -> None:
    log = log_of(*[make_batch(90, timestamp=timestamp) for timestamp in timestamps])
    log.truncate_to(offset)
    assert log.size == 90 * offset
    latest = log.latest_timestamp()
    assert latest is not None
    assert int.from_bytes(latest[:8], "big") == timestamps.index(max(timestamps[:offset]))
    assert log.find_timestamp(max(timestamps[:offset]) + 1) is None
    assert [int.from_bytes(batch[:8], "big") for batch in log.batches(offset - 1, offset)] == [offset - 1]


def test_truncate_after_deletion_updates_timestamps() -> None:
    log = log_of(*[make_batch(100, timestamp=abs(300 - base)) for base in range(600)])
    log.delete_before(250)
    log.truncate_to(310)
    latest = log.latest_timestamp()
    assert latest is not None
    assert int.from_bytes(latest[:8], "big") == 250


def test_available_in_offset_gap_is_zero() -> None:
    log = log_of(*[make_batch(100, records=10)] * 300)
    log.truncate_to(405)
    assert log.available(401, 405) == 0
    log.append(make_batch(KEEP_BYTES), 0, owned=True)
    assert log.available(402, 406) == KEEP_BYTES
    assert log.find_timestamp(0) is None


def test_batches_are_those_at_the_time_of_the_call() -> None:
    log = log_of(*[make_batch(100)] * 3)
    batches = log.batches(0, 3)
    first = next(batches)
    log.delete_before(3)
    assert [bytes(batch) for batch in (first, *batches)] == [stored(make_batch(100), base, 0) for base in range(3)]


def test_replace_before_fills_several_arenas() -> None:
    log = Log()
    batches = [make_batch(1 << 20, pattern=number) for number in range(20)]
    for batch in batches:
        log.append(batch, 0, owned=True)
    expected = [bytes(batch) for batch in log.batches(0, 20)]
    log.replace_before(20, expected[:10] + expected[11:])
    assert [bytes(batch) for batch in log.batches(0, 20)] == expected[:10] + expected[11:]
    assert (log.size, log.start_offset, log.end_offset) == (19 << 20, 0, 20)
    assert bytes(next(log.batches(10, 20))) == expected[11]
    log.append(make_batch(), 0, owned=False)
    assert log.end_offset == 21


def test_end_offset_of_read_batches() -> None:
    log = log_of(*[make_batch(100, records=3)] * 4)
    (batches,) = log.read(0, 250, 12, at_least_one=True)
    assert end_offset_of(batches) == 6


def appended(log: Log, size: int, count: int) -> list[object]:
    """Appends batches that the log copies, and returns their blocks."""
    blocks: dict[int, object] = {}
    for _ in range(count):
        log.append(make_batch(size), 0, owned=False)
        block = log.read(log.end_offset - 1, 1, log.end_offset, at_least_one=True)[0].obj
        blocks[id(block)] = block
    return list(blocks.values())


@reuses
@pytest.mark.parametrize("remove", [lambda log: log.delete_before(log.end_offset), lambda log: log.truncate_to(0)])
def test_removed_segments_serve_another_log(remove: Callable[[Log], None]) -> None:
    blocks = Blocks(1 << 20)
    first, second = Log(blocks=blocks), Log(blocks=blocks)
    old = appended(first, 10_000, 12)
    assert len(old) == 2
    remove(first)
    assert all(block in old for block in appended(second, 10_000, 12))


@reuses
def test_large_batch_removed_serves_another_log() -> None:
    blocks = Blocks(1 << 20)
    log = Log(blocks=blocks)
    batch = blocks.take(KEEP_BYTES)
    batch[:] = make_batch(KEEP_BYTES)
    block = batch.obj
    log.append(batch, 0, owned=True)
    del batch
    log.delete_before(1)
    assert blocks.take(KEEP_BYTES).obj is block


@reuses
def test_replaced_segments_serve_another_log() -> None:
    blocks = Blocks(1 << 20)
    log = Log(blocks=blocks)
    old = appended(log, 10_000, 12)
    log.replace_before(log.end_offset, [bytes(batch) for batch in log.batches(5, 6)])
    assert appended(Log(blocks=blocks), 10_000, 6) == old[:1], "the log itself still uses the second arena"


def test_arena_in_use_serves_no_other_log() -> None:
    blocks = Blocks(1 << 20)
    log = Log(blocks=blocks)
    (arena,) = appended(log, 1000, 3)
    large = make_batch(KEEP_BYTES)
    log.append(large, 0, owned=True)  # the log goes on in a second segment of the arena
    assert appended(log, 1000, 1) == [arena]
    log.delete_before(3)
    assert appended(Log(blocks=blocks), 1000, 1) != [arena]
    assert contents(log) == [stored(large, 3, 0), stored(make_batch(1000), 4, 0)]


@reuses
def test_log_in_used_memory_shows_only_its_own_bytes() -> None:
    blocks = Blocks(1 << 20)
    first, second = Log(blocks=blocks), Log(blocks=blocks)
    (arena,) = appended(first, 60_000, 1)
    first.delete_before(1)
    assert appended(second, 100, 1) == [arena]
    expected = [stored(make_batch(100), 0, 0)]
    assert contents(second) == expected
    second.append(make_batch(200), 0, owned=False)
    second.truncate_to(1)
    second.append(make_batch(150), 0, owned=False)
    expected.append(stored(make_batch(150), 1, 0))
    assert contents(second) == expected
    assert b"".join(second.read(0, EVERYTHING, 2, at_least_one=True)) == b"".join(expected)


def test_log_follows_newer_epochs_only() -> None:
    log = Log()
    log.begin_epoch(3)
    log.follow_epoch(3, 0)
    log.follow_epoch(2, 0)
    assert list(log.epochs) == [(3, 0)]
    log.follow_epoch(5, 7)
    assert list(log.epochs) == [(3, 0), (5, 7)]


def compacted_to_a_gap(memory: LogMemory) -> Log:
    """Returns a log whose last segment has a batch up to offset 2 and ends at 4, because the batch at 4 was truncated."""
    log = Log(memory)
    for records in (2, 2, 2):
        log.append(make_batch(100, records=records), 0, owned=False)
    first, _, third = contents(log)
    log.replace_before(6, [first, third])
    log.truncate_to(5)
    return log


@pytest.mark.parametrize("offset", [2, 3, 4, 5])
def test_deletion_into_a_gap_leaves_no_segment(offset: int) -> None:
    memory = LogMemory(1 << 20, lambda: None)
    log = compacted_to_a_gap(memory)
    log.delete_before(offset)
    assert (log.start_offset, log.end_offset, log.size, memory.used_bytes) == (offset, 5, 0, 0)
    log.append(make_batch(100), 1, owned=False)
    assert contents(log) == [stored(make_batch(100), 5, 1)]


def test_reads_in_a_gap_after_the_last_batch_are_empty() -> None:
    segment = read_segment(memoryview(stored(make_batch(100, records=2), 0, 0)), 0, 10, 0)
    log = Log()
    log.load([segment], 0, 10, [(0, 0)])
    assert [len(log.read(offset, EVERYTHING, 10, at_least_one=True)) for offset in (0, 1, 2, 9)] == [1, 1, 0, 0]
    log.delete_before(5)
    assert (log.start_offset, log.end_offset, log.size) == (5, 10, 0)
