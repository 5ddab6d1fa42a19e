"""A mistake of a client with the entries that show it, and its form as plain values for JSON and for terminals."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from ..exchange import Entry
from ..labels import shorten
from ..lines import Lines

if TYPE_CHECKING:
    from .history import WireHistory

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)

MAX_SHOWN = 8
"""The most entries that a finding shows."""
MAX_LISTED = 5
"""The most names that a problem lists."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A mistake. `client` has made it, `problem` says what happened, `advice` what to change, and `settings` are the names to look up.

    `entries` are those that show it: the first and the last ones if there are more than MAX_SHOWN.
    """

    name: str
    client: str
    problem: str
    advice: str
    settings: tuple[str, ...]
    entries: tuple[Entry, ...]


Description = dict[str, Any]
"""A finding as JSON: the fields of `FindingInfo` in controls/wire.py."""
Check = Callable[["WireHistory"], Iterable[Finding]]
"""A function that finds the mistakes of one kind."""


def evidence(entries: Iterable[Entry]) -> tuple[Entry, ...]:
    """Returns those of some entries that a finding shows: in order, without duplicates, at most MAX_SHOWN."""
    by_sequence = {entry.sequence: entry for entry in entries}
    found = [by_sequence[sequence] for sequence in sorted(by_sequence)]
    if len(found) <= MAX_SHOWN:
        return tuple(found)
    half = MAX_SHOWN // 2
    return (*found[:half], *found[-half:])


def densest(items: Sequence[T], time_of: Callable[[T], float], within_ms: float) -> Sequence[T]:
    """Returns the longest run of items, which are in the order of time, whose times differ by at most `within_ms`."""
    first = 0
    best: Sequence[T] = ()
    for last, item in enumerate(items):
        while time_of(item) - time_of(items[first]) > within_ms:
            first += 1
        if last - first + 1 > len(best):
            best = items[first : last + 1]
    return best


def group_by(items: Iterable[T], key_of: Callable[[T], K]) -> dict[K, list[T]]:
    """Returns the items by their keys, in the order in which they appear."""
    found: dict[K, list[T]] = {}
    for item in items:
        found.setdefault(key_of(item), []).append(item)
    return found


def list_in_words(items: Sequence[object]) -> str:
    """Returns the first MAX_LISTED items in words, and how many more there are."""
    shown = ", ".join(map(str, items[:MAX_LISTED]))
    return shown if len(items) <= MAX_LISTED else f"{shown} and {len(items) - MAX_LISTED} more"


def span_s(first_ms: float, last_ms: float) -> str:
    """Returns a duration in words, such as "2.5 s"."""
    seconds = (last_ms - first_ms) / 1000
    return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"


def describe(finding: Finding) -> Description:
    """Returns a finding as plain values."""
    lines = Lines()
    return {
        "name": finding.name,
        "client": shorten(finding.client, 300),
        "problem": shorten(finding.problem, 1000),
        "advice": finding.advice,
        "settings": list(finding.settings),
        "exchanges": [entry.sequence for entry in finding.entries],
        "lines": [lines.of(entry) for entry in finding.entries],
    }


def as_text(findings: Sequence[Description]) -> str:
    """Returns findings for a terminal."""
    return "\n".join(_lines(findings)) + "\n" if findings else "no mistakes found\n"


def _lines(findings: Sequence[Description]) -> Iterator[str]:
    for number, finding in enumerate(findings, 1):
        if number > 1:
            yield ""
        yield f"{number}. {finding['name']}: {finding['client']}"
        yield f"   problem:  {finding['problem']}"
        yield f"   advice:   {finding['advice']}"
        yield f"   settings: {', '.join(finding['settings'])}"
        yield "   shown by:"
        yield from (f"     {line}" for line in finding["lines"])
