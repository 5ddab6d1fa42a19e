"""Which records are too old or too many (UnifiedLog.deleteOldSegments): whole files, oldest first, up to the first that stays."""

from __future__ import annotations

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


def deletable_before(log: Log, rolling: Rolling, limits: Retention, high_watermark: int, now_ms: int) -> int:
    """The offset before which everything may go; the log's start if nothing may. A log whose records are all too old is emptied."""
    surplus = log.size - limits.retention_bytes if limits.retention_bytes >= 0 else -1
    fresh_from = _first_since(log, now_ms - limits.retention_ms) if limits.retention_ms >= 0 else log.start_offset
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
        if segment.end_offset > min(fresh_from, high_watermark) or not _has_timestamps(log, segment):
            break
        passed += 1
    return segments[passed - 1].end_offset if passed else log.start_offset


def _first_since(log: Log, timestamp: int) -> int:
    """The base offset of the first batch with records from `timestamp` (ms) on; the end of the log if there is none."""
    batch = log.find_timestamp(timestamp, log.start_offset)
    return log.end_offset if batch is None else int(EXTENT.unpack_from(batch)[0])


def _has_timestamps(log: Log, segment: FileSegment) -> bool:
    """Kafka goes by the file's age where records have no timestamps; here they do not age."""
    batch = log.find_timestamp(0, segment.base_offset)
    return batch is not None and int(EXTENT.unpack_from(batch)[0]) < segment.end_offset
