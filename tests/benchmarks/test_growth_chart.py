"""The chart of growth: one line for each kind of things with figures, within its panel."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from benchmarks.brokers import ODRADEK
from benchmarks.growth import CPU, FIGURES, SIZES, THINGS, row_name
from benchmarks.growth_chart import LEFT, PANEL_HEIGHT, PANEL_WIDTH, TOP, growth_chart
from benchmarks.rows import Medians

SVG = "{http://www.w3.org/2000/svg}"
LINE = re.compile(r"M([-\d.]+ [-\d.]+(?:L[-\d.]+ [-\d.]+)*)$")
ALL: Medians = {
    (row_name(things, size, figure), ODRADEK): 3.0 + number for number, things in enumerate(THINGS) for size in SIZES for figure in FIGURES
}


def lines(medians: Medians) -> dict[str, list[tuple[float, float]]]:
    """Returns the points of the lines by their tooltips."""
    found: dict[str, list[tuple[float, float]]] = {}
    for path in ElementTree.fromstring(growth_chart(medians, "2026-01-31, a <machine>")).iter(f"{SVG}path"):
        title = path.find(f"{SVG}title")
        if title is not None and (match := LINE.match(path.get("d", ""))):
            points = [point.split() for point in match[1].split("L")]
            found[f"{len(found)} {title.text}"] = [(float(x), float(y)) for x, y in points]
    return found


def test_each_kind_of_things_has_a_line_in_each_panel() -> None:
    assert len(lines(ALL)) == len(THINGS) * len(FIGURES)


def test_equal_figures_are_a_level_line() -> None:
    assert all(len({y for _, y in points}) == 1 and len(points) == len(SIZES) for points in lines(ALL).values())


@pytest.mark.parametrize("figure", [1e-7, 0.5, 1.0, 1e9])
def test_points_lie_within_the_panel(figure: float) -> None:
    medians = {**ALL, (row_name("topics", SIZES[-1], CPU), ODRADEK): figure}
    points = [point for found in lines(medians).values() for point in found]
    assert min(x for x, _ in points) == LEFT
    assert all(TOP - 0.1 <= y <= TOP + PANEL_HEIGHT + 0.1 for _, y in points)


def test_ten_times_the_size_is_a_third_of_the_width() -> None:
    (first, second, *_), *_ = lines(ALL).values()
    assert second[0] - first[0] == pytest.approx(PANEL_WIDTH / 3, abs=0.2)


def test_missing_and_zero_figures_have_no_points() -> None:
    medians = {(row_name("topics", 10, CPU), ODRADEK): 0.0, (row_name("topics", 100, CPU), ODRADEK): 5.0}
    assert list(lines(medians)) == ["0 topics: 100: 5"]
    assert not lines({})
