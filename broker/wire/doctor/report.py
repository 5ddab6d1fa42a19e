"""Findings as plain values, for JSON and for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from ..diagrams.labels import request_label, response_label, shortened
from ..exchange import Entry, Event
from .finding import Finding


class Description(TypedDict):
    """A finding. `exchanges` are the numbers of the entries that show it, and `lines` has one line for each of them."""

    name: str
    client: str
    problem: str
    advice: str
    settings: list[str]
    exchanges: list[int]
    lines: list[str]


def described(finding: Finding) -> Description:
    """Returns a finding as plain values."""
    return Description(
        name=finding.name,
        client=shortened(finding.client, 300),
        problem=shortened(finding.problem, 1000),
        advice=finding.advice,
        settings=list(finding.settings),
        exchanges=[entry.sequence for entry in finding.entries],
        lines=[_line(entry) for entry in finding.entries],
    )


def _line(entry: Entry) -> str:
    at = entry.at if isinstance(entry, Event) else entry.received
    place = f"#{entry.sequence} {_time(at.wall_ms)} connection {entry.connection}"
    if isinstance(entry, Event):
        return f"{place}: {shortened(entry.text, 200)}"
    node = f" node {entry.node}" if entry.node is not None else ""
    answer = "no response" if entry.response_frame is None else response_label(entry)
    end = f", {entry.ended}" if entry.ended else ""
    return f"{place}{node}: {shortened(f'{request_label(entry)} -> {answer}{end}', 300)}"


def _time(wall_ms: float) -> str:
    """Returns a time of the day in UTC."""
    seconds, milliseconds = divmod(int(wall_ms), 1000)
    return f"{seconds // 3600 % 24:02}:{seconds // 60 % 60:02}:{seconds % 60:02}.{milliseconds:03}"


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
