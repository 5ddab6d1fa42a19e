"""Decides which records to delete because of their age or the size of the log (UnifiedLog.deleteOldSegments).

Whole segments are deleted, the oldest first, up to the first one that has to stay.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from math import inf
from typing import NamedTuple

from .log import Log
from .segments import EXTENT
from .virtual_segments import VirtualSegment, VirtualSegments


class Retention(NamedTuple):
    """The settings of a topic. A negative `retention_ms` or `retention_bytes` means no limit."""

    retention_ms: int
    retention_bytes: int
    segment_bytes: int
    segment_ms: int


class UntimedAppends:
    """The times at which batches without timestamps were appended, to the second.

    They determine the age of a segment that has no timestamps at all. Kafka takes the time when the file was last modified.
    """

    __slots__ = ("_offsets", "_times_ms")

    def __init__(self) -> None:
        self._offsets: list[int] = []  # of the first batch in each second
        self._times_ms: list[int] = []

    def note(self, base_offset: int, now_ms: int) -> None:
        """Records an append. Entries for later offsets are removed, because those offsets have been truncated."""
        while self._offsets and self._offsets[-1] >= base_offset:
            del self._offsets[-1], self._times_ms[-1]
        if not self._times_ms or now_ms // 1000 != self._times_ms[-1] // 1000:
            self._offsets.append(base_offset)
            self._times_ms.append(now_ms)

    def last_before(self, offset: int) -> int:
        """Returns the time (ms) of the last append before an offset, 0 if there is none."""
        found = bisect_left(self._offsets, offset) - 1
        return self._times_ms[found] if found >= 0 else 0

    def delete_before(self, offset: int) -> None:
        """Removes the entries of deleted batches."""
        deleted = max(0, bisect_right(self._offsets, offset) - 1)
        del self._offsets[:deleted], self._times_ms[:deleted]


def deletable_before(
    log: Log, segments: VirtualSegments, limits: Retention, untimed: UntimedAppends, high_watermark: int, now_ms: int
) -> int:
    """Returns the offset before which all records may be deleted, the start of the log if none may.

    A log whose records are all too old is emptied, including the active segment.
    """
    surplus = log.size - limits.retention_bytes if limits.retention_bytes >= 0 else -1
    oldest_ms = now_ms - limits.retention_ms
    fresh_from = _first_since(log, oldest_ms) if limits.retention_ms >= 0 else log.start_offset
    if surplus <= 0 and fresh_from <= log.start_offset:
        return log.start_offset
    files = segments.of_log(log, limits.segment_bytes, limits.segment_ms)
    passed = 0
    for segment in files:
        surplus -= log.available(max(segment.base_offset, log.start_offset), segment.end_offset)
        if surplus < 0 or segment.end_offset > high_watermark:
            break
        passed += 1
    for segment in files[passed:]:
        if segment.end_offset > min(fresh_from, high_watermark):
            break
        if not _has_timestamps(log, segment) and untimed.last_before(segment.end_offset) >= oldest_ms:
            break
        passed += 1
    return files[passed - 1].end_offset if passed else log.start_offset


def next_deletion_ms(log: Log, segments: VirtualSegments, limits: Retention, untimed: UntimedAppends, high_watermark: int) -> float:
    """Returns the time (ms) from which `deletable_before` finds records if nothing changes before, 0 if at any time, `inf` if never."""
    files = segments.of_log(log, limits.segment_bytes, limits.segment_ms)
    if not files or files[0].end_offset > high_watermark:
        return inf
    end_offset = files[0].end_offset
    if 0 <= limits.retention_bytes < log.size and limits.retention_bytes <= log.size - log.available(log.start_offset, end_offset):
        return 0
    if limits.retention_ms < 0:
        return inf
    newest_ms = log.newest_timestamp(log.start_offset, end_offset)
    return (newest_ms if newest_ms >= 0 else untimed.last_before(end_offset)) + limits.retention_ms + 1


def _first_since(log: Log, timestamp: int) -> int:
    """Returns the base offset of the first batch whose latest record is from `timestamp` (ms) or later, else the end of the log."""
    batch = log.find_timestamp(timestamp, log.start_offset)
    return log.end_offset if batch is None else int(EXTENT.unpack_from(batch)[0])


def _has_timestamps(log: Log, segment: VirtualSegment) -> bool:
    batch = log.find_timestamp(0, segment.base_offset)
    return batch is not None and int(EXTENT.unpack_from(batch)[0]) < segment.end_offset
