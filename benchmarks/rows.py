"""The rows of the broker benchmark: what is measured, in which unit, with which targets, and the medians of several rounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from typing import NamedTuple

from .brokers import KAFKA, KFAKE, MOCK, ODRADEK, Broker

Figures = dict[str, float]
"""The result of a measure: figures by the names of its rows."""

Medians = Mapping[tuple[str, str], float]
"""Figures by the names of row and broker. A broker without a figure is missing."""


class Target(NamedTuple):
    """A limit for odradek's figure: a number, or a multiple of a peer's figure."""

    limit: float
    peer: str | None = None
    at_least: bool = False

    def verdict(self, row: str, medians: Medians) -> str:
        """Returns the target as text, and whether odradek meets it."""
        text = f"{'>=' if self.at_least else '<='} {self.limit:g}" + (f" x {self.peer}" if self.peer else "")
        ours, peer = medians.get((row, ODRADEK)), medians.get((row, self.peer or ODRADEK))
        if ours is None or peer is None:
            return f"{text}: unknown"
        limit = self.limit * peer if self.peer else self.limit
        return f"{text}: {'met' if (ours >= limit if self.at_least else ours <= limit) else 'MISSED'}"


class Row(NamedTuple):
    """A line of the table."""

    name: str
    unit: str
    targets: tuple[Target, ...] = ()

    @property
    def more_is_better(self) -> bool:
        """Whether the figure is a rate."""
        return self.unit.endswith("/s")


class Measure(NamedTuple):
    """A function that returns figures for `rows`. It is called for the named brokers, as far as they are present."""

    rows: tuple[Row, ...]
    run: Callable[[Broker], Figures]
    brokers: tuple[str, ...] = (ODRADEK, MOCK, KAFKA, KFAKE)


class Results:
    """The figures of all rounds, and the reasons of measures that failed."""

    def __init__(self) -> None:
        self._figures: dict[tuple[str, str], list[float]] = {}
        self.failures: dict[str, None] = {}

    def take(self, measure: Measure, broker: Broker) -> None:
        """Adds the figures of one measure. If it fails, its cells stay empty, and the reason is kept."""
        if broker.name not in measure.brokers:
            return
        try:
            figures = measure.run(broker)
        except Exception as error:
            self.failures[f"{measure.rows[0].name}, {broker.name}: {error}"] = None
            return
        for row, figure in figures.items():
            self._figures.setdefault((row, broker.name), []).append(figure)

    @property
    def medians(self) -> Medians:
        return {key: median(figures) for key, figures in self._figures.items()}


def text_of(figure: float | None) -> str:
    """Returns a figure with three significant digits, or as an integer from 100 on; "-" if there is none."""
    if figure is None:
        return "-"
    return f"{figure:.0f}" if figure >= 100 else f"{figure:.3g}"
