"""Findings as plain values, for JSON and for terminals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypedDict

from ..labels import shortened
from ..lines import Lines
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
    lines = Lines()
    return Description(
        name=finding.name,
        client=shortened(finding.client, 300),
        problem=shortened(finding.problem, 1000),
        advice=finding.advice,
        settings=list(finding.settings),
        exchanges=[entry.sequence for entry in finding.entries],
        lines=[lines.of(entry) for entry in finding.entries],
    )


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
