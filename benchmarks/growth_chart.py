"""The chart of `growth.py` as SVG text: a panel for each figure, a line for each kind of things, and logarithmic axes.

A level line means that the figure does not depend on the size.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import escape

from .brokers import ODRADEK
from .chart import label, picture
from .growth import ACKNOWLEDGEMENT, CPU, FIGURES, MEMORY, SIZES, THINGS, row_name
from .rows import Medians, text_of

WIDTH, HEIGHT = 1080, 350
PANEL_WIDTH, PANEL_HEIGHT, LEFT, TOP, GAP = 270, 220, 56, 96, 76
TITLES = {
    CPU: f"CPU time for each, {FIGURES[CPU]}",
    MEMORY: f"memory for each, {FIGURES[MEMORY]}",
    ACKNOWLEDGEMENT: f"acknowledgement beside them, {FIGURES[ACKNOWLEDGEMENT]}",
}

_STYLE = """
  svg { background: #ffffff; font: 12px system-ui, sans-serif; }
  text { fill: #1f2328; } .quiet { fill: #59636e; } .title { font-size: 16px; font-weight: 600; } .name { font-weight: 600; }
  path { fill: none; stroke-width: 2; } .grid { stroke: #d1d9e0; stroke-width: 1; }
  .l0 { stroke: #0969da; } .l1 { stroke: #bf8700; } .l2 { stroke: #8250df; } .l3 { stroke: #1a7f37; } .l4 { stroke: #cf222e; }
  .l5 { stroke: #59636e; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .quiet { fill: #9198a1; } .grid { stroke: #3d444d; }
    .l0 { stroke: #4493f8; } .l1 { stroke: #d29922; } .l2 { stroke: #ab7df8; } .l3 { stroke: #3fb950; } .l4 { stroke: #f85149; }
    .l5 { stroke: #9198a1; }
  }
"""


def growth_chart(medians: Medians, subtitle: str) -> str:
    """Returns the SVG. A kind of things without figures has no line."""
    parts = [label(16, 28, "how odradek's cost grows", "title"), label(16, 48, subtitle, "quiet"), *_legend()]
    for number, figure in enumerate(FIGURES):
        parts += _panel(figure, medians, LEFT + number * (PANEL_WIDTH + GAP))
    return picture(WIDTH, HEIGHT, subtitle, _STYLE, parts)


def _legend() -> Iterator[str]:
    for number, things in enumerate(THINGS):
        left = LEFT + number * 110
        yield f'<path class="l{number}" d="M{left} 66h16"/>'
        yield label(left + 22, 70, things)


def _panel(figure: str, medians: Medians, left: int) -> Iterator[str]:
    """Yields the axes, whose lowest and highest values are powers of ten, and the lines."""
    lines = {things: found for things in THINGS if (found := _points(things, figure, medians))}
    values = [value for found in lines.values() for _, value in found] or [1.0]
    lowest, highest = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    highest = max(highest, lowest + 1)
    bottom = TOP + PANEL_HEIGHT
    yield label(left, TOP - 8, TITLES[figure], "name")
    for power in range(lowest, highest + 1):
        level = bottom - PANEL_HEIGHT * (power - lowest) / (highest - lowest)
        yield f'<path class="grid" d="M{left} {level:.1f}h{PANEL_WIDTH}"/>'
        yield label(left - 6, level + 4, f"{10.0**power:g}", "quiet", "end")
    for size in SIZES:
        yield label(_across(size, left), bottom + 18, f"{size:,}", "quiet", "middle")
    for number, things in enumerate(THINGS):
        drawn = [
            (_across(size, left), bottom - PANEL_HEIGHT * (math.log10(value) - lowest) / (highest - lowest))
            for size, value in lines.get(things, ())
        ]
        if drawn:
            title = ", ".join(f"{size:,}: {text_of(value)}" for size, value in lines[things])
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in drawn)
            yield f'<path class="l{number}" d="M{path}"><title>{escape(f"{things}: {title}")}</title></path>'


def _points(things: str, figure: str, medians: Medians) -> Sequence[tuple[int, float]]:
    """Returns the figures by size, without those that a logarithmic axis cannot show."""
    found = ((size, medians.get((row_name(things, size, figure), ODRADEK), 0)) for size in SIZES)
    return [(size, value) for size, value in found if value > 0]


def _across(size: int, left: int) -> float:
    return left + PANEL_WIDTH * math.log10(size / SIZES[0]) / math.log10(SIZES[-1] / SIZES[0])
