"""The choice of the part of a log to compact, and of the time."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.storage.compaction_schedule import CompactionLimits, Dirty, dirty_part, next_due_ms
from odradek.storage.log import Log
from odradek.storage.virtual_segments import VirtualSegments
from tests.storage.batches import make_batch

NOW = 1_000_000
LIMITS = CompactionLimits(min_dirty_ratio=0.5, min_lag_ms=0, max_lag_ms=1 << 62, segment_bytes=300, segment_ms=1 << 40)


def log_of(*timestamps: int) -> Log:
    """Returns a log with batches of 100 bytes, three of which fill a segment."""
    log = Log()
    for timestamp in timestamps:
        log.append(make_batch(100, timestamp=timestamp), 0, owned=False)
    return log


def part(log: Log, limits: CompactionLimits = LIMITS, cleaned_until: int = 0, stable_end: int = 1000) -> Dirty | None:
    return dirty_part(log, VirtualSegments(), limits, cleaned_until, stable_end, NOW)


def test_dirty_part_excludes_the_active_segment() -> None:
    assert part(Log()) is None
    assert part(log_of(1, 1, 1)) is None
    assert part(log_of(*[1] * 4)) == Dirty(0, 3, True)
    assert part(log_of(*[1] * 6)) == Dirty(0, 3, True)
    assert part(log_of(*[1] * 7)) == Dirty(0, 6, True)


def test_dirty_part_is_due_above_the_dirty_ratio() -> None:
    log = log_of(*[1] * 13)
    assert part(log, cleaned_until=12) is None
    assert part(log, cleaned_until=6) == Dirty(6, 12, False)  # half of it, not more
    assert part(log, LIMITS._replace(min_dirty_ratio=0.49), cleaned_until=6) == Dirty(6, 12, True)
    log.delete_before(6)
    assert part(log, cleaned_until=3) == Dirty(6, 12, True)


def test_dirty_part_ends_at_the_last_stable_offset() -> None:
    assert part(log_of(*[1] * 7), stable_end=4) == Dirty(0, 4, True)
    assert part(log_of(*[1] * 7), stable_end=0) is None


@pytest.mark.parametrize(("lag", "dirty"), [(100, Dirty(0, 6, True)), (101, Dirty(0, 3, True)), (200, Dirty(0, 3, True)), (201, None)])
def test_dirty_part_ends_at_segment_with_young_records(lag: int, dirty: Dirty | None) -> None:
    log = log_of(NOW - 900, NOW - 200, 1, 1, NOW - 100, 1, NOW)
    assert part(log, LIMITS._replace(min_lag_ms=lag)) == dirty


def test_dirty_part_ignores_young_record_in_active_segment() -> None:
    assert part(log_of(1, 1, 1, NOW), LIMITS._replace(min_lag_ms=10)) == Dirty(0, 3, True)


def test_dirty_part_is_due_after_max_lag() -> None:
    log = log_of(*[NOW] * 6, NOW - 500, NOW, NOW, NOW)
    limits = LIMITS._replace(min_dirty_ratio=1.0)
    assert part(log, limits, cleaned_until=6) == Dirty(6, 9, False)
    assert part(log, limits._replace(max_lag_ms=500), cleaned_until=6) == Dirty(6, 9, False)
    assert part(log, limits._replace(max_lag_ms=499), cleaned_until=6) == Dirty(6, 9, True)


@given(
    timestamps=st.lists(st.sampled_from([-1, NOW - 900, NOW - 500, NOW - 7, NOW, NOW + 40]), min_size=1, max_size=16),
    limits=st.builds(
        CompactionLimits,
        min_dirty_ratio=st.sampled_from([0.0, 0.5, 1.0]),
        min_lag_ms=st.sampled_from([0, 1, 300]),
        max_lag_ms=st.sampled_from([200, 1000, 1 << 62]),
        segment_bytes=st.just(300),
        segment_ms=st.just(1 << 40),
    ),
    cleaned_until=st.integers(0, 16),
    stable_end=st.integers(0, 16),
)
def test_next_due_is_the_first_time_at_which_compaction_is_due(
    timestamps: list[int], limits: CompactionLimits, cleaned_until: int, stable_end: int
) -> None:
    log, segments = log_of(*timestamps), VirtualSegments()
    bounds = min(cleaned_until, log.end_offset), min(stable_end, log.end_offset)

    def is_due(now_ms: int) -> bool:
        dirty = dirty_part(log, segments, limits, *bounds, now_ms)
        return dirty is not None and dirty.due

    due_ms = next_due_ms(log, segments, limits, *bounds, NOW)
    moments = {*range(NOW, NOW + 12), NOW + 100, NOW + 292, NOW + 293, NOW + 300, NOW + 340, NOW + 5000}
    for now_ms in moments | (set() if due_ms == inf else {max(NOW, int(due_ms) - 1), int(due_ms)}):
        assert is_due(now_ms) == (now_ms >= due_ms), now_ms


def test_next_due_is_when_records_reach_the_minimum_lag() -> None:
    log, limits = log_of(*[NOW] * 4), LIMITS._replace(min_lag_ms=100)
    assert next_due_ms(log, VirtualSegments(), limits, 0, 4, NOW) == NOW + 100
