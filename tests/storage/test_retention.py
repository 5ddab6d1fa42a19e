"""Retention by age and by size, which deletes whole segments from the oldest on."""

from __future__ import annotations

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.storage.log import Log
from odradek.storage.retention import Retention, UntimedAppends, deletable_before, next_deletion_ms
from odradek.storage.virtual_segments import VirtualSegments
from tests.storage.batches import make_batch

NO_LIMIT = -1
NOW = 1_000_000


def log_of(*timestamps: int) -> Log:
    """Returns a log with batches of 100 bytes, three of which fill a segment."""
    log = Log()
    for timestamp in timestamps:
        log.append(make_batch(100, timestamp=timestamp), 0, owned=False)
    return log


def deletable(
    log: Log,
    retention_ms: int = NO_LIMIT,
    retention_bytes: int = NO_LIMIT,
    high_watermark: int | None = None,
    untimed: UntimedAppends | None = None,
) -> int:
    limits = Retention(retention_ms, retention_bytes, segment_bytes=300, segment_ms=1 << 40)
    end = log.end_offset if high_watermark is None else high_watermark
    return deletable_before(log, VirtualSegments(), limits, untimed or UntimedAppends(), end, NOW)


SEVEN = [NOW - 700, NOW - 600, NOW - 500, NOW - 400, NOW - 300, NOW - 200, NOW - 100]


@pytest.mark.parametrize(
    ("retention_ms", "start"),
    [(NO_LIMIT, 0), (701, 0), (500, 0), (499, 3), (200, 3), (199, 6), (100, 6), (99, 7), (0, 7)],
)
def test_deletable_by_age_includes_the_active_segment(retention_ms: int, start: int) -> None:
    assert deletable(log_of(*SEVEN), retention_ms) == start


@pytest.mark.parametrize(
    ("retention_bytes", "start"),
    [(NO_LIMIT, 0), (1000, 0), (700, 0), (401, 0), (400, 3), (101, 3), (100, 6), (1, 6), (0, 7)],
)
def test_deletable_by_size_keeps_the_limit(retention_bytes: int, start: int) -> None:
    assert deletable(log_of(*SEVEN), retention_bytes=retention_bytes) == start


def test_deletable_by_size_then_by_age() -> None:
    assert deletable(log_of(*SEVEN), 300, 400) == 3
    assert deletable(log_of(*SEVEN), 199, 400) == 6


def test_deletable_stops_at_segment_with_fresh_record() -> None:
    assert deletable(log_of(1, NOW, 1, 1, 1, 1, 1), 100) == 0
    assert deletable(log_of(1, 1, 1, 1, NOW, 1, 1), 100) == 3


def noted(*times: int) -> UntimedAppends:
    """Returns the notes of appends at these times, one batch at each offset from 0 on."""
    untimed = UntimedAppends()
    for offset, time in enumerate(times):
        untimed.note(offset, time)
    return untimed


@pytest.mark.parametrize(("retention_ms", "start"), [(4000, 0), (3999, 3), (2000, 3), (1999, 6), (0, 6)])
def test_deletable_without_timestamps_uses_append_time(retention_ms: int, start: int) -> None:
    times = [NOW - 9000, NOW - 8000, NOW - 4000, NOW - 3000, NOW - 3000, NOW - 2000, NOW]
    assert deletable(log_of(*[-1] * 7), retention_ms, untimed=noted(*times)) == start


def test_deletable_timestamp_precedes_append_time() -> None:
    assert deletable(log_of(-1, -1, -1, 1, 1, 1, 1), 100, untimed=noted(NOW, NOW, NOW)) == 0
    assert deletable(log_of(-1, 1, -1, 1, 1, 1, 1), 100, untimed=noted(NOW, NOW, NOW)) == 7
    assert deletable(log_of(-1, -1, -1, 1, 1, 1, 1), 100) == 7  # no append is noted


def test_untimed_appends_are_kept_by_the_second() -> None:
    untimed = noted(1000, 1500, 1999, 2000, 2001)
    assert [untimed.last_before(offset) for offset in range(7)] == [0, 1000, 1000, 1000, 2000, 2000, 2000]
    untimed.delete_before(2)
    assert untimed.last_before(3) == 1000
    untimed.delete_before(3)
    assert (untimed.last_before(3), untimed.last_before(4)) == (0, 2000)
    untimed.note(1, 7000)  # the log was truncated
    assert (untimed.last_before(1), untimed.last_before(9)) == (0, 7000)


def test_deletable_stops_at_the_high_watermark() -> None:
    assert deletable(log_of(*SEVEN), 0, high_watermark=5) == 3
    assert deletable(log_of(*SEVEN), retention_bytes=0, high_watermark=5) == 3


def test_deletable_empty_log_is_zero() -> None:
    assert deletable(Log(), 0, 0) == 0


def test_deletable_log_start_within_segment() -> None:
    log, segments = log_of(*SEVEN), VirtualSegments()
    limits = Retention(NO_LIMIT, 400, 300, 1 << 40)
    untimed = UntimedAppends()
    assert deletable_before(log, segments, limits, untimed, 7, NOW) == 3
    log.delete_before(2)
    assert deletable_before(log, segments, limits, untimed, 7, NOW) == 3
    assert deletable_before(log, segments, limits._replace(retention_bytes=401), untimed, 7, NOW) == 2


@given(
    timestamps=st.lists(st.sampled_from([-1, 0, NOW - 500, NOW - 7, NOW]), min_size=1, max_size=12),
    retention_ms=st.sampled_from([NO_LIMIT, 0, 1, 600]),
    retention_bytes=st.sampled_from([NO_LIMIT, 0, 250, 400, 1200]),
    start=st.integers(0, 12),
    high_watermark=st.integers(0, 12),
)
def test_next_deletion_is_the_first_time_with_deletable_records(
    timestamps: list[int], retention_ms: int, retention_bytes: int, start: int, high_watermark: int
) -> None:
    log, untimed = log_of(*timestamps), UntimedAppends()
    untimed.note(0, NOW - 300)
    log.delete_before(start)
    limits = Retention(retention_ms, retention_bytes, segment_bytes=300, segment_ms=1 << 40)
    segments, high_watermark = VirtualSegments(), min(high_watermark, log.end_offset)
    due_ms = next_deletion_ms(log, segments, limits, untimed, high_watermark)
    for now_ms in {NOW - 301, NOW - 300, NOW - 8, NOW, NOW + 1, NOW + 2, NOW + 300, NOW + 301, NOW + 601, NOW + 5000} | (
        set() if due_ms in (0, inf) else {int(due_ms) - 1, int(due_ms)}
    ):
        deletes = deletable_before(log, segments, limits, untimed, high_watermark, now_ms) > log.start_offset
        assert deletes == (now_ms >= due_ms), now_ms
