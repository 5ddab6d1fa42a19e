"""The report of a run: report.md with a table, and its charts; with date, versions and machine.

The rows of `growth.py` are lines in growth.svg, all others bars in report.svg. The report contains nothing that identifies the machine: no
host name, no user and no path.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Self

from . import growth
from .brokers import ODRADEK, versions
from .chart import chart
from .growth_chart import growth_chart
from .rows import Medians, Results, Row, text_of
from .table import ratio


class Report(NamedTuple):
    """The content of a report. `names` are the brokers that were found, in the order of the columns."""

    rows: Sequence[Row]
    names: Sequence[str]
    medians: Medians
    failures: Sequence[str]
    date: str
    machine: str
    versions: Mapping[str, str]

    @classmethod
    def of_this_machine(cls, rows: Sequence[Row], names: Sequence[str], results: Results) -> Self:
        date = datetime.now(UTC).strftime("%Y-%m-%d")
        return cls(rows, names, results.medians, list(results.failures), date, machine(), versions(names))


def write_report(folder: Path, report: Report) -> None:
    """Writes report.md and its charts. Creates the folder if necessary."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, svg in charts(report).items():
        (folder / name).write_text(svg)
    (folder / "report.md").write_text(markdown(report))


def charts(report: Report) -> dict[str, str]:
    """Returns the charts of the rows by file name."""
    subtitle, notes = f"{report.date}, {report.machine}", [f"{name}: {text}" for name, text in report.versions.items()]
    drawn = {row for measure in growth.MEASURES for row in measure.rows}
    bars = [row for row in report.rows if row not in drawn]
    found = {"report.svg": chart(bars, report.names, report.medians, subtitle, notes)} if bars else {}
    if len(bars) < len(report.rows):
        found["growth.svg"] = growth_chart(report.medians, subtitle)
    return found


def machine() -> str:
    """Returns processor, memory and system of this machine."""
    model = platform.machine()
    with suppress(OSError):
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), model)
    gigabytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    release = platform.release().partition("-")[0]
    return f"{os.cpu_count()} x {model}, {gigabytes:.0f} GiB, {platform.system()} {release}"


def markdown(report: Report) -> str:
    peers = [name for name in report.names if name != ODRADEK]
    head = ["", "unit", *report.names, *(f"/ {peer}" for peer in peers), "target"]
    lines = [
        "# odradek beside other brokers",
        "",
        f"{report.date}, on {report.machine}. Medians; the brokers took turns in every round. `/ peer` is odradek's figure divided by the",
        "peer's. Ratios and CPU times depend less on the load of the machine than rates and latencies do.",
        "",
        *(line for name in charts(report) for line in (f"![chart]({name})", "")),
        *(f"* {name}: {text}" for name, text in report.versions.items()),
        "",
        _line(head),
        _line(["---"] * 2 + ["--:"] * (len(head) - 3) + ["---"]),
        *(_line(_cells(row, report, peers)) for row in report.rows),
        "",
    ]
    if report.failures:
        lines += ["Failed measures:", "", *(f"* {failure}" for failure in report.failures), ""]
    return "\n".join(lines)


def _cells(row: Row, report: Report, peers: Sequence[str]) -> list[str]:
    return [
        row.name,
        row.unit,
        *(text_of(report.medians.get((row.name, name))) for name in report.names),
        *(ratio(row, peer, report.medians) for peer in peers),
        "; ".join(target.verdict(row.name, report.medians) for target in row.targets),
    ]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
