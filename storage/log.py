"""The log of one partition: record batches of format 2 as opaque bytes in memory.

A batch of less than 32 KiB is copied into an *arena*, a block of memory that many batches share. The first arena takes 64 KiB, and each new
one as much as the log at that time, up to 16 MiB. A larger batch may stay in the block that it was received in, because copying it would
take longer than managing a block of its own. So a log is a list of `Segment`s, each of which is either a part of an arena or one large
batch.

A read returns one slice per segment, without a copy. Slices remain in use while they are being sent, so bytes are never changed after they
have been written: after a truncation, new batches are written after the truncated bytes of the arena, in a new segment.

Deleting frees the segments before the start offset. A block of memory that no segment refers to any more is given back (`blocks.py`), and
may serve again when no slice refers to it either.

Snapshots share the segments of a log (`seal`, `adopt`). Therefore only the last segment grows, until it is sealed, and any other change
replaces a segment by a changed copy.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from struct import Struct

from .blocks import KEEPS_NOTHING, TOUCH_BYTES, Blocks, touch
from .epochs import LeaderEpochs
from .memory import KeptBytes, LogMemory
from .segments import EXTENT, NO_TIMESTAMP, PREFIX_BYTES, Buffer, Segment, max_timestamp_of, split

KEEP_BYTES = 32 * 1024  # from this size on, copying a batch takes longer than keeping its block
MIN_ARENA_BYTES = 64 * 1024
MAX_ARENA_BYTES = 16 * 1024 * 1024
PACKED_BYTES = 4 * 1024 * 1024
"""The size of the arenas of compacted batches. Each is filled in one turn, which takes a few milliseconds."""
_TOUCHED_PART = 16  # the pages of an arena are provided in steps of this part of it, so that a small log takes little memory

_NO_ARENA = memoryview(bytearray())

_pack_prefix = Struct(">qii").pack_into  # base offset, batch length, partition leader epoch
_unpack_tail = Struct(">i8xq").unpack_from  # from 23: last offset delta, max timestamp
_base_offset = attrgetter("base_offset")


class Log:
    """Batches with offsets from `start_offset` to `end_offset` (exclusive). The views that it returns are read-only and never change."""

    __slots__ = ("_arena", "_blocks", "_epochs", "_limit", "_segments", "_used", "_view", "end_offset", "memory", "start_offset")

    def __init__(self, memory: LogMemory | None = None, blocks: Blocks = KEEPS_NOTHING) -> None:
        self.memory = memory
        self._blocks = blocks
        self.start_offset = 0
        self.end_offset = 0
        self._segments: list[Segment] = []
        self._epochs = LeaderEpochs()
        self._arena = self._view = _NO_ARENA
        self._used = 0  # bytes of the arena that have been written, truncated ones included
        self._limit = 0  # the position in the arena up to which the last segment may grow into pages, 0 if it may not grow

    @property
    def size(self) -> int:
        """The number of bytes that can be read."""
        if not self._segments:
            return 0
        first, last = self._segments[0], self._segments[-1]
        return (last.log_start + last.end) - (first.log_start + first.start)

    def append(self, batch: memoryview, leader_epoch: int, *, owned: bool) -> int:
        """Appends a validated batch and returns its base offset. The header fields that a broker assigns are written into it.

        With `owned`, the log may keep the memory of the batch, which must be writable, instead of copying it.
        """
        last_offset_delta, max_timestamp = _unpack_tail(batch, 23)
        if not owned or len(batch) < KEEP_BYTES:
            return self.append_copy(batch, leader_epoch, last_offset_delta, max_timestamp)
        base_offset, size = self.end_offset, len(batch)
        if leader_epoch != self._epochs.latest:
            self._epochs.begin(leader_epoch, base_offset)
        _pack_prefix(batch, 0, base_offset, size - PREFIX_BYTES, leader_epoch)
        segment = self._open(batch.toreadonly(), 0)
        self._limit = 0
        segment.add(size, last_offset_delta, max_timestamp)
        self.end_offset = segment.end_offset
        if segment.kept is not None:
            segment.kept.add(size)
        return base_offset

    def append_copy(self, batch: memoryview, leader_epoch: int, last_offset_delta: int, max_timestamp: int) -> int:
        """Appends a copy of a validated batch, of whose header the caller has read two fields. Returns its base offset."""
        base_offset, size, position = self.end_offset, len(batch), self._used
        end = position + size
        if leader_epoch != self._epochs.latest:
            self._epochs.begin(leader_epoch, base_offset)
        if end > self._limit:
            position = self._open_in_arena(size)
            end = position + size
        arena = self._arena
        arena[position:end] = batch
        self._used = end
        _pack_prefix(arena, position, base_offset, size - PREFIX_BYTES, leader_epoch)
        segment = self._segments[-1]
        segment.add(size, last_offset_delta, max_timestamp)
        self.end_offset = segment.end_offset
        if segment.kept is not None:
            segment.kept.add(size)
        return base_offset

    def read(self, offset: int, max_bytes: int, end_offset: int, *, at_least_one: bool) -> list[memoryview]:
        """Returns whole batches from the one that contains `offset`, at most `max_bytes`, as one slice per segment.

        Reading stops at `end_offset`, which must be the base offset of a batch or the end (high watermark, last stable offset).
        With `at_least_one`, the first batch is returned even if it is larger than `max_bytes` (KIP-74). `offset` must be between
        the log's `start_offset` and `end_offset`.
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
        """Returns the exact number of bytes that `read` would return without a limit, in O(log n)."""
        if offset >= end_offset or not self._segments:
            return 0
        first = self._segments[self._segment_of(offset)]
        last = self._segments[self._segment_of(end_offset)]
        end = last.cut(last.start, end_offset, sys.maxsize, at_least_one=False)
        return (last.log_start + end) - (first.log_start + first.locate(offset))

    def batch_start(self, offset: int) -> int:
        """Returns the base offset of the batch that contains `offset`, and `offset` if there is no such batch."""
        if offset >= self.end_offset or not self._segments:
            return offset
        segment = self._segments[self._segment_of(offset)]
        position = segment.locate(offset)
        return offset if position == segment.end else min(offset, EXTENT.unpack_from(segment.view, position)[0])

    def batches(self, start_offset: int, end_offset: int) -> Iterator[memoryview]:
        """Yields each batch that `read` would return without a limit."""
        for batches in self.read(start_offset, sys.maxsize, end_offset, at_least_one=False):
            yield from split(batches)

    def runs(self, offset: int) -> Iterator[tuple[memoryview, int]]:
        """Yields (batches of one segment, an upper bound of their timestamps), from the batch that contains `offset` to the end."""
        if offset >= self.end_offset or not self._segments:
            return
        for index in range(self._segment_of(offset), len(self._segments)):
            segment = self._segments[index]
            yield segment.view[segment.locate(offset) : segment.end], segment.max_timestamp

    def find_timestamp(self, timestamp: int, offset: int = 0) -> memoryview | None:
        """Returns the first batch that ends after `offset` and whose max timestamp is `timestamp` (ms) or later."""
        for segment in self._segments:
            if segment.max_timestamp >= timestamp and segment.end_offset > offset:
                batch = segment.find_timestamp(timestamp, segment.locate(offset))
                if batch is not None:
                    return batch
        return None

    def latest_timestamp(self) -> memoryview | None:
        """Returns the first of the batches with the largest max timestamp."""
        if not self._segments:
            return None
        return self.find_timestamp(max(segment.max_timestamp for segment in self._segments), self.start_offset)

    def newest_timestamp(self, start_offset: int, end_offset: int) -> int:
        """Returns the largest max timestamp of the batches from `start_offset` to `end_offset`, -1 if none has a timestamp."""
        newest = NO_TIMESTAMP
        for segment in self._segments:
            if start_offset <= segment.base_offset and segment.end_offset <= end_offset:
                newest = max(newest, segment.max_timestamp)
            elif segment.base_offset < end_offset and segment.end_offset > start_offset:
                start = segment.locate(start_offset)
                end = segment.cut(start, end_offset, sys.maxsize, at_least_one=False)
                newest = max(newest, *map(max_timestamp_of, split(segment.view[start:end])), NO_TIMESTAMP)
        return newest

    def delete_before(self, offset: int) -> None:
        """Moves `start_offset` to `offset`, at most to the end, and frees the segments before it. Does not move it back."""
        offset = min(offset, self.end_offset)
        if offset <= self.start_offset:
            return
        self.start_offset = offset
        self._epochs.delete_before(offset)
        kept = [segment for segment in self._segments if segment.end_offset > offset]
        if kept and kept[0].locate(offset) == kept[0].end:
            kept.pop(0)  # its last offsets have no batch, because that was compacted or truncated
        if kept:
            kept[0] = kept[0].copy()
            kept[0].delete_before(offset)
        self._replace_segments(kept)

    def replace_before(self, offset: int, batches: Sequence[Buffer]) -> None:
        """Replaces the batches before `offset`, the base offset of a batch or the end, by `batches` (compaction).

        Their headers already hold offsets, in ascending order and possibly with gaps, and leader epochs. The start offset and the
        end offset of the log stay the same.
        """
        self.replace_by_segments(offset, list(self.packed(batches)))

    def packed(self, batches: Sequence[Buffer]) -> Iterator[Segment]:
        """Yields segments with copies of batches, for `replace_by_segments`. Each step copies at most PACKED_BYTES or one batch."""
        return _packed(batches, self._blocks)

    def replace_by_segments(self, offset: int, replacing: Sequence[Segment]) -> None:
        """Replaces the batches before `offset` as `replace_before` does, by those of `packed`."""
        kept = [segment.copy() for segment in self._segments if segment.end_offset > offset]
        if kept:
            kept[0].delete_before(offset)
        segments = [*replacing, *kept]
        log_end = 0
        for segment in segments:
            segment.log_start = log_end - segment.start
            log_end += segment.end - segment.start
        if not kept:
            self._limit = 0
        self._replace_segments(segments)

    def truncate_to(self, offset: int) -> None:
        """Removes the batch that contains `offset` and those after it, so that the log ends at `offset` (an unclean leader election)."""
        self._epochs.truncate_to(offset)
        if offset >= self.end_offset:
            return
        self.end_offset = offset
        self.start_offset = min(self.start_offset, offset)
        kept = [segment for segment in self._segments if segment.base_offset < offset]
        if kept:
            kept[-1] = kept[-1].copy()
            kept[-1].truncate_to(offset)
            if kept[-1].end <= kept[-1].start:
                kept.pop()
        self._limit = 0
        self._replace_segments(kept)

    # Sharing with snapshots

    def seal(self) -> None:
        """Prevents the last segment from growing, so that it may be shared."""
        self._limit = 0

    def adopt(self, segments: Sequence[Segment]) -> None:
        """Makes sealed segments with positions in a log the contents of this empty log. The next append opens an arena."""
        self._replace_segments(list(segments))

    def load(self, segments: Sequence[Segment], start_offset: int, end_offset: int, epochs: Iterable[tuple[int, int]]) -> None:
        """Makes segments with positions in a log, offsets and leader epochs with their starts the contents of this empty log."""
        self._replace_segments(list(segments))
        self.start_offset, self.end_offset = start_offset, end_offset
        self._epochs = LeaderEpochs()
        for epoch, epoch_start in epochs:
            self._epochs.begin(epoch, epoch_start)

    def follow_epoch(self, epoch: int, start_offset: int) -> None:
        """Starts the leader epoch of a batch at `start_offset`, unless a newer one is known."""
        if epoch > self._epochs.latest:
            self._epochs.begin(epoch, start_offset)

    def empty(self) -> None:
        """Releases the memory of a log that is no longer used."""
        self._replace_segments([])

    def begin_epoch(self, epoch: int) -> None:
        """Starts a leader epoch at `end_offset`."""
        self._epochs.begin(epoch, self.end_offset)

    @property
    def epoch_start_offset(self) -> int:
        """The offset at which the latest leader epoch starts."""
        return self._epochs.latest_start

    @property
    def epochs(self) -> Iterator[tuple[int, int]]:
        """The leader epochs, each with the offset at which it starts."""
        return iter(self._epochs)

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """Returns (the largest known epoch <= `epoch`, its end offset), or (-1, -1); see `LeaderEpochs`."""
        return self._epochs.end_offset_for(epoch, self.end_offset)

    def epoch_at(self, offset: int) -> int:
        """Returns the leader epoch of the batch that contains `offset`, or of the next batch for the end offset; -1 if unknown."""
        return self._epochs.epoch_at(offset)

    def _segment_of(self, offset: int) -> int:
        """Returns the index of the last segment that starts at or before `offset`."""
        last = len(self._segments) - 1
        if offset >= self._segments[last].base_offset:
            return last
        return max(0, bisect_right(self._segments, offset, key=_base_offset) - 1)

    def _open_in_arena(self, size: int) -> int:
        """Starts a segment, or extends the last one, by room for `size` bytes, and returns the position of these in the arena."""
        if len(self._arena) - self._used < size:
            capacity = max(size, min(max(self.size, MIN_ARENA_BYTES), MAX_ARENA_BYTES))
            self._arena = self._blocks.take(capacity)
            self._view = self._arena.toreadonly()
            self._used = self._limit = 0
        if not self._limit:
            self._open(self._view, self._used)
        step = min(len(self._arena) // _TOUCHED_PART, TOUCH_BYTES)
        self._limit = touch(self._arena, min(self._used + max(size, step), len(self._arena)))
        return self._used

    def _open(self, view: memoryview, start: int) -> Segment:
        log_end = self._segments[-1].log_start + self._segments[-1].end if self._segments else 0
        segment = Segment(view, start, self.end_offset, log_end - start)
        if self.memory is not None:
            segment.kept = KeptBytes(self.memory)
        self._segments.append(segment)
        return segment

    def _leave_arena(self) -> None:
        """Lets the next small batch open an arena."""
        self._limit = self._used = 0
        self._arena = self._view = _NO_ARENA

    def _replace_segments(self, segments: list[Segment]) -> None:
        """Replaces the segments, counts the memory of the new ones, and gives back the blocks that none of them needs."""
        needed = {id(segment.view.obj) for segment in segments}
        blocks = {id(segment.view.obj): segment.view.obj for segment in self._segments}
        self._segments = segments
        if not segments:
            self._leave_arena()
        if self.memory is not None:
            for segment in segments:
                if segment.kept is None:
                    segment.kept = KeptBytes(self.memory, segment.end - segment.origin)
        self._blocks.give_back(block for identity, block in blocks.items() if identity not in needed)


def _packed(batches: Sequence[Buffer], blocks: Blocks) -> Iterator[Segment]:
    """Yields segments with copies of these batches."""
    left = sum(map(len, batches))
    segment, arena = None, _NO_ARENA
    for batch in batches:
        size = len(batch)
        if segment is None or segment.end + size > len(arena):
            if segment is not None:
                yield segment
            arena = blocks.take(max(size, min(left, PACKED_BYTES)))
            touch(arena, len(arena))
            segment = Segment(arena.toreadonly(), 0, EXTENT.unpack_from(batch)[0], 0)
        arena[segment.end : segment.end + size] = batch
        base_offset, _, last_offset_delta = EXTENT.unpack_from(batch)
        segment.end_offset = base_offset  # the offsets before it may have been removed
        segment.add(size, last_offset_delta, max_timestamp_of(batch))
        left -= size
    if segment is not None:
        yield segment
