"""The open transactions of one partition, and those whose markers are in the log (ProducerStateManager, TransactionIndex)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping
from operator import attrgetter, itemgetter
from typing import NamedTuple

_last_offset = attrgetter("last_offset")


class EndedTransaction(NamedTuple):
    """A transaction from its first batch to its marker, which is at `last_offset`.

    `last_stable_offset` is that of the partition after the marker was appended.
    """

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    committed: bool


class TransactionIndex:
    """Open transactions and ended ones. `open` is always the same dict: first offsets by producer id."""

    __slots__ = ("_ended", "open")

    def __init__(self) -> None:
        # In ascending order of offsets, because a transaction that is opened later begins later.
        self.open: dict[int, int] = {}
        self._ended: list[EndedTransaction] = []  # in ascending order of last offsets

    def load(self, open_since: Mapping[int, int], ended: Iterable[EndedTransaction]) -> None:
        """Makes stored transactions the contents of this empty index: first offsets of open ones by producer id, and ended ones."""
        self.open.update(sorted(open_since.items(), key=itemgetter(1)))
        self._ended = sorted(ended, key=_last_offset)

    def first_undecided_before(self, end_offset: int) -> int | None:
        """Returns the first offset of the earliest transaction that is open in the log up to `end_offset`; None if none is open there.

        A transaction whose marker is at `end_offset` or later is open in that part of the log.
        """
        cut = self._ended[bisect_left(self._ended, end_offset, key=_last_offset) :]
        firsts = [*self.open.values(), *(ended.first_offset for ended in cut)]
        return min((first for first in firsts if first < end_offset), default=None)

    def end(self, producer_id: int, marker_offset: int, *, committed: bool) -> None:
        """Ends the open transaction of a producer, if it has one."""
        first_offset = self.open.pop(producer_id, None)
        if first_offset is not None:
            stable = next(iter(self.open.values()), marker_offset + 1)
            self._ended.append(EndedTransaction(producer_id, first_offset, marker_offset, stable, committed))

    def aborted(self, start_offset: int, end_offset: int) -> list[EndedTransaction]:
        """Returns the aborted transactions that a reader of these offsets has to leave out (TransactionIndex.collectAbortedTxns)."""
        found = []
        for position in range(bisect_left(self._ended, start_offset, key=_last_offset), len(self._ended)):
            ended = self._ended[position]
            if not ended.committed and ended.first_offset < end_offset:
                found.append(ended)
            if ended.last_stable_offset >= end_offset:
                break  # the transactions that follow begin at or after that offset
        return found

    def is_committed(self, producer_id: int, offset: int) -> bool | None:
        """Returns whether the transaction to which a producer's record at `offset` belongs was committed; None while it is open.

        A transaction that is no longer in the index counts as committed, because the index keeps aborted ones as long as their records.
        """
        first_open = self.open.get(producer_id)
        if first_open is not None and offset >= first_open:
            return None
        for position in range(bisect_left(self._ended, offset, key=_last_offset), len(self._ended)):
            if self._ended[position].producer_id == producer_id:
                return self._ended[position].committed
        return True

    def forget_ended(self, marker_offsets: Collection[int]) -> None:
        """Removes the transactions with these markers, because compaction has removed all their records."""
        if marker_offsets:
            self._ended = [ended for ended in self._ended if ended.last_offset not in marker_offsets]

    def delete_before(self, offset: int) -> None:
        """Removes the transactions that ended before `offset`."""
        del self._ended[: bisect_left(self._ended, offset, key=_last_offset)]

    def truncate_to(self, offset: int) -> None:
        """Removes the batches and markers at or after `offset`. A transaction that loses its marker is open again."""
        first_reopened = bisect_left(self._ended, offset, key=_last_offset)
        first_offsets = [*self.open.items(), *((ended.producer_id, ended.first_offset) for ended in self._ended[first_reopened:])]
        del self._ended[first_reopened:]
        still_open = sorted((first, producer_id) for producer_id, first in first_offsets if first < offset)
        self.open.clear()
        self.open.update((producer_id, first) for first, producer_id in still_open)
