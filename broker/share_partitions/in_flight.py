"""The records in flight, as ranges of offsets.

A *batch* is a range that was acquired together (Kafka's InFlightBatch). As long as all its records have the same state, it has one `Claim`.
Once a member treats some of them differently, the batch has `Runs`, and remains so: Kafka then keeps a state for each offset, and some of
its rules depend on that. Here equal neighbours share a run, and runs share their claims, so that neither the size of a batch nor the size
of a request matters, and a run takes 16 bytes.

Between two batches there may be offsets without a batch, because compaction has removed the records, or because a member had acquired them
when the state was stored (see `OffsetWindow.gap`).
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from .record_state import Claim

Run = tuple[int, int, Claim]
"""(first offset, last offset, their state)."""


class Runs:
    """The states of the offsets of one batch. `_ends` are the last offsets of the runs, `_claims` their states."""

    __slots__ = ("_claims", "_ends", "first")

    def __init__(self, first: int, last: int, claim: Claim) -> None:
        self.first = first
        self._ends = array("q", (last,))
        self._claims = [claim]

    def __len__(self) -> int:
        return len(self._claims)

    def between(self, first: int, last: int) -> Iterator[Run]:
        """Yields the runs from `first` to `last`, cut at both. The runs must not be changed meanwhile."""
        ends = self._ends
        index = bisect_left(ends, first)
        begin = max(first, self.first)
        while begin <= last and index < len(ends):
            yield begin, min(ends[index], last), self._claims[index]
            begin = ends[index] + 1
            index += 1

    def set(self, first: int, last: int, claim: Claim) -> None:
        """Sets the state of the offsets from `first` to `last`, and joins them with equal neighbours."""
        ends, claims = self._ends, self._claims
        low, high = bisect_left(ends, first), bisect_left(ends, last)
        begin, end = ends[low - 1] + 1 if low else self.first, ends[high]
        after = claims[high] if end > last else None
        new_ends, new_claims = array("q"), []
        if begin < first and claims[low] != claim:
            new_ends.append(first - 1)
            new_claims.append(claims[low])
        elif begin == first and low and claims[low - 1] == claim:
            low -= 1
        if after is None and high + 1 < len(ends) and claims[high + 1] == claim:
            high += 1
            last = ends[high]
        elif after is not None and after == claim:
            last, after = end, None
        new_ends.append(last)
        new_claims.append(claim)
        if after is not None:
            new_ends.append(end)
            new_claims.append(after)
        ends[low : high + 1] = new_ends
        claims[low : high + 1] = new_claims


class InFlightBatches:
    """Batches in ascending order, which do not overlap. `firsts` and `lasts` are their offsets, `states` their states."""

    __slots__ = ("firsts", "lasts", "states")

    def __init__(self) -> None:
        self.firsts = array("q")
        self.lasts = array("q")
        self.states: list[Claim | Runs] = []

    def __len__(self) -> int:
        return len(self.states)

    def floor(self, offset: int) -> int:
        """Returns the index of the last batch that begins at or before an offset, -1 if there is none."""
        return bisect_right(self.firsts, offset) - 1

    def beginning_in(self, first: int, last: int) -> range:
        """Returns the indexes of the batches that begin from `first` to `last`."""
        return range(bisect_left(self.firsts, first), bisect_right(self.firsts, last))

    def size(self, index: int) -> int:
        """Returns the number of offsets of a batch."""
        size: int = self.lasts[index] - self.firsts[index] + 1
        return size

    def put(self, first: int, last: int, state: Claim | Runs) -> None:
        """Adds a batch, or replaces the one that begins at the same offset."""
        index = bisect_left(self.firsts, first)
        if index < len(self.firsts) and self.firsts[index] == first:
            self.lasts[index], self.states[index] = last, state
        else:
            self.firsts.insert(index, first)
            self.lasts.insert(index, last)
            self.states.insert(index, state)

    def split(self, index: int) -> Runs:
        """Has a batch keep runs from now on, and returns them."""
        state = self.states[index]
        if not isinstance(state, Runs):
            state = self.states[index] = Runs(self.firsts[index], self.lasts[index], state)
        return state

    def runs(self, index: int) -> Iterator[Run]:
        """Yields the runs of a batch."""
        state = self.states[index]
        if isinstance(state, Runs):
            return state.between(self.firsts[index], self.lasts[index])
        return iter(((self.firsts[index], self.lasts[index], state),))

    def claim_at(self, index: int, offset: int) -> Claim:
        """Returns the state of an offset of a batch; behind the batch, that of its last one."""
        state = self.states[index]
        if isinstance(state, Claim):
            return state
        offset = min(offset, self.lasts[index])
        return next(state.between(offset, offset))[2]

    def set(self, index: int, first: int, last: int, claim: Claim) -> None:
        """Sets the state of some offsets of a batch that keeps runs, or of all offsets of one that does not."""
        state = self.states[index]
        if isinstance(state, Runs):
            state.set(first, last, claim)
        else:
            self.states[index] = claim

    def drop_first(self, count: int) -> None:
        """Removes the first `count` batches."""
        del self.firsts[:count], self.lasts[:count], self.states[:count]
