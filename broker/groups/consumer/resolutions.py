"""Which topics match the regular expressions of consumer groups: looked at once for each topic, in slices between turns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator
from weakref import WeakValueDictionary, ref

from ...kafka_quirks.re2 import Regex
from ...scheduling.waiting import NEXT_TURN, Background

VISITS_AT_ONCE = 20_000
"""How many states of the automaton are looked at before the rest is put off: a few milliseconds."""
VISITS_IN_A_SLICE = 4_000


class Resolution:
    """One regular expression with the topics that were compared with it. Raises InvalidRegularExpression."""

    def __init__(self, text: str) -> None:
        self._regex = Regex(text)
        self._matches: dict[str, bool] = {}
        self._work: Generator[int, None, None] | None = None

    def resolve(self, topics: Collection[str], background: Callable[[Background], None]) -> frozenset[str] | None:
        """The topics that match; None as long as some remain to be compared, which goes on in the background."""
        if self._work is None:
            self._work = self._compare(topics)
            if not self.spend(VISITS_AT_ONCE):
                background(_go_on(ref(self)))
        return None if self._work else frozenset(name for name in topics if self._matches[name])

    def _compare(self, topics: Collection[str]) -> Generator[int, None, None]:
        """Compares the topics that are new, and forgets those that are gone; yields how many states it has looked at."""
        known = self._matches
        self._matches = {name: known[name] for name in topics if name in known}
        for name in [name for name in topics if name not in known]:
            self._matches[name] = yield from self._regex.match(name)

    def spend(self, visits: int) -> bool:
        """Goes on with the comparison until so many states were looked at; whether it is done."""
        assert self._work is not None
        for spent in self._work:
            visits -= spent
            if visits <= 0:
                return False
        self._work = None
        return True


def _go_on(known: ref[Resolution]) -> Background:
    """Goes on with a comparison as long as a group wants it."""
    while (resolution := known()) is not None and not resolution.spend(VISITS_IN_A_SLICE):
        del resolution
        yield NEXT_TURN


class Resolutions:
    """The regular expressions that are in use, each once for all groups. `topics` is the live view of their names."""

    def __init__(self, topics: Collection[str], background: Callable[[Background], None]) -> None:
        self._topics, self._background = topics, background
        self._known: WeakValueDictionary[str, Resolution] = WeakValueDictionary()

    def get(self, text: str) -> Resolution:
        """The regular expression of that text; it is known as long as the result is kept. Raises InvalidRegularExpression."""
        resolution = self._known.get(text)
        if resolution is None:
            resolution = self._known[text] = Resolution(text)
        return resolution

    def resolve(self, resolution: Resolution) -> frozenset[str] | None:
        """The topics that match; None as long as some remain to be compared."""
        return resolution.resolve(self._topics, self._background)
