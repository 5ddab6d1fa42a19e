"""A progress bar on stderr, for work that takes longer than a second. It is shown on a terminal only."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Self, TextIO

FIRST_S, PAUSE_S = 1.0, 0.2
BAR_CHARACTERS = 20
MEGABYTES = "MB"
"""The unit of amounts that are given in bytes."""
CLEAR_LINE = "\r\x1b[K"


class Progress:
    """A context manager whose bar shows the amount, the rate and, if the `total` is known, the time that is left.

    The bar is removed at the end.
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
