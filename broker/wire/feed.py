"""Follows the record: the entries from a number on, each once nothing more will become known of it.

A feed keeps no entries. It remembers how far it has come, and which requests are still in flight. A reader that is too slow misses the
entries that the record has dropped meanwhile, and is told how many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from .exchange import Entry
from .filters import Filter
from .record import Record
from .recording import Flight, Kept, count_of

MAX_AT_ONCE = 200


T = TypeVar("T")
Shown = Callable[[int, Kept], Iterator[tuple[int, T | None]]]
"""Shows something kept, whose first entry has the given number: yields each entry's number and form, None if it is not selected."""


def selected(record: Record, selects: Filter) -> Shown[Entry]:
    """Returns the function that shows the entries that a filter selects as they are."""

    def show(sequence: int, kept: Kept) -> Iterator[tuple[int, Entry | None]]:
        return ((entry.sequence, entry if selects(entry) else None) for entry in record.resolve(sequence, kept))

    return show


class Feed(Generic[T]):
    """The entries of a record from the number `since` on, in the form that `shown` gives them."""

    def __init__(self, record: Record, since: int, shown: Shown[T]) -> None:
        self._record = record
        self._next = max(since, 1)
        self._shown = shown
        self._in_flight: dict[int, Flight] = {}

    def missed(self) -> int:
        """Returns how many entries were dropped before they could be taken, since the last call."""
        first = self._record.first_sequence
        missed, self._next = max(0, first - self._next), max(first, self._next)
        return missed

    def take(self) -> Iterator[T | None]:
        """Yields the entries that are complete by now, and None for each that is not selected.

        It may be left after each of them, so that other work gets a turn.
        """
        for sequence, flight in list(self._in_flight.items()):
            if flight.is_over or sequence < self._record.first_sequence:
                del self._in_flight[sequence]
                yield from self._selected(sequence, flight)
        while kept := self._record.kept_since(self._next, MAX_AT_ONCE):
            for sequence, each in kept:
                yield from self._taken(sequence, each)

    def _taken(self, sequence: int, kept: Kept) -> Iterator[T | None]:
        since, self._next = self._next, sequence + count_of(kept)
        if isinstance(kept, Flight) and not kept.is_over:
            self._in_flight[sequence] = kept
        else:
            yield from self._selected(sequence, kept, since)

    def _selected(self, sequence: int, kept: Kept, since: int = 0) -> Iterator[T | None]:
        for number, form in self._shown(sequence, kept):
            yield form if number >= since else None
