"""Whole files go, oldest first, up to the first one that stays."""

from __future__ import annotations

import pytest

from odradek.storage.log import Log
from odradek.storage.retention import Retention, UntimedAppends, deletable_before
from odradek.storage.virtual_segments import VirtualSegments
from tests.storage.batches import make_batch

NONE = -1
NOW = 1_000_000


def log_of(*timestamps: int) -> Log:
    """Batches of 100 bytes, of which three make a file."""
    log = Log()
    for timestamp in timestamps:
        log.append(make_batch(100, timestamp=timestamp), 0, owned=False)
    return log


def deletable(
    log: Log,
    retention_ms: int = NONE,
    retention_bytes: int = NONE,
    high_watermark: int | None = None,
    untimed: UntimedAppends | None = None,
) -> int:
    limits = Retention(retention_ms, retention_bytes, segment_bytes=300, segment_ms=1 << 40)
    end = log.end_offset if high_watermark is None else high_watermark
    return deletable_before(log, VirtualSegments(), limits, untimed or UntimedAppends(), end, NOW)


SEVEN = [NOW - 700, NOW - 600, NOW - 500, NOW - 400, NOW - 300, NOW - 200, NOW - 100]


@pytest.mark.parametrize(
    ("retention_ms", "start"),
    [(NONE, 0), (701, 0), (500, 0), (499, 3), (200, 3), (199, 6), (100, 6), (99, 7), (0, 7)],
)
def test_a_file_goes_when_its_newest_record_is_too_old_also_the_last_one(retention_ms: int, start: int) -> None:
    assert deletable(log_of(*SEVEN), retention_ms) == start


@pytest.mark.parametrize(
    ("retention_bytes", "start"),
    [(NONE, 0), (1000, 0), (700, 0), (401, 0), (400, 3), (101, 3), (100, 6), (1, 6), (0, 7)],
)
def test_a_file_goes_when_enough_is_left_without_it(retention_bytes: int, start: int) -> None:
    assert deletable(log_of(*SEVEN), retention_bytes=retention_bytes) == start


def test_size_first_and_then_age() -> None:
    assert deletable(log_of(*SEVEN), 300, 400) == 3
    assert deletable(log_of(*SEVEN), 199, 400) == 6


def test_a_fresh_record_keeps_its_file_and_all_behind_it() -> None:
    assert deletable(log_of(1, NOW, 1, 1, 1, 1, 1), 100) == 0
    assert deletable(log_of(1, 1, 1, 1, NOW, 1, 1), 100) == 3


def noted(*times: int) -> UntimedAppends:
    """A batch without timestamps at each of these times, one to an offset."""
    untimed = UntimedAppends()
    for offset, time in enumerate(times):
        untimed.note(offset, time)
    return untimed


@pytest.mark.parametrize(("retention_ms", "start"), [(4000, 0), (3999, 3), (2000, 3), (1999, 6), (0, 6)])
def test_a_file_without_timestamps_is_as_old_as_its_last_batch(retention_ms: int, start: int) -> None:
    times = [NOW - 9000, NOW - 8000, NOW - 4000, NOW - 3000, NOW - 3000, NOW - 2000, NOW]
    assert deletable(log_of(*[-1] * 7), retention_ms, untimed=noted(*times)) == start


def test_a_timestamp_tells_more_than_the_time_of_the_append() -> None:
    assert deletable(log_of(-1, -1, -1, 1, 1, 1, 1), 100, untimed=noted(NOW, NOW, NOW)) == 0
    assert deletable(log_of(-1, 1, -1, 1, 1, 1, 1), 100, untimed=noted(NOW, NOW, NOW)) == 7
    assert deletable(log_of(-1, -1, -1, 1, 1, 1, 1), 100) == 7  # nobody knows


def test_times_of_appends_are_kept_by_the_second() -> None:
    untimed = noted(1000, 1500, 1999, 2000, 2001)
    assert [untimed.last_before(offset) for offset in range(7)] == [0, 1000, 1000, 1000, 2000, 2000, 2000]
    untimed.delete_before(2)
    assert untimed.last_before(3) == 1000
    untimed.delete_before(3)
    assert (untimed.last_before(3), untimed.last_before(4)) == (0, 2000)
    untimed.note(1, 7000)  # the log was truncated
    assert (untimed.last_before(1), untimed.last_before(9)) == (0, 7000)


def test_nothing_goes_that_is_not_replicated() -> None:
    assert deletable(log_of(*SEVEN), 0, high_watermark=5) == 3
    assert deletable(log_of(*SEVEN), retention_bytes=0, high_watermark=5) == 3


def test_an_empty_log() -> None:
    assert deletable(Log(), 0, 0) == 0


def test_a_log_that_begins_within_a_file() -> None:
    log, segments = log_of(*SEVEN), VirtualSegments()
    limits = Retention(NONE, 400, 300, 1 << 40)
    untimed = UntimedAppends()
    assert deletable_before(log, segments, limits, untimed, 7, NOW) == 3
    log.delete_before(2)
    assert deletable_before(log, segments, limits, untimed, 7, NOW) == 3
    assert deletable_before(log, segments, limits._replace(retention_bytes=401), untimed, 7, NOW) == 2
