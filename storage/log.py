"""The log of one partition: record batches v2 as opaque bytes, in memory.

Small batches are copied once, into arenas of 64 KiB and more that grow with the log; large ones may stay in the memory they
were received in. Both are `Segment`s, so a read is one slice per segment and never a copy. Bytes that were once written stay as they
are as long as somebody holds a view of them: what follows a truncation goes behind them.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter
from struct import Struct

from .epochs import LeaderEpochs
from .memory import LogMemory, untouched
from .segments import EXTENT, PREFIX_BYTES, Buffer, Segment, max_timestamp_of, split

KEEP_BYTES = 32 * 1024  # from here on a copy costs more than a memory block of its own
MIN_ARENA_BYTES = 64 * 1024
MAX_ARENA_BYTES = 16 * 1024 * 1024

_NO_ARENA = memoryview(bytearray())

_PREFIX = Struct(">qii")  # base offset, batch length, partition leader epoch
_TAIL = Struct(">i8xq")  # from 23: last offset delta, max timestamp
_base_offset = attrgetter("base_offset")


class Log:
    """Batches from `start_offset` to `end_offset` (exclusive). Views it hands out are read-only and never change."""

    __slots__ = ("_arena", "_epochs", "_kept", "_limit", "_segments", "_used", "_view", "end_offset", "memory", "start_offset")

    def __init__(self, memory: LogMemory | None = None) -> None:
        self.memory = memory
        self._kept = 0  # bytes that are counted in `memory`
        self.start_offset = 0
        self.end_offset = 0
        self._segments: list[Segment] = []
        self._epochs = LeaderEpochs()
        self._arena = self._view = _NO_ARENA
        self._used = 0  # bytes of the arena that were ever written
        self._limit = 0  # how far into the arena the last segment may grow; 0: it may not

    @property
    def size(self) -> int:
        """Bytes that can be read."""
        if not self._segments:
            return 0
        first, last = self._segments[0], self._segments[-1]
        return (last.log_start + last.end) - (first.log_start + first.start)

    def append(self, batch: memoryview, leader_epoch: int, *, owned: bool) -> int:
        """Stores a validated batch and returns the base offset it got.

        `owned` gives the batch's writable memory away: a large one is kept and patched where it is.
        """
        base_offset, size = self.end_offset, len(batch)
        if leader_epoch != self._epochs.latest:
            self._epochs.begin(leader_epoch, base_offset)
        if owned and size >= KEEP_BYTES:
            _PREFIX.pack_into(batch, 0, base_offset, size - PREFIX_BYTES, leader_epoch)
            segment = self._open(batch.toreadonly(), 0)
            self._limit = 0
        else:
            position = self._used
            if position + size > self._limit:
                position = self._prepare(size)
            arena = self._arena
            self._used = end = position + size
            arena[position:end] = batch
            _PREFIX.pack_into(arena, position, base_offset, size - PREFIX_BYTES, leader_epoch)
            segment = self._segments[-1]
        last_offset_delta, max_timestamp = _TAIL.unpack_from(batch, 23)
        segment.add(size, last_offset_delta, max_timestamp)
        self.end_offset = segment.end_offset
        if self.memory is not None:
            self.memory.used_bytes += size
            self._kept += size
        return base_offset

    def read(self, offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool) -> list[memoryview]:
        """Whole batches from the one that holds `offset` on, one slice per segment, at most `max_bytes` together.

        `end_offset` is a boundary of batches (high watermark, last stable offset) where reading stops. With `at_least_one` the
        first batch comes even if it is larger (KIP-74). `offset` must be from `start_offset` to `end_offset` of the log.
        """
        if offset >= end_offset or not self._segments:
            return []
        slices: list[memoryview] = []
        for index in range(self._segment_of(offset), len(self._segments)):
            segment = self._segments[index]
            start = segment.locate(offset)
            end = segment.cut(start, end_offset, max_bytes, at_least_one=at_least_one and not slices)
            if end > start:
                slices.append(segment.view[start:end])
                max_bytes -= end - start
            if end < segment.end:
                break
        return slices

    def available(self, offset: int, end_offset: int) -> int:
        """How many bytes `read` finds without a limit; exact, in O(log n)."""
        if offset >= end_offset or not self._segments:
            return 0
        first = self._segments[self._segment_of(offset)]
        last = self._segments[self._segment_of(end_offset)]
        end = last.cut(last.start, end_offset, sys.maxsize, at_least_one=False)
        return (last.log_start + end) - (first.log_start + first.locate(offset))

    def batches(self, start_offset: int, end_offset: int) -> Iterator[memoryview]:
        """What `read` finds without a limit, batch by batch."""
        for batches in self.read(start_offset, sys.maxsize, end_offset, at_least_one=False):
            yield from split(batches)

    def runs(self, offset: int) -> Iterator[tuple[memoryview, int]]:
        """All batches from the one that holds `offset` on: (some that lie together, the most that a max timestamp of theirs may be)."""
        if offset >= self.end_offset or not self._segments:
            return
        for index in range(self._segment_of(offset), len(self._segments)):
            segment = self._segments[index]
            yield segment.view[segment.locate(offset) : segment.end], segment.max_timestamp

    def find_timestamp(self, timestamp: int, offset: int = 0) -> memoryview | None:
        """The first batch whose max timestamp is `timestamp` (ms) or later, of those that end behind `offset`."""
        for segment in self._segments:
            if segment.max_timestamp >= timestamp and segment.end_offset > offset:
                batch = segment.find_timestamp(timestamp, segment.locate(offset))
                if batch is not None:
                    return batch
        return None

    def latest_timestamp(self) -> memoryview | None:
        """The first of the batches that have the largest max timestamp."""
        if not self._segments:
            return None
        return self.find_timestamp(max(segment.max_timestamp for segment in self._segments), self.start_offset)

    def delete_before(self, offset: int) -> None:
        """Moves `start_offset` up to `offset`, at most to the end, and frees the segments that end there or before."""
        offset = min(offset, self.end_offset)
        if offset <= self.start_offset:
            return
        self.start_offset = offset
        self._epochs.delete_before(offset)
        self._segments = [segment for segment in self._segments if segment.end_offset > offset]
        if self._segments:
            self._segments[0].delete_before(offset)
        else:
            self._close()
        self._recount()

    def replace_before(self, offset: int, batches: Sequence[Buffer]) -> None:
        """Has `batches` take the place of those before `offset`, a boundary of batches (compaction).

        They have their offsets and epochs already, which rise but need not be without gaps. Start and end of the log stay.
        """
        kept = [segment for segment in self._segments if segment.end_offset > offset]
        if kept:
            kept[0].delete_before(offset)
        self._segments = [*_packed(batches), *kept]
        log_end = 0
        for segment in self._segments:
            segment.log_start = log_end - segment.start
            log_end += segment.end - segment.start
        if not kept:
            self._close()
        self._recount()

    def truncate_to(self, offset: int) -> None:
        """Drops the batches from the one that holds `offset` on; the log then ends at `offset` (an unclean election)."""
        self._epochs.truncate_to(offset)
        if offset >= self.end_offset:
            return
        self.end_offset = offset
        self.start_offset = min(self.start_offset, offset)
        while self._segments and self._segments[-1].base_offset >= offset:
            self._segments.pop()
        if self._segments:
            last = self._segments[-1]
            last.truncate_to(offset)
            if last.end <= last.start:
                self._segments.pop()
        self._close()
        self._recount()

    def begin_epoch(self, epoch: int) -> None:
        """A new leader starts to write at `end_offset`."""
        self._epochs.begin(epoch, self.end_offset)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The answer to OffsetForLeaderEpoch: (largest known epoch <= `epoch`, its end offset), (-1, -1) if undefined."""
        return self._epochs.end_offset_for(epoch, self.end_offset)

    def epoch_at(self, offset: int) -> int:
        """The leader epoch of the batch that holds `offset`, at the log's end that of the next one; -1 unknown."""
        return self._epochs.epoch_at(offset)

    def _segment_of(self, offset: int) -> int:
        """The index of the last segment that starts at or before `offset`."""
        last = len(self._segments) - 1
        if offset >= self._segments[last].base_offset:
            return last
        return max(0, bisect_right(self._segments, offset, key=_base_offset) - 1)

    def _prepare(self, size: int) -> int:
        """Starts a segment that has room for `size` bytes and returns its position in the arena."""
        if len(self._arena) - self._used < size:
            capacity = max(size, min(max(self.size, MIN_ARENA_BYTES), MAX_ARENA_BYTES))
            self._arena = untouched(capacity)
            self._view = self._arena.toreadonly()
            self._used = 0
        self._limit = len(self._arena)
        self._open(self._view, self._used)
        return self._used

    def _open(self, view: memoryview, start: int) -> Segment:
        log_end = self._segments[-1].log_start + self._segments[-1].end if self._segments else 0
        segment = Segment(view, start, self.end_offset, log_end - start)
        self._segments.append(segment)
        return segment

    def _recount(self) -> None:
        """Has what is no longer kept freed in `memory`."""
        if self.memory is not None:
            before, self._kept = self._kept, sum(segment.end - segment.origin for segment in self._segments)
            self.memory.free(before - self._kept)

    def _close(self) -> None:
        """Lets the last segment grow no further, and the arena go if nothing is left in it."""
        self._limit = 0
        if not self._segments:
            self._arena = self._view = _NO_ARENA
            self._used = 0


def _packed(batches: Sequence[Buffer]) -> Iterator[Segment]:
    """New segments with copies of these batches."""
    left = sum(map(len, batches))
    segment, arena = None, _NO_ARENA
    for batch in batches:
        size = len(batch)
        if segment is None or segment.end + size > len(arena):
            if segment is not None:
                yield segment
            arena = untouched(max(size, min(left, MAX_ARENA_BYTES)))
            segment = Segment(arena.toreadonly(), 0, EXTENT.unpack_from(batch)[0], 0)
        arena[segment.end : segment.end + size] = batch
        base_offset, _, last_offset_delta = EXTENT.unpack_from(batch)
        segment.end_offset = base_offset  # offsets before it may be gone
        segment.add(size, last_offset_delta, max_timestamp_of(batch))
        left -= size
    if segment is not None:
        yield segment
