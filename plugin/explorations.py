"""The results of explored tests, from this process and from the workers of pytest-xdist, and the end of pytest's output about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from ..broker.exploring.verdicts import TITLE, Exploration

REPRODUCE = "@pytest.mark.kafka(fault=\"{0}\") or --kafka-explore-only '{0}'"
"""How the user of pytest repeats a run."""
_found: dict[str, list[Exploration]] = {}
"""The explorations of each test, one from each worker that shares it."""
_shown: set[str] = set()
"""The tests whose failures are in pytest's reports already."""


def summary_in_report(found: Exploration) -> str:
    """Returns the summary as the failure of a test, which therefore need not be printed again at the end."""
    _shown.add(found.test)
    return found.summary(REPRODUCE)


def begin(found: Exploration) -> None:
    """Keeps an exploration that has begun, so that it is reported after Ctrl-C too."""
    _found.setdefault(found.test, []).append(found)


def add_found(values: Mapping[str, Any]) -> None:
    """Keeps what a worker has found out. An exploration of this process is known already."""
    found = Exploration.from_json(values)
    if not any(each.as_json() == values for each in _found.get(found.test, ())):
        begin(found)


def report_found(terminal: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Prints the summaries, and writes the file of --kafka-explore-report."""
    merged = []
    for found in _found.values():
        for other in found[1:]:
            found[0].merge(other)
        merged.append(found[0])
    _found.clear()
    if not merged:
        return
    terminal.section(TITLE)
    for each in merged:
        text = each.head if each.test in _shown else each.summary(REPRODUCE)
        terminal.line(text, red=each.is_broken, green=not each.is_broken)
    _shown.clear()
    file = config.getoption("--kafka-explore-report")
    if file is not None:
        path = config.invocation_params.dir / file
        write_report(path, merged)
        terminal.line(f"file: {path}")


def write_report(path: Path, found: list[Exploration]) -> None:
    """Writes explorations to a page, or as JSON if the name ends with .json."""
    if path.suffix == ".json":
        text = json.dumps([each.as_json() for each in found], indent=1)
    else:
        from ..broker.exploring.page import page_of_explorations

        text = page_of_explorations(found, REPRODUCE)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", errors="backslashreplace")
