"""Ranges of offsets with their delivery state, as they are stored, and how later ranges are combined with earlier ones.

The result of `combine` is that of Kafka's PersisterStateBatchCombiner. Of two ranges that overlap, the one that was delivered more often
wins and, at the same number of deliveries, the one with the higher state. Ranges that touch and have the same state become one.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple


class StateBatch(NamedTuple):
    """The state of the offsets from `first` to `last` (inclusive). `state` is the number of a `RecordState`."""

    first: int
    last: int
    state: int
    delivery_count: int

    @property
    def rank(self) -> tuple[int, int]:
        """The batch of the higher rank wins."""
        return self.delivery_count, self.state


def combine(batches: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """Returns the state of each offset from `start_offset` on as ranges in ascending order. -1 means that there is no start offset."""
    kept = [batch if batch.first >= start_offset else batch._replace(first=start_offset) for batch in batches if batch.last >= start_offset]
    if all(before.last < after.first for before, after in pairwise(kept)):
        return _joined(kept)
    return _resolved(kept)


def _joined(batches: Iterable[StateBatch]) -> list[StateBatch]:
    """Joins ranges that do not overlap and are in ascending order."""
    joined: list[StateBatch] = []
    for batch in batches:
        if joined and joined[-1].last + 1 == batch.first and joined[-1][2:] == batch[2:]:
            joined[-1] = joined[-1]._replace(last=batch.last)
        else:
            joined.append(batch)
    return joined


def _resolved(batches: list[StateBatch]) -> list[StateBatch]:
    """Resolves overlaps from the lowest offset on. Each step replaces the two lowest ranges that overlap by up to three that do not."""
    heapify(batches)
    resolved: list[StateBatch] = []
    while batches:
        low = heappop(batches)
        if not batches or batches[0].first > low.last:
            resolved.append(low)
            continue
        for part in _parts(low, heappop(batches)):
            heappush(batches, part)
    return _joined(resolved)


def _parts(low: StateBatch, high: StateBatch) -> list[StateBatch]:
    """Returns the ranges that replace two that overlap, of which `low` begins first."""
    if low.rank == high.rank:
        return [low._replace(last=max(low.last, high.last))]
    if high.rank < low.rank:
        return [low, high._replace(first=low.last + 1)] if high.last > low.last else [low]
    before = [low._replace(last=high.first - 1)] if low.first < high.first else []
    after = [low._replace(first=high.last + 1)] if low.last > high.last else []
    return [*before, high, *after]
