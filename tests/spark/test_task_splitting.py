"""Tasks of ranges. The expected sizes are those that Spark's own source was observed to use."""

from __future__ import annotations

import pytest

from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink.offset_ranges import OffsetRange
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


def test_split_small_ranges_share_a_task() -> None:
    a, b, c, d, e = (OffsetRange(TopicPartition("t", n), 0, size) for n, size in enumerate([4_000, 0, 6_000, 1, 50_000]))
    assert split_into_tasks([a, b, c, d, e], None, None) == [[a, c], [d], [e]]
    assert split_into_tasks([b], None, None) == split_into_tasks([], None, None) == split_into_tasks([b], 3, 3) == [[]]
    assert split_into_tasks([a, c, d], None, 6_000) == [[a], [c], [d]]


@pytest.mark.parametrize(
    ("least", "expected"),
    [(1, [100, 900]), (2, [100, 900]), (3, [100, 450, 450]), (5, [100, *[225] * 4]), (10, [100] * 10)],
)
def test_split_min_partitions(least: int, expected: list[int]) -> None:
    assert sizes(min_partitions=least) == expected


@pytest.mark.parametrize(("most", "expected"), [(100, [100] * 10), (99, [50, 50, *[90] * 10]), (250, [100, *[225] * 4]), (5000, [1000])])
def test_split_max_records_per_partition(most: int, expected: list[int]) -> None:
    assert sizes(max_records=most) == expected


def test_split_both_options() -> None:
    assert len(sizes(min_partitions=10, max_records=50)) == 20
    assert sizes(min_partitions=10, max_records=500) == [100, *[90] * 10]


def test_split_remainder_goes_to_the_last_pieces() -> None:
    (uneven,) = [split_into_tasks([OffsetRange(SMALL, 7, 17)], 3, None)]
    assert [piece for (piece,) in uneven] == [OffsetRange(SMALL, 7, 10), OffsetRange(SMALL, 10, 13), OffsetRange(SMALL, 13, 17)]
