"""Virtual segment files: the boundaries at which Kafka would have begun a new segment (UnifiedLog.maybeRoll, LogSegment.shouldRoll).

Kafka deletes whole segment files and does not compact the newest one, so that clients can observe where segments end. Here the
log is in memory, without files. The boundaries follow from the sizes and timestamps of the batches, and are computed only when
retention or compaction needs them, so that an append takes no longer.

Kafka also ends a segment when `segment.ms` passes without an append of records with timestamps. That is not emulated.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import NamedTuple

from .log import Log
from .segments import EXTENT, NO_TIMESTAMP, max_timestamp_of, split


class VirtualSegment(NamedTuple):
    """The batches that one segment file would hold, with offsets from `base_offset` to `end_offset` (exclusive)."""

    base_offset: int
    end_offset: int


class VirtualSegments:
    """The boundaries of one log that have been found so far. After the log was truncated, a new object is needed."""

    __slots__ = ("_first_timestamp", "_next_offset", "_size", "_starts")

    def __init__(self) -> None:
        self._restart(0)

    def load(self, log: Log, file_starts: Sequence[int]) -> None:
        """Makes the base offsets of the segment files of a log that was just loaded its boundaries."""
        self._restart(log.start_offset)
        starts = [start for start in file_starts if log.start_offset < start < log.end_offset]
        self._starts += starts
        self._next_offset = log.end_offset
        self._size = log.available(self._starts[-1], log.end_offset)
        first = log.read(self._starts[-1], 1, log.end_offset, at_least_one=True)
        self._first_timestamp = max_timestamp_of(first[0]) if first else NO_TIMESTAMP

    def of_log(self, log: Log, segment_bytes: int, segment_ms: int) -> list[VirtualSegment]:
        """Returns the segments of `log`, oldest first; an empty log has none. The last one is the active segment.

        Only the batches since the last call are searched for new boundaries.
        """
        if log.start_offset >= self._next_offset:
            self._restart(log.start_offset)
        self._read_new_batches(log, segment_bytes, segment_ms)
        del self._starts[: bisect_right(self._starts, log.start_offset) - 1]
        if log.start_offset == log.end_offset:
            return []
        return [VirtualSegment(*bounds) for bounds in zip(self._starts, [*self._starts[1:], log.end_offset], strict=True)]

    def _restart(self, offset: int) -> None:
        self._starts = [offset]
        self._next_offset = offset
        self._size = 0
        self._first_timestamp = NO_TIMESTAMP

    def _read_new_batches(self, log: Log, segment_bytes: int, segment_ms: int) -> None:
        for batches, max_timestamp in log.runs(self._next_offset):
            if not self._size:
                self._first_timestamp = max_timestamp_of(batches)
            # Most runs fit into the active segment as a whole, so that their batches need not be read.
            if self._size + len(batches) > segment_bytes or self._age(max_timestamp) > segment_ms:
                self._read_each_batch(batches, segment_bytes, segment_ms)
            else:
                self._size += len(batches)
        self._next_offset = log.end_offset

    def _read_each_batch(self, batches: memoryview, segment_bytes: int, segment_ms: int) -> None:
        for batch in split(batches):
            timestamp = max_timestamp_of(batch)
            if self._size and (self._size + len(batch) > segment_bytes or self._age(timestamp) > segment_ms):
                self._starts.append(EXTENT.unpack_from(batch)[0])
                self._size = 0
            if not self._size:
                self._first_timestamp = timestamp
            self._size += len(batch)

    def _age(self, timestamp: int) -> int:
        """Returns the time since the first batch of the active segment in ms, 0 if that has no timestamp."""
        return timestamp - self._first_timestamp if self._first_timestamp >= 0 else 0
