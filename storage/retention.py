"""Which records are too old or too many (UnifiedLog.deleteOldSegments): whole files, oldest first, up to the first that stays."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from .log import Log
from .rolling import FileSegment, Rolling
from .segments import EXTENT


class Retention(NamedTuple):
    """A topic's limits; a negative one is none. `segment_bytes` and `segment_ms` say when files end."""

    retention_ms: int
    retention_bytes: int
    segment_bytes: int
    segment_ms: int


class UntimedAppends:
    """When batches without timestamps were appended, to the second. A file of nothing else ages by it, in Kafka by its last change."""

    __slots__ = ("_offsets", "_times_ms")

    def __init__(self) -> None:
        self._offsets: list[int] = []  # of the first batch in each second that has one
        self._times_ms: list[int] = []

    def note(self, base_offset: int, now_ms: int) -> None:
        """A batch was appended; what was noted for later offsets has been truncated meanwhile."""
        while self._offsets and self._offsets[-1] >= base_offset:
            del self._offsets[-1], self._times_ms[-1]
        if not self._times_ms or now_ms // 1000 != self._times_ms[-1] // 1000:
            self._offsets.append(base_offset)
            self._times_ms.append(now_ms)

    def last_before(self, offset: int) -> int:
        """The time (ms) of the last one before an offset, 0 if none is known."""
        found = bisect_left(self._offsets, offset) - 1
        return self._times_ms[found] if found >= 0 else 0

    def delete_before(self, offset: int) -> None:
        """Forgets what is no longer in the log."""
        gone = max(0, bisect_right(self._offsets, offset) - 1)
        del self._offsets[:gone], self._times_ms[:gone]


def deletable_before(log: Log, rolling: Rolling, limits: Retention, untimed: UntimedAppends, high_watermark: int, now_ms: int) -> int:
    """The offset before which everything may go; the log's start if nothing may. A log whose records are all too old is emptied."""
    surplus = log.size - limits.retention_bytes if limits.retention_bytes >= 0 else -1
    oldest_ms = now_ms - limits.retention_ms
    fresh_from = _first_since(log, oldest_ms) if limits.retention_ms >= 0 else log.start_offset
    if surplus <= 0 and fresh_from <= log.start_offset:
        return log.start_offset
    segments = rolling.segments(log, limits.segment_bytes, limits.segment_ms)
    passed = 0
    for segment in segments:
        surplus -= log.available(max(segment.base_offset, log.start_offset), segment.end_offset)
        if surplus < 0 or segment.end_offset > high_watermark:
            break
        passed += 1
    for segment in segments[passed:]:
        if segment.end_offset > min(fresh_from, high_watermark):
            break
        if not _has_timestamps(log, segment) and untimed.last_before(segment.end_offset) >= oldest_ms:
            break
        passed += 1
    return segments[passed - 1].end_offset if passed else log.start_offset


def _first_since(log: Log, timestamp: int) -> int:
    """The base offset of the first batch with records from `timestamp` (ms) on; the end of the log if there is none."""
    batch = log.find_timestamp(timestamp, log.start_offset)
    return log.end_offset if batch is None else int(EXTENT.unpack_from(batch)[0])


def _has_timestamps(log: Log, segment: FileSegment) -> bool:
    batch = log.find_timestamp(0, segment.base_offset)
    return batch is not None and int(EXTENT.unpack_from(batch)[0]) < segment.end_offset
