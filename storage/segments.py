"""A segment: record batches that follow one another in memory, with a sparse index.

The storage reads and writes five header fields of a batch of format 2, at fixed positions: base offset (0), batch length (8, the
number of bytes that follow it), partition leader epoch (12), last offset delta (23), max timestamp (35). The length is read without a sign,
so that a search ends even in a file that was damaged after its index was written.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from struct import Struct

from .memory import KeptBytes

INDEX_INTERVAL_BYTES = 4096
HEADER_BYTES = 61
PREFIX_BYTES = 12  # base offset and batch length, which the batch length does not include
EXTENT = Struct(">qI11xi")  # base offset, batch length, last offset delta
_LENGTH = Struct(">I")
_MAX_TIMESTAMP = Struct(">q")
NO_TIMESTAMP = -1
"""The max timestamp of a batch whose records have none."""
_OLDEST = -(2**63)


Buffer = bytes | bytearray | memoryview


def split(batches: memoryview) -> Iterator[memoryview]:
    """Yields a view of each batch in `batches`, which must contain whole batches only."""
    position = 0
    while position < len(batches):
        following = position + _LENGTH.unpack_from(batches, position + 8)[0] + PREFIX_BYTES
        yield batches[position:following]
        position = following


def end_offset_of(batches: memoryview) -> int:
    """Returns the offset after the last of one or more whole batches."""
    position = end_offset = 0
    while position < len(batches):
        base_offset, length, last_offset_delta = EXTENT.unpack_from(batches, position)
        position += length + PREFIX_BYTES
        end_offset = base_offset + last_offset_delta + 1
    return end_offset


def max_timestamp_of(batch: Buffer) -> int:
    """Returns the largest record timestamp of a batch in ms, -1 if its records have none."""
    timestamp: int = _MAX_TIMESTAMP.unpack_from(batch, 35)[0]
    return timestamp


def read_segment(view: memoryview, base_offset: int, end_offset: int, log_start: int) -> Segment:
    """Returns a segment of all batches in `view`, which hold their offsets. Raises ValueError if these are not whole batches."""
    segment = Segment(view, 0, base_offset, log_start)
    while segment.end < len(view):
        if len(view) - segment.end < HEADER_BYTES:
            raise ValueError(f"{len(view) - segment.end} bytes after the last batch")
        offset, length, last_offset_delta = EXTENT.unpack_from(view, segment.end)
        size = length + PREFIX_BYTES
        if not HEADER_BYTES <= size <= len(view) - segment.end or offset < segment.end_offset or last_offset_delta < 0:
            raise ValueError(f"no batch of {size} bytes with the offset {offset} can follow the offset {segment.end_offset}")
        segment.end_offset = offset  # the offsets before it may have been removed
        segment.add(size, last_offset_delta, max_timestamp_of(view[segment.end :]))
    if end_offset > segment.end_offset:  # the batches of the last offsets were truncated
        segment.last_base_offset, segment.last_position, segment.end_offset = segment.end_offset, segment.end, end_offset
    return segment


class Segment:
    """Batches with offsets from `base_offset` to `end_offset` (exclusive), in the bytes `start` to `end` of `view`.

    `log_start` is the position of the first byte of `view` in the whole log, so that the bytes between two segments can be counted
    by subtraction. `kept` counts the bytes where memory is limited.
    """

    __slots__ = (
        "_max_timestamps",
        "_next_entry",
        "_offsets",
        "_positions",
        "base_offset",
        "end",
        "end_offset",
        "kept",
        "last_base_offset",
        "last_position",
        "log_start",
        "max_timestamp",
        "origin",
        "start",
        "view",
    )

    def __init__(self, view: memoryview, start: int, base_offset: int, log_start: int) -> None:
        self.view = view
        self.origin = self.start = self.end = start  # bytes from `origin` are kept in memory, those from `start` can be read
        self.base_offset = self.end_offset = base_offset
        self.log_start = log_start
        self.kept: KeptBytes | None = None
        self.max_timestamp = _OLDEST
        # The newest batch, which most fetches read, is found without a search.
        self.last_base_offset = base_offset
        self.last_position = start
        # An index entry about every 4 KiB: base offset and position of a batch, and the largest timestamp of all batches before it.
        self._next_entry = start + INDEX_INTERVAL_BYTES
        self._offsets = array("q")
        self._positions = array("I")
        self._max_timestamps = array("q")

    def copy(self) -> Segment:
        """Returns a segment with the same batches and the same index. Of the two, only one may be changed afterwards."""
        copy = Segment(self.view, self.start, self.base_offset, self.log_start)
        for name in Segment.__slots__:
            setattr(copy, name, getattr(self, name))
        return copy

    def add(self, size: int, last_offset_delta: int, max_timestamp: int) -> None:
        """Adds the batch that was written at `end`."""
        position, base_offset = self.end, self.end_offset
        if position >= self._next_entry:
            self._offsets.append(base_offset)
            self._positions.append(position)
            self._max_timestamps.append(self.max_timestamp)
            self._next_entry = position + INDEX_INTERVAL_BYTES
        if max_timestamp > self.max_timestamp:
            self.max_timestamp = max_timestamp
        self.last_base_offset = base_offset
        self.last_position = position
        self.end_offset = base_offset + last_offset_delta + 1
        self.end = position + size

    def add_segment(self, other: Segment) -> None:
        """Adds the batches of another segment, which follow at `end` in this view too."""
        shift, newest = self.end - other.start, self.max_timestamp
        first = bisect_right(other._positions, other.start)
        if self.end > self.start:
            self._offsets.append(other.base_offset)
            self._positions.append(self.end)
            self._max_timestamps.append(newest)
        self._offsets += other._offsets[first:]
        self._positions += _shifted(other._positions[first:], shift)
        self._max_timestamps += _at_least(other._max_timestamps[first:], newest)
        self.max_timestamp = max(newest, other.max_timestamp)
        self.last_base_offset, self.last_position, self.end_offset = other.last_base_offset, other.last_position + shift, other.end_offset
        self.end = other.end + shift

    def add_index(self, offsets: array[int], positions: array[int], max_timestamps: array[int]) -> None:
        """Adds the batches before the last entry of a complete index to an empty segment. The batch at this entry is to be added next.

        The batch at a position must contain the offset, and no batch before it may have a larger timestamp.
        """
        self._offsets, self._positions, self._max_timestamps = offsets, positions, max_timestamps
        self.end = self.last_position = positions[-1]
        self._next_entry = self.end + INDEX_INTERVAL_BYTES
        self.max_timestamp = max_timestamps[-1]

    def indexed(self) -> Iterator[tuple[int, int, int, int]]:
        """Yields the base offset and position of the first batch and of each indexed one, with two timestamps (ms).

        They are the largest one of all batches before it in this segment, and its own.
        """
        yield self.base_offset, self.start, NO_TIMESTAMP, max_timestamp_of(self.view[self.start :])
        for offset, position, newest_before in zip(self._offsets, self._positions, self._max_timestamps, strict=True):
            if position > self.start:
                yield offset, position, newest_before, max_timestamp_of(self.view[position:])

    def locate(self, offset: int) -> int:
        """Returns the position of the first batch that contains `offset` or a later one, `end` if there is none."""
        if self.last_base_offset <= offset < self.end_offset:
            return self.last_position
        if offset <= self.base_offset:
            return self.start
        position, view, end = self._indexed_position(bisect_right(self._offsets, offset) - 1), self.view, self.end
        while position < end:
            base_offset, length, last_offset_delta = EXTENT.unpack_from(view, position)
            if base_offset + last_offset_delta >= offset:
                break
            position += length + PREFIX_BYTES
        return position

    def cut(self, start: int, end_offset: int, max_bytes: int, *, at_least_one: bool) -> int:
        """Returns the end of a slice from `start` with at most `max_bytes` of whole batches that begin before `end_offset`.

        With `at_least_one`, the first batch may be larger than `max_bytes`.
        """
        if self.end - start <= max_bytes and self.end_offset <= end_offset:
            return self.end
        limit = start + max_bytes
        entry = min(bisect_left(self._offsets, end_offset), bisect_right(self._positions, limit)) - 1
        position = max(start, self._indexed_position(entry))
        while position < self.end:
            base_offset, length, _ = EXTENT.unpack_from(self.view, position)
            following = position + length + PREFIX_BYTES
            if base_offset >= end_offset or (following > limit and (position > start or not at_least_one)):
                break
            position = following
        return position

    def find_timestamp(self, timestamp: int, start: int) -> memoryview | None:
        """Returns the first batch from position `start` whose max timestamp is `timestamp` or later."""
        position = max(start, self._indexed_position(bisect_left(self._max_timestamps, timestamp) - 1))
        return next((batch for batch in split(self.view[position : self.end]) if max_timestamp_of(batch) >= timestamp), None)

    def delete_before(self, offset: int) -> None:
        """Removes the batches before the one that contains `offset`, which is in this segment or in the gap before it."""
        self.start = self.locate(offset)
        self.base_offset = EXTENT.unpack_from(self.view, self.start)[0]
        self._lower_max_timestamp()

    def truncate_to(self, offset: int) -> None:
        """Removes the batch that contains `offset` and those after it. No batch may be added afterwards."""
        position = self.locate(offset)
        if position >= self.end:
            return
        kept = bisect_left(self._positions, position)
        self._offsets, self._positions, self._max_timestamps = self._offsets[:kept], self._positions[:kept], self._max_timestamps[:kept]
        self.end_offset = EXTENT.unpack_from(self.view, position)[0]
        self.end = position
        self._lower_max_timestamp()

    def _lower_max_timestamp(self) -> None:
        """Lowers `max_timestamp` if it was that of a removed batch."""
        if self.find_timestamp(self.max_timestamp, self.start) is None:
            self.max_timestamp = max(map(max_timestamp_of, split(self.view[self.start : self.end])), default=_OLDEST)

    def _indexed_position(self, entry: int) -> int:
        """Returns the position in index entry `entry`, `start` for -1."""
        return max(self.start, self._positions[entry]) if entry >= 0 else self.start


def _shifted(positions: array[int], shift: int) -> array[int]:
    return array("I", [position + shift for position in positions]) if shift else positions


def _at_least(timestamps: array[int], least: int) -> array[int]:
    if not timestamps or timestamps[0] >= least:  # they ascend
        return timestamps
    return array("q", [max(timestamp, least) for timestamp in timestamps])
