"""Ranges of offsets with their state: joining and overlapping ones."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from odradek.broker.share_partitions.stored_state import StateBatch, combine

offsets = st.integers(0, 20)


@st.composite
def batches(draw: st.DrawFn) -> StateBatch:
    first = draw(offsets)
    return StateBatch(first, first + draw(st.integers(0, 6)), draw(st.sampled_from((0, 2, 4))), draw(st.integers(1, 3)))


def highest(items: list[StateBatch], start_offset: int) -> dict[int, tuple[int, int]]:
    """Returns the highest rank of each offset from `start_offset` on, computed offset by offset."""
    ranks: dict[int, tuple[int, int]] = {}
    for item in items:
        for offset in range(max(item.first, start_offset), item.last + 1):
            ranks[offset] = max(ranks.get(offset, item.rank), item.rank)
    return ranks


@given(st.lists(batches(), max_size=12), st.integers(-1, 20))
def test_combine_keeps_the_highest_rank_of_each_offset(items: list[StateBatch], start_offset: int) -> None:
    combined = combine(items, start_offset)
    expected = highest(items, start_offset)
    assert highest(combined, -1) == expected
    assert sum(item.last - item.first + 1 for item in combined) == len(expected)
    assert all(a.last < b.first and (a.last + 1 < b.first or a[2:] != b[2:]) for a, b in pairwise(combined))


def test_combine_of_touching_ranges_joins_them() -> None:
    assert combine([StateBatch(0, 4, 2, 1), StateBatch(5, 9, 2, 1), StateBatch(10, 10, 4, 1)], 2) == [(2, 9, 2, 1), (10, 10, 4, 1)]


def test_combine_of_a_billion_offsets_costs_nothing() -> None:
    whole = StateBatch(0, 10**9, 0, 1)
    assert combine([whole, StateBatch(7, 7, 2, 1)], -1) == [(0, 6, 0, 1), (7, 7, 2, 1), (8, 10**9, 0, 1)]
