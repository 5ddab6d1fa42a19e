"""The table, the chart and the files of a report."""

from __future__ import annotations

import platform
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from benchmarks import brokers, growth
from benchmarks.brokers import BROKERS, FLOOR, KAFKA, KFAKE, MOCK, ODRADEK
from benchmarks.chart import BAR_LEFT, chart
from benchmarks.measures import MEASURES
from benchmarks.report import Report, charts, machine, markdown, write_report
from benchmarks.rows import Medians, Results, Row, Target
from benchmarks.table import table

ROWS = (
    Row("produce 1 KiB", "MB/s", (Target(0.5, MOCK, at_least=True), Target(2, KAFKA, at_least=True))),
    Row("produce 1 KiB: CPU", "us/MB", (Target(1.15, FLOOR),)),
    Row("start <fresh> & idle | twice", "ms"),
    Row("memory per stored byte", "", (Target(1.1),)),
)
MEDIANS: Medians = {
    ("produce 1 KiB", ODRADEK): 800.0,
    ("produce 1 KiB", MOCK): 1600.0,
    ("produce 1 KiB", KAFKA): 300.0,
    ("produce 1 KiB: CPU", ODRADEK): 700.0,
    ("produce 1 KiB: CPU", FLOOR): 560.0,
    ("start <fresh> & idle | twice", ODRADEK): 100.0,
    ("start <fresh> & idle | twice", KAFKA): 2000.0,
    ("memory per stored byte", ODRADEK): 1.02,
}
NAMES = (ODRADEK, FLOOR, MOCK, KAFKA)
WIDEST_AVERAGE_PX = 7.2  # of a character of a long name in bold
SVG = "{http://www.w3.org/2000/svg}"


def report(names: tuple[str, ...] = NAMES, failures: tuple[str, ...] = ()) -> Report:
    return Report(ROWS, names, MEDIANS, failures, "2026-01-31", "2 x Processor", {name: f"version of {name}" for name in names})


def drawn(names: tuple[str, ...] = NAMES, medians: Medians = MEDIANS) -> ElementTree.Element:
    return ElementTree.fromstring(chart(ROWS, names, medians, "2026-01-31, a <machine> & more"))


def texts(svg: ElementTree.Element) -> list[str]:
    return [text.text or "" for text in svg.iter(f"{SVG}text")]


# The table


def test_table_has_each_row_with_ratios_and_verdicts() -> None:
    head, *lines = table(ROWS, NAMES, MEDIANS)
    assert head.split() == [*NAMES, "/", FLOOR, "/", MOCK, "/", KAFKA, "target"]
    assert [line.startswith(row.name) for line, row in zip(lines, ROWS, strict=True)] == [True] * 4
    assert lines[0].endswith("-     0.50     2.67  >= 0.5 x mock: met; >= 2 x Kafka: met")
    assert lines[0].split()[3:8] == ["MB/s", "800", "-", "1600", "300"]
    assert lines[1].split()[4:12] == ["us/MB", "700", "560", "-", "-", "1.25", "-", "-"]
    assert lines[1].endswith("<= 1.15 x floor: MISSED")


def test_table_of_odradek_alone_has_one_column() -> None:
    head, *lines = table(ROWS, (ODRADEK,), MEDIANS)
    assert head.split() == [ODRADEK, "target"]
    assert lines[3].split()[4:] == ["1.02", "<=", "1.1:", "met"]


# The chart


def test_chart_has_a_group_for_every_row() -> None:
    found = texts(drawn())
    assert [row.name for row in ROWS if row.name in found] == [row.name for row in ROWS]
    assert found.count("MB/s, more is better") == 1
    assert found.count("less is better") == 1, "a row without a unit"


def test_chart_has_a_bar_for_every_figure() -> None:
    svg = drawn()
    bars = [rect for rect in svg.iter(f"{SVG}rect") if float(rect.get("y", "0")) > 60]
    assert len(bars) == len(MEDIANS)
    assert {"800 MB/s", "1600 MB/s  (0.50 x)", "300 MB/s  (2.67 x)", "560 us/MB  (1.25 x)", "1.02"} <= set(texts(svg))


def test_chart_scales_each_group_by_its_largest_figure() -> None:
    widths = [float(rect.get("width", "0")) for rect in drawn().iter(f"{SVG}rect") if float(rect.get("y", "0")) > 60]
    assert widths[0] / widths[1] == 0.5
    assert widths[1] == widths[3] == max(widths)


def test_chart_has_its_notes_below_the_bars() -> None:
    svg = ElementTree.fromstring(chart(ROWS, NAMES, MEDIANS, "", ["odradek: 1.2 <3>", "Kafka: 4"]))
    assert texts(svg)[-2:] == ["odradek: 1.2 <3>", "Kafka: 4"]
    lowest_bar = max(float(rect.get("y", "0")) for rect in svg.iter(f"{SVG}rect"))
    assert [float(text.get("y", "0")) > lowest_bar for text in list(svg.iter(f"{SVG}text"))[-2:]] == [True, True]


def test_names_of_rows_fit_beside_the_bars() -> None:
    assert max(len(row.name) for measure in MEASURES for row in measure.rows) * WIDEST_AVERAGE_PX < BAR_LEFT - 16


def test_chart_leaves_out_missing_peers() -> None:
    medians = {key: figure for key, figure in MEDIANS.items() if key[1] in (ODRADEK, FLOOR)}
    text = chart(ROWS, (ODRADEK, FLOOR), medians, "")
    assert MOCK not in text
    assert KAFKA not in text
    assert FLOOR in text


def test_chart_leaves_out_rows_without_figures() -> None:
    svg = drawn(medians={("memory per stored byte", ODRADEK): 1.02})
    assert [row.name for row in ROWS if row.name in texts(svg)] == ["memory per stored byte"]


@pytest.mark.parametrize("figure", [0.0, 1e-9, 1e12])
def test_chart_of_extreme_figures_has_visible_bars(figure: float) -> None:
    svg = drawn(medians={("memory per stored byte", ODRADEK): figure})
    *_, bar = svg.iter(f"{SVG}rect")
    assert float(bar.get("width", "0")) >= 1


def test_chart_fits_its_picture() -> None:
    svg = drawn()
    width, height = float(svg.get("width", "0")), float(svg.get("height", "0"))
    for rect in svg.iter(f"{SVG}rect"):
        x, y, w, h = (float(rect.get(name, "0")) for name in ("x", "y", "width", "height"))
        assert x + w <= width
        assert y + h <= height


def test_chart_has_colours_for_both_backgrounds() -> None:
    text = chart(ROWS, BROKERS, MEDIANS, "")
    light, dark = text.split("prefers-color-scheme: dark")
    classes = {f".b{number}" for number in range(len(BROKERS))}
    for style in (light, dark):
        assert classes <= set(re.findall(r"\.b\d", style))
        assert "background" in style


# The files


def test_write_report_creates_table_and_chart(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "folder"
    write_report(folder, report())
    assert sorted(path.name for path in folder.iterdir()) == ["report.md", "report.svg"]
    assert "Kafka: version of Kafka" in texts(ElementTree.parse(folder / "report.svg").getroot())
    assert (folder / "report.md").read_text() == markdown(report())


def test_report_draws_rows_of_growth_as_lines(tmp_path: Path) -> None:
    rows = growth.MEASURES[0].rows
    both = report()._replace(rows=(*ROWS, *rows), medians={**MEDIANS, (rows[0].name, ODRADEK): 7.0})
    write_report(tmp_path, both)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["growth.svg", "report.md", "report.svg"]
    assert rows[0].name not in texts(ElementTree.parse(tmp_path / "report.svg").getroot())
    assert "(growth.svg)" in markdown(both)
    assert list(charts(both._replace(rows=rows))) == ["growth.svg"]


def test_markdown_has_every_row_date_versions_and_machine() -> None:
    text = markdown(report())
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(ROWS)
    assert len({len(re.findall(r"(?<!\\)\|", line)) for line in lines}) == 1, "all lines have the same number of cells"
    assert "| start <fresh> & idle \\| twice | ms | 100 |" in text
    assert "2026-01-31, on 2 x Processor." in text
    assert "* Kafka: version of Kafka" in text
    assert "(report.svg)" in text


def test_markdown_leaves_out_missing_peers() -> None:
    text = markdown(report((ODRADEK, MOCK)))
    assert "/ mock" in text
    assert "/ Kafka" not in text
    assert "version of Kafka" not in text


def test_markdown_names_failed_measures() -> None:
    assert "Failed" not in markdown(report())
    assert "* row, mock: a lost record" in markdown(report(failures=("row, mock: a lost record",)))


def test_report_of_this_machine_reveals_no_name_or_path() -> None:
    text = markdown(Report.of_this_machine(ROWS, BROKERS, Results()))
    assert machine() in text
    assert platform.node() not in text
    assert str(Path.home()) not in text
    assert str(Path(brokers.__file__).parent) not in text


def test_versions_name_every_broker() -> None:
    found = brokers.versions(BROKERS)
    assert list(found) == list(BROKERS)
    assert all(found.values())
    assert found[KFAKE].startswith("v0.")
