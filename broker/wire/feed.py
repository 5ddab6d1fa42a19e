"""Follows the record: the entries from a number on, each once nothing more will become known of it.

A feed keeps no entries. It remembers how far it has come, and which requests are still in flight. A reader that is too slow misses the
entries that the record has dropped meanwhile, and is told how many. Readers that follow a record with the same options share the texts of
its entries (`SharedTexts`), and a reader that only looks, such as the page, gets a sample (`SampledFeed`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, Generic, TypeVar

from .exchange import Entry
from .filters import Filter
from .record import WireRecord
from .recording import Flight, Kept, Told, count_of

MAX_AT_ONCE = 200


T = TypeVar("T")
Shown = Callable[[int, Kept], Iterator[tuple[int, T | None]]]
"""A function that shows entries. It is called with a number and what the record keeps for the entries from this number on, and yields the
number and the form of each entry. The form of an entry that is not selected is None."""


def show_selected(record: WireRecord, selects: Filter) -> Shown[Entry]:
    """Returns the function that shows the entries that a filter selects as they are."""

    def show(sequence: int, kept: Kept) -> Iterator[tuple[int, Entry | None]]:
        return ((entry.sequence, entry if selects(entry) else None) for entry in record.resolve(sequence, kept))

    return show


class Feed(Generic[T]):
    """The entries of a record from the number `since` on, in the form that `shown` gives them."""

    def __init__(self, record: WireRecord, since: int, shown: Shown[T]) -> None:
        self._record = record
        self._next = max(since, 1)
        self._shown = shown
        self._in_flight: dict[int, Flight] = {}

    def take_missed(self) -> int:
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
                yield from self._forms(sequence, flight)
        while kept := self._record.kept_since(self._next, MAX_AT_ONCE):
            for sequence, each in kept:
                yield from self._advance(sequence, each)

    def _advance(self, sequence: int, kept: Kept) -> Iterator[T | None]:
        since, self._next = self._next, sequence + count_of(kept)
        if isinstance(kept, Flight) and not kept.is_over:
            self._in_flight[sequence] = kept
        else:
            yield from self._forms(sequence, kept, since)

    def _forms(self, sequence: int, kept: Kept, since: int = 0) -> Iterator[T | None]:
        for number, form in self._shown(sequence, kept):
            yield form if number >= since else None


SELECTED_PER_LOOK, MAX_SELECTED = 20, 200
EXAMINED_PER_LOOK, MAX_EXAMINED = 100, 1000
"""The numbers of entries that are taken, and that are compared with the filter, which has to decode them: of each look on the average, and
in a burst after a time with fewer."""


class SampledFeed(Feed[T]):
    """The latest entries of a record, of which `take` yields a sample."""

    _may_select, _may_examine = MAX_SELECTED, MAX_EXAMINED
    _left_out = 0

    def take(self) -> Iterator[T | None]:
        self._may_select = min(self._may_select + SELECTED_PER_LOOK, MAX_SELECTED)
        self._may_examine = min(self._may_examine + EXAMINED_PER_LOOK, MAX_EXAMINED)
        return super().take()

    def take_left_out(self) -> int:
        """Returns how many entries were left out since the last call."""
        left_out, self._left_out = self._left_out, 0
        return left_out

    def _forms(self, sequence: int, kept: Kept, since: int = 0) -> Iterator[T | None]:
        taken = 0
        if self._has_room or _matters(kept):
            for entry in super()._forms(sequence, kept, since):
                taken += 1
                self._may_examine -= 1
                self._may_select -= entry is not None
                yield entry
                if not self._has_room:
                    break
        self._left_out += count_of(kept) - taken

    @property
    def _has_room(self) -> bool:
        return self._may_select > 0 and self._may_examine > 0


def _matters(kept: Kept) -> bool:
    """Returns whether an entry is seldom and worth seeing: an event, or an exchange that something happened to."""
    return isinstance(kept, Told) or (isinstance(kept, Flight) and bool(kept.faults or kept.ended))


REMEMBERED_BYTES = 1 << 20
UNSELECTED_BYTES = 100
"""The size that is assumed for an entry that is not selected, of which only the number is remembered, and for the number of any other."""
_UNKNOWN: Final = b""


class SharedTexts:
    """Shows entries to a `Feed` as texts that `render` returns, which are never empty."""

    def __init__(self, record: WireRecord, selects: Filter, render: Callable[[Entry], bytes]) -> None:
        self._record, self._selects, self._render = record, selects, render
        self._texts: dict[int, bytes | None] = {}
        self._bytes = 0

    def __call__(self, sequence: int, kept: Kept) -> Iterator[tuple[int, bytes | None]]:
        """Yields the number and the text of each entry in `kept`, whose first entry has the number `sequence`.

        The text of an entry that is not selected is None.
        """
        entries: Iterator[Entry] | None = None
        for number in range(sequence, sequence + count_of(kept)):
            entry = next(entries) if entries is not None else None
            text = self._texts.get(number, _UNKNOWN)
            if text is _UNKNOWN:
                if entry is None:
                    entries = self._record.resolve(sequence, kept)
                    entry = next(each for each in entries if each.sequence == number)
                text = self._remember(number, self._render(entry) if self._selects(entry) else None)
            yield number, text

    def _remember(self, number: int, text: bytes | None) -> bytes | None:
        self._texts[number] = text
        self._bytes += _size(text)
        while self._bytes > REMEMBERED_BYTES:
            oldest = next(iter(self._texts))
            self._bytes -= _size(self._texts.pop(oldest))
        return text


def _size(text: bytes | None) -> int:
    return UNSELECTED_BYTES if text is None else UNSELECTED_BYTES + len(text)
