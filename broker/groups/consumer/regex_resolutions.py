"""Determines which topics match the regular expressions that members of consumer groups subscribe to.

Each expression is compared with each topic once for all groups (`Resolution._matches`). The first VISITS_AT_ONCE steps of the automaton are
taken at once; the rest is background work in slices of VISITS_IN_A_SLICE, between which the core serves clients.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from weakref import WeakValueDictionary, ref

from ...scheduling.waiting import NEXT_TURN, Background

VISITS_AT_ONCE = 20_000
"""The number of automaton states visited within the request, which takes a few milliseconds."""
VISITS_IN_A_SLICE = 4_000
"""The number of automaton states visited in one turn of the background work."""


class Resolution:
    """One regular expression with the topics that were compared with it.

    The constructor raises InvalidRegularExpression for a text that RE2 does not accept.
    """

    def __init__(self, text: str) -> None:
        from ...kafka_quirks.re2 import Regex

        self._regex = Regex(text)
        self._matches: dict[str, bool] = {}
        self._work: Generator[int, None, None] | None = None

    def resolve(self, topics: Collection[str], background: Callable[[Background], None]) -> frozenset[str] | None:
        """Returns the topics that match, or None while some are still being compared in the background."""
        if self._work is None:
            self._work = self._compare(topics)
            if not self.spend(VISITS_AT_ONCE):
                background(_continue(ref(self)))
        return None if self._work else frozenset(name for name in topics if self._matches[name])

    def _compare(self, topics: Collection[str]) -> Generator[int, None, None]:
        """Compares new topics and removes deleted ones; yields the number of states visited by each step."""
        known = self._matches
        self._matches = {name: known[name] for name in topics if name in known}
        for name in [name for name in topics if name not in known]:
            self._matches[name] = yield from self._regex.match(name)

    def spend(self, visits: int) -> bool:
        """Continues the comparison for at least `visits` states; returns whether it is complete."""
        assert self._work is not None  # noqa: S101  (it narrows a type)
        for spent in self._work:
            visits -= spent
            if visits <= 0:
                return False
        self._work = None
        return True


def _continue(known: ref[Resolution]) -> Background:
    """Continues a comparison as long as a group refers to it."""
    while (resolution := known()) is not None and not resolution.spend(VISITS_IN_A_SLICE):
        del resolution
        yield NEXT_TURN


class Resolutions:
    """The regular expressions that any group uses. `topics` is a live view of topic names; `background` runs work between turns."""

    def __init__(self, topics: Collection[str], background: Callable[[Background], None]) -> None:
        self._topics, self._background = topics, background
        self._known: WeakValueDictionary[str, Resolution] = WeakValueDictionary()

    def get(self, text: str) -> Resolution:
        """Returns the resolution of an expression, which is shared as long as any caller refers to it. Raises InvalidRegularExpression."""
        resolution = self._known.get(text)
        if resolution is None:
            resolution = self._known[text] = Resolution(text)
        return resolution

    def resolve(self, resolution: Resolution) -> frozenset[str] | None:
        """Returns the topics that match, or None while some are still being compared in the background."""
        return resolution.resolve(self._topics, self._background)
