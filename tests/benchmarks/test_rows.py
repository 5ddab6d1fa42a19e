"""Rows, targets and the results of several rounds."""

from __future__ import annotations

from contextlib import nullcontext

import pytest

from benchmarks.brokers import FLOOR, MOCK, ODRADEK, Broker
from benchmarks.measures import MEASURES
from benchmarks.rows import Figures, Measure, Results, Row, Target, text_of


def broker(name: str) -> Broker:
    return Broker(name, "127.0.0.1:1", 1, 0.0, lambda: nullcontext(broker(name)))


@pytest.mark.parametrize(
    ("target", "verdict"),
    [
        (Target(10), "<= 10: met"),
        (Target(9.9), "<= 9.9: MISSED"),
        (Target(10, at_least=True), ">= 10: met"),
        (Target(11, at_least=True), ">= 11: MISSED"),
        (Target(2, MOCK), "<= 2 x mock: met"),
        (Target(1.9, MOCK), "<= 1.9 x mock: MISSED"),
        (Target(2, MOCK, at_least=True), ">= 2 x mock: met"),
        (Target(1, "Kafka"), "<= 1 x Kafka: unknown"),
    ],
)
def test_verdict_compares_with_number_or_peer(target: Target, verdict: str) -> None:
    assert target.verdict("row", {("row", ODRADEK): 10, ("row", MOCK): 5}) == verdict


def test_verdict_without_own_figure_is_unknown() -> None:
    assert Target(1).verdict("row", {}) == "<= 1: unknown"


@pytest.mark.parametrize(("unit", "more"), [("MB/s", True), ("1/s", True), ("us/MB", False), ("ms", False), ("", False)])
def test_row_of_a_rate_is_better_with_more(unit: str, more: bool) -> None:
    assert Row("row", unit).more_is_better == more


def test_results_are_medians_of_all_rounds() -> None:
    figures = iter([3.0, 1.0, 2.0])
    measure = Measure((Row("row", "ms"),), lambda broker: {"row": next(figures)})
    results = Results()
    for _ in range(3):
        results.take(measure, broker(ODRADEK))
    assert results.medians == {("row", ODRADEK): 2.0}


def test_failed_measure_leaves_its_cell_empty() -> None:
    def fail(broker: Broker) -> Figures:
        raise RuntimeError("a lost record")

    results = Results()
    for _ in range(2):
        results.take(Measure((Row("row", "ms"),), fail), broker(MOCK))
    assert results.medians == {}
    assert list(results.failures) == ["row, mock: a lost record"]


def test_measure_is_not_taken_of_other_brokers() -> None:
    results = Results()
    results.take(Measure((Row("row", "ms"),), lambda broker: {"row": 1.0}, (ODRADEK,)), broker(FLOOR))
    assert results.medians == {}


@pytest.mark.parametrize(("figure", "text"), [(None, "-"), (0.01234, "0.0123"), (9.876, "9.88"), (99.96, "100"), (12345.6, "12346")])
def test_text_of_figure_has_three_digits(figure: float | None, text: str) -> None:
    assert text_of(figure) == text


def test_names_of_rows_are_unique() -> None:
    names = [row.name for measure in MEASURES for row in measure.rows]
    assert len(set(names)) == len(names)
