"""The measures of growth work with a few things of each kind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from benchmarks.brokers import ODRADEK, Broker
from benchmarks.growth import FIGURES, MEASURES, THINGS, growth, row_name
from odradek import Cluster

SIZES = (2, 3)


@contextmanager
def started() -> Iterator[Broker]:
    with Cluster(nodes=1) as cluster:
        yield Broker(ODRADEK, cluster.bootstrap_servers, os.getpid(), 0.0, started)


@pytest.mark.parametrize("things", THINGS)
def test_growth_has_all_figures_of_each_size(things: str) -> None:
    with started() as broker:
        figures = growth(broker, things, SIZES)
    assert set(figures) == {row_name(things, size, figure) for size in SIZES for figure in FIGURES}
    assert all(figures[row_name(things, size, "CPU")] > 0 for size in SIZES)


def test_every_row_begins_with_growth() -> None:
    assert all(row.name.startswith("growth, ") for measure in MEASURES for row in measure.rows)
