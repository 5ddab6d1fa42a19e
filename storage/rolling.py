"""Where Kafka would have begun a new segment file (UnifiedLog.maybeRoll, LogSegment.shouldRoll).

Retention deletes whole files there and compaction leaves the newest one alone, so clients see where files end. Here nothing is
kept in files: the boundaries follow from the sizes and timestamps of batches, and are looked for only when somebody asks, so
that an append costs nothing. Not done: files that end because time goes by while nothing with a timestamp is written.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from .log import Log
from .segments import EXTENT, max_timestamp_of, split

NO_TIMESTAMP = -1


class FileSegment(NamedTuple):
    """What one file would hold: the batches from `base_offset` to `end_offset` (exclusive)."""

    base_offset: int
    end_offset: int


class Rolling:
    """The boundaries of one log that were found so far; a log that was truncated needs a new one. The last file is the active one."""

    __slots__ = ("_first_timestamp", "_next_offset", "_size", "_starts")

    def __init__(self) -> None:
        self._restart(0)

    def segments(self, log: Log, segment_bytes: int, segment_ms: int) -> list[FileSegment]:
        """The files of `log`, oldest first; none if it is empty. The batches since the last call are looked at for new boundaries."""
        if log.start_offset >= self._next_offset:
            self._restart(log.start_offset)
        self._catch_up(log, segment_bytes, segment_ms)
        del self._starts[: bisect_right(self._starts, log.start_offset) - 1]
        if log.start_offset == log.end_offset:
            return []
        return [FileSegment(*bounds) for bounds in zip(self._starts, [*self._starts[1:], log.end_offset], strict=True)]

    def _restart(self, offset: int) -> None:
        self._starts = [offset]
        self._next_offset = offset
        self._size = 0
        self._first_timestamp = NO_TIMESTAMP

    def _catch_up(self, log: Log, segment_bytes: int, segment_ms: int) -> None:
        for batches, max_timestamp in log.runs(self._next_offset):
            if not self._size:
                self._first_timestamp = max_timestamp_of(batches)
            # Most runs fit as a whole, and none of their batches is looked at.
            if self._size + len(batches) > segment_bytes or self._waited(max_timestamp) > segment_ms:
                self._walk(batches, segment_bytes, segment_ms)
            else:
                self._size += len(batches)
        self._next_offset = log.end_offset

    def _walk(self, batches: memoryview, segment_bytes: int, segment_ms: int) -> None:
        for batch in split(batches):
            timestamp = max_timestamp_of(batch)
            if self._size and (self._size + len(batch) > segment_bytes or self._waited(timestamp) > segment_ms):
                self._starts.append(EXTENT.unpack_from(batch)[0])
                self._size = 0
            if not self._size:
                self._first_timestamp = timestamp
            self._size += len(batch)

    def _waited(self, timestamp: int) -> int:
        """How long after the first batch of the active file (ms)."""
        return timestamp - self._first_timestamp if self._first_timestamp >= 0 else 0
