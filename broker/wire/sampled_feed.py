"""A feed for readers that look at entries as they come, such as a page: it leaves some out if there are too many, and counts them.

Decoding an exchange takes much longer than serving a small request. At thousands of exchanges per second, a reader of all of them would
take most of the broker's time. A sampled feed therefore stops decoding when it has taken enough for a look. Events, and exchanges that a
fault hit or that ended a connection, are always taken.
"""

from __future__ import annotations

from collections.abc import Iterator

from .feed import Feed, T
from .recording import Flight, Kept, Told, count_of

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

    def left_out(self) -> int:
        """Returns how many entries were left out since the last call."""
        left_out, self._left_out = self._left_out, 0
        return left_out

    def _selected(self, sequence: int, kept: Kept, since: int = 0) -> Iterator[T | None]:
        taken = 0
        if self._has_room or _matters(kept):
            for entry in super()._selected(sequence, kept, since):
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
