"""Which part of a log is to be compacted, and when (LogCleanerManager). What becomes of its records needs their keys: the broker's part.

Before `cleaned_until` every key is there once; behind it, up to the active file, records are dirty.
"""

from __future__ import annotations

from typing import NamedTuple

from .log import Log
from .rolling import FileSegment, Rolling
from .segments import EXTENT, max_timestamp_of


class CompactionLimits(NamedTuple):
    """A topic's settings: how dirty a log must be, and how long records stay as they are at least and at most (ms)."""

    min_dirty_ratio: float
    min_lag_ms: int
    max_lag_ms: int
    segment_bytes: int
    segment_ms: int


class Dirty(NamedTuple):
    """Offsets of what is to be compacted next, `end_offset` exclusive, and whether it is time to."""

    start_offset: int
    end_offset: int
    due: bool


def dirty_part(log: Log, rolling: Rolling, limits: CompactionLimits, cleaned_until: int, stable_end: int, now_ms: int) -> Dirty | None:
    """None if there is nothing to compact. `stable_end` is the last stable offset: open transactions stay as they are."""
    start = max(cleaned_until, log.start_offset)
    files = rolling.segments(log, limits.segment_bytes, limits.segment_ms)[:-1]
    closed = [segment for segment in files if segment.end_offset > start]
    end = min(_uncleanable_from(log, closed, limits.min_lag_ms, start, now_ms), stable_end)
    dirty_bytes = log.available(start, end)
    if not dirty_bytes:
        return None
    ratio = dirty_bytes / log.available(log.start_offset, end)
    return Dirty(start, end, ratio > limits.min_dirty_ratio or _overdue(log, closed, start, now_ms - limits.max_lag_ms))


def _uncleanable_from(log: Log, closed: list[FileSegment], min_lag_ms: int, start: int, now_ms: int) -> int:
    """Where the active file begins, or the first one with records that are too young."""
    if not closed:
        return start
    young = log.find_timestamp(now_ms - min_lag_ms + 1, start) if min_lag_ms > 0 else None
    if young is not None:
        offset = EXTENT.unpack_from(young)[0]
        for segment in closed:
            if segment.end_offset > offset:
                return max(segment.base_offset, start)
    return closed[-1].end_offset


def _overdue(log: Log, closed: list[FileSegment], start: int, timestamp: int) -> bool:
    """Whether a dirty file begins with records that are older than `timestamp` (ms)."""
    firsts = (next(log.batches(max(segment.base_offset, start), segment.end_offset), None) for segment in closed)
    return any(0 < max_timestamp_of(first) < timestamp for first in firsts if first is not None)
