"""How ranges become tasks and how far a limited_ends batch goes. The numbers are those that Spark's own source was seen to give."""

from __future__ import annotations

import pytest

from odradek.spark_sink.client import TopicPartition
from odradek.spark_sink.offset_ranges import OffsetRange
from odradek.spark_sink.rate_limit import limited_ends
from odradek.spark_sink.task_splitting import split_into_tasks

SMALL, LARGE = TopicPartition("t", 0), TopicPartition("t", 1)
HUNDRED_AND_NINE_HUNDRED = [OffsetRange(SMALL, 0, 100), OffsetRange(LARGE, 0, 900)]


def sizes(min_partitions: int | None = None, max_records: int | None = None) -> list[int]:
    split = split_into_tasks(HUNDRED_AND_NINE_HUNDRED, min_partitions, max_records)
    for whole in HUNDRED_AND_NINE_HUNDRED:
        pieces = [piece for shared in split for piece in shared if piece.partition == whole.partition]
        assert [piece.start for piece in pieces] == [whole.start, *(piece.end for piece in pieces[:-1])]
        assert pieces[-1].end == whole.end
    return [sum(piece.size for piece in shared) for shared in split]


def test_small_ranges_share_a_task() -> None:
    a, b, c, d, e = (OffsetRange(TopicPartition("t", n), 0, size) for n, size in enumerate([4_000, 0, 6_000, 1, 50_000]))
    assert split_into_tasks([a, b, c, d, e], None, None) == [[a, c], [d], [e]]
    assert split_into_tasks([b], None, None) == split_into_tasks([], None, None) == split_into_tasks([b], 3, 3) == [[]]
    assert split_into_tasks([a, c, d], None, 6_000) == [[a], [c], [d]]


@pytest.mark.parametrize(
    ("least", "expected"),
    [(1, [100, 900]), (2, [100, 900]), (3, [100, 450, 450]), (5, [100, *[225] * 4]), (10, [100] * 10)],
)
def test_min_partitions(least: int, expected: list[int]) -> None:
    assert sizes(min_partitions=least) == expected


@pytest.mark.parametrize(("most", "expected"), [(100, [100] * 10), (99, [50, 50, *[90] * 10]), (250, [100, *[225] * 4]), (5000, [1000])])
def test_max_records_per_partition(most: int, expected: list[int]) -> None:
    assert sizes(max_records=most) == expected


def test_both() -> None:
    assert len(sizes(min_partitions=10, max_records=50)) == 20
    assert sizes(min_partitions=10, max_records=500) == [100, *[90] * 10]


def test_what_does_not_divide_evenly() -> None:
    (uneven,) = [split_into_tasks([OffsetRange(SMALL, 7, 17)], 3, None)]
    assert [piece for (piece,) in uneven] == [OffsetRange(SMALL, 7, 10), OffsetRange(SMALL, 10, 13), OffsetRange(SMALL, 13, 17)]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [(300, (30, 270)), (10, (1, 9)), (3, (1, 2)), (1, (1, 1)), (999, (99, 899)), (5000, (100, 900)), (0, (0, 0)), (-5, (0, 0))],
)
def test_max_offsets_per_trigger(limit: int, expected: tuple[int, int]) -> None:
    starts, ends = {SMALL: 50, LARGE: 0}, {SMALL: 150, LARGE: 900}
    assert limited_ends(starts, ends, limit) == {SMALL: 50 + expected[0], LARGE: expected[1]}


def test_a_log_that_has_become_shorter_takes_no_part() -> None:
    assert limited_ends({SMALL: 50, LARGE: 0}, {SMALL: 20, LARGE: 900}, 10) == {SMALL: 20, LARGE: 10}
    assert limited_ends({SMALL: 50}, {SMALL: 50}, 10) == {SMALL: 50}
