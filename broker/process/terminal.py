"""Output for a person: tables, colours, the greeting of a cluster with the addresses of its nodes, and a progress bar on stderr."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Self, TextIO

if TYPE_CHECKING:
    from ..settings.cluster_config import ClusterConfig

BOLD, DIM, CYAN = 1, 2, 36
HEADINGS = ("NODE", "LISTENER", "ADDRESS")
FIRST_S, PAUSE_S = 1.0, 0.2
BAR_CHARACTERS = 20
MEGABYTES = "MB"
"""The unit of amounts that are given in bytes."""
CLEAR_LINE = "\r\x1b[K"


def greeting(config: ClusterConfig, bootstrap_servers: str, control: str | None, registry: str | None) -> str:
    """Returns a table of the listeners of all nodes, and `export` lines for a shell."""
    rows = [(str(each.node_id), each.name, each.advertised) for node in config.nodes for each in node.listeners]
    values = {"BOOTSTRAP_SERVERS": bootstrap_servers, "ODRADEK_CONTROL": control, "SCHEMA_REGISTRY_URL": registry}
    exports = [f"export {name}={value}" for name, value in values.items() if value]
    return "\n".join(["", *table([HEADINGS, *rows]), "", *exports, "", "Ctrl-C stops the cluster.", ""])


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """Returns rows as lines with aligned columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def has_colours(stream: TextIO, environ: Mapping[str, str]) -> bool:
    """Returns whether a stream may be coloured: a terminal may, unless the environment says NO_COLOR (no-color.org) or TERM=dumb."""
    return stream.isatty() and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"


def paint(code: int, text: str) -> str:
    """Returns a text with the ANSI code of a colour or style around it."""
    return f"\x1b[{code}m{text}\x1b[0m"


class ProgressBar:
    """A context manager that shows a bar on a terminal if its body takes longer than a second, and removes it at the end.

    The bar has the amount, the rate and, if the `total` is known, the time that is left.
    """

    def __init__(
        self,
        unit: str,
        total: int | None = None,
        *,
        shown: bool = True,
        stream: TextIO | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without `shown` there is no bar either, for example because records are printed to the same terminal."""
        self._unit = unit
        self._total = total
        self._stream = sys.stderr if stream is None else stream
        self._clock = clock
        self._amount = 0
        self._started_s = clock()
        self._due_s = self._started_s + FIRST_S if shown and self._stream.isatty() else float("inf")
        self._is_shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_shown:
            self._stream.write(CLEAR_LINE)
            self._stream.flush()

    def advance(self, amount: int = 1) -> None:
        """Adds to the amount that is done."""
        self._amount += amount
        now_s = self._clock()
        if now_s >= self._due_s:
            self._due_s = now_s + PAUSE_S
            self._is_shown = True
            self._stream.write(CLEAR_LINE + self._line(now_s - self._started_s))
            self._stream.flush()

    def _line(self, elapsed_s: float) -> str:
        rate = self._amount / elapsed_s
        speed = f"{self._number(rate)} {self._unit}/s"
        if not self._total:
            return f"{self._number(self._amount)} {self._unit}  {speed}"
        part = min(self._amount / self._total, 1.0)
        done = round(part * BAR_CHARACTERS)
        left = f"{_duration(max(self._total - self._amount, 0) / rate)} left" if rate else ""
        bar = f"{part:4.0%} [{'#' * done}{'-' * (BAR_CHARACTERS - done)}]"
        return f"{bar} {self._number(self._amount)} of {self._number(self._total)} {self._unit}  {speed}  {left}".rstrip()

    def _number(self, amount: float) -> str:
        return f"{amount / 1e6:,.1f}" if self._unit == MEGABYTES else f"{amount:,.0f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{rest:02}" if minutes >= 60 else f"{minutes}:{rest:02}"
