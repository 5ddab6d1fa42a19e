"""Decides which part of a log to compact, and when (Kafka's LogCleanerManager).

Before `cleaned_until` the log contains each key once. The records from there to the active segment are called dirty. The broker rewrites
the records, because that requires their keys, which this package does not read.
"""

from __future__ import annotations

from bisect import bisect_left
from math import inf
from typing import NamedTuple

from .log import Log
from .segments import EXTENT, max_timestamp_of
from .virtual_segments import VirtualSegment, VirtualSegments


class CompactionLimits(NamedTuple):
    """The settings of a topic: min.cleanable.dirty.ratio, min.compaction.lag.ms, max.compaction.lag.ms, segment.bytes, segment.ms."""

    min_dirty_ratio: float
    min_lag_ms: int
    max_lag_ms: int
    segment_bytes: int
    segment_ms: int


class Dirty(NamedTuple):
    """The part to compact next, whose `end_offset` is exclusive, and whether compaction is due."""

    start_offset: int
    end_offset: int
    due: bool


def dirty_part(
    log: Log, segments: VirtualSegments, limits: CompactionLimits, cleaned_until: int, stable_end: int, now_ms: int
) -> Dirty | None:
    """Returns the dirty part of a log, None if there is none.

    It ends at `stable_end`, the last stable offset, at the latest, because open transactions are not compacted.
    """
    start = max(cleaned_until, log.start_offset)
    closed = closed_segments(log, segments, limits, cleaned_until)
    end = min(_uncleanable_from(log, closed, limits.min_lag_ms, start, now_ms), stable_end)
    dirty_bytes = log.available(start, end)
    if not dirty_bytes:
        return None
    ratio = dirty_bytes / log.available(log.start_offset, end)
    return Dirty(start, end, ratio > limits.min_dirty_ratio or _overdue(log, closed, start, now_ms - limits.max_lag_ms))


def next_due_ms(log: Log, segments: VirtualSegments, limits: CompactionLimits, cleaned_until: int, stable_end: int, now_ms: int) -> float:
    """Returns the first time (ms) from `now_ms` at which the dirty part is due if nothing changes before, `inf` if there is none.

    A dirty part grows when records reach the age of min.compaction.lag.ms, and is overdue when they reach that of max.compaction.lag.ms.
    Once it is due, it stays due.
    """
    start = max(cleaned_until, log.start_offset)
    moments = {now_ms}
    for segment in closed_segments(log, segments, limits, cleaned_until):
        first = next(log.batches(max(segment.base_offset, start), segment.end_offset), None)
        if first is not None:  # pragma: no branch, because a closed segment after the start has batches
            moments.add(max_timestamp_of(first) + limits.max_lag_ms + 1)
        if limits.min_lag_ms > 0:
            moments.add(log.newest_timestamp(start, segment.end_offset) + limits.min_lag_ms)
    later = sorted(moment for moment in moments if moment >= now_ms)

    def is_due(moment: int) -> bool:
        dirty = dirty_part(log, segments, limits, cleaned_until, stable_end, moment)
        return dirty is not None and dirty.due

    found = bisect_left(later, True, key=is_due)
    return later[found] if found < len(later) else inf


def closed_segments(log: Log, segments: VirtualSegments, limits: CompactionLimits, cleaned_until: int) -> list[VirtualSegment]:
    """Returns the segments with dirty records that no append can change. Without any, there is no dirty part before the next append."""
    start = max(cleaned_until, log.start_offset)
    inactive = segments.of_log(log, limits.segment_bytes, limits.segment_ms)[:-1]
    return [segment for segment in inactive if segment.end_offset > start]


def _uncleanable_from(log: Log, closed: list[VirtualSegment], min_lag_ms: int, start: int, now_ms: int) -> int:
    """Returns the start of the first segment with records younger than `min_lag_ms`, else that of the active segment."""
    if not closed:
        return start
    young = log.find_timestamp(now_ms - min_lag_ms + 1, start) if min_lag_ms > 0 else None
    if young is not None:
        offset = EXTENT.unpack_from(young)[0]
        for segment in closed:
            if segment.end_offset > offset:
                return max(segment.base_offset, start)
    return closed[-1].end_offset


def _overdue(log: Log, closed: list[VirtualSegment], start: int, timestamp: int) -> bool:
    """Returns whether the first batch of a dirty segment is older than `timestamp` (ms)."""
    firsts = (next(log.batches(max(segment.base_offset, start), segment.end_offset), None) for segment in closed)
    return any(0 < max_timestamp_of(first) < timestamp for first in firsts if first is not None)
