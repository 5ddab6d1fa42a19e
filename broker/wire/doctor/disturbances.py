"""Actions of a test on the cluster, for which clients are not to blame: stopped nodes, restored states, moves of the clock.

Each is a span of time by the wall clock. Faults that hit requests are noted on these requests, and do not belong here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from math import inf

from ..exchange import Entry, Event

RECOVERY_MS = 1000.0
"""The time that clients have to find the nodes again after one has returned or a state was restored."""
_BEGINS = re.compile(r"(?:stopping|silencing) node (\d+)")
_ENDS = re.compile(r"(?:starting|ending the silence of|removing) node (\d+)")
_IS_SHORT = re.compile(r"removing node|restoring a state|electing leaders|moving the (?:leader|coordinator)|crash")
_AS_USUAL = "the time passes at its usual speed"


class Disturbances:
    """The disturbances in some entries, which are in order."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._spans: list[tuple[float, float]] = []
        self._begun: dict[str, float] = {}
        """When the disturbances that have not ended began, by their names."""
        for entry in entries:
            if isinstance(entry, Event) and entry.kind in ("control", "clock"):
                self._note(entry, entry.at.wall_ms)
        self._spans += [(begin_ms, inf) for begin_ms in self._begun.values()]

    def overlap(self, begin_ms: float, end_ms: float) -> bool:
        """Returns whether there was a disturbance at any time from `begin_ms` to `end_ms`."""
        return any(begin <= end_ms and begin_ms <= end for begin, end in self._spans)

    def _note(self, event: Event, at_ms: float) -> None:
        if event.kind == "clock":
            self._note_clock(event.text, event.fields, at_ms)
        elif (begins := _BEGINS.match(event.text)) is not None:
            self._begun.setdefault(begins[1], at_ms)
        elif (ends := _ENDS.match(event.text)) is not None and ends[1] in self._begun:
            self._spans.append((self._begun.pop(ends[1]), at_ms + RECOVERY_MS))
        elif _IS_SHORT.match(event.text):
            self._spans.append((at_ms, at_ms + RECOVERY_MS))

    def _note_clock(self, text: str, fields: Mapping[str, object], at_ms: float) -> None:
        """Notes that the time moves, or that it passes at another speed from now on."""
        if "to_ms" in fields:
            self._spans.append((at_ms, at_ms))
            return
        if "clock" in self._begun:
            self._spans.append((self._begun.pop("clock"), at_ms))
        if text != _AS_USUAL:
            self._begun["clock"] = at_ms
