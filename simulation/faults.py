"""The faults of a run, each with a name that is the same in every run of its seed, so that single ones can be left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection
from typing import NamedTuple


class FaultNote(NamedTuple):
    """A fault that has happened, with its virtual time."""

    name: str
    at_s: float
    text: str

    def __str__(self) -> str:
        return f"{self.at_s:9.3f} s  {self.text} ({self.name})"


class SimulatedFaults:
    """Says which faults happen, and remembers them."""

    def __init__(self, clock: Callable[[], float], left_out: Collection[str] = ()) -> None:
        self._clock = clock
        self._left_out = frozenset(left_out)
        self._counts: Counter[str] = Counter()
        self.happened: list[FaultNote] = []

    def happens(self, kind: str, text: str) -> bool:
        """Returns whether the next fault of a kind happens. It does unless it is left out."""
        self._counts[kind] += 1
        name = f"{kind} {self._counts[kind]}"
        if name in self._left_out:
            return False
        self.happened.append(FaultNote(name, self._clock(), text))
        return True
