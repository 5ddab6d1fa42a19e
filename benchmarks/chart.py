"""The chart of a report as SVG text: one group of bars for each row, readable on a light and on a dark background.

The rows have different units, so each group has a scale of its own: its largest figure is as wide as the chart. The text beside a bar is
the figure and, for a peer, odradek's figure divided by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape

from .brokers import BROKERS, ODRADEK
from .rows import Medians, Row, text_of
from .table import ratio

WIDTH, BAR_LEFT, BAR_WIDTH = 920, 330, 430
BAR_HEIGHT, GROUP_GAP, LINE_HEIGHT, TOP = 14, 12, 16, 84

_STYLE = """
  svg { background: #ffffff; font: 12px system-ui, sans-serif; }
  text { fill: #1f2328; } .quiet { fill: #59636e; } .title { font-size: 16px; font-weight: 600; } .name { font-weight: 600; }
  .b0 { fill: #0969da; } .b1 { fill: #8c959f; } .b2 { fill: #bf8700; } .b3 { fill: #8250df; } .b4 { fill: #1a7f37; }
  @media (prefers-color-scheme: dark) {
    svg { background: #0d1117; } text { fill: #e6edf3; } .quiet { fill: #9198a1; }
    .b0 { fill: #4493f8; } .b1 { fill: #6e7681; } .b2 { fill: #d29922; } .b3 { fill: #ab7df8; } .b4 { fill: #3fb950; }
  }
"""


def chart(rows: Sequence[Row], names: Sequence[str], medians: Medians, subtitle: str, notes: Sequence[str] = ()) -> str:
    """Returns the SVG, with the notes below the bars.

    Brokers without a figure in a row have no bar in its group, and rows without any figure have no group.
    """
    parts, top = [label(16, 28, "odradek beside other brokers", "title"), label(16, 48, subtitle, "quiet"), *_legend(names)], TOP
    for row in rows:
        bars = [(name, figure) for name in names if (figure := medians.get((row.name, name))) is not None]
        if bars:
            parts += _group(row, bars, medians, top)
            top += max(len(bars), 2) * BAR_HEIGHT + GROUP_GAP
    for note in ("In brackets: odradek's figure divided by the peer's.", *notes):
        parts.append(label(16, top + 10, note, "quiet"))
        top += LINE_HEIGHT
    top += GROUP_GAP
    return picture(WIDTH, top, subtitle, _STYLE, parts)


def _legend(names: Sequence[str]) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        left = BAR_LEFT + number * 90
        parts += [_bar(name, left, 58, 10), label(left + 16, 68, name)]
    return parts


def _group(row: Row, bars: Sequence[tuple[str, float]], medians: Medians, top: int) -> list[str]:
    better = "more is better" if row.more_is_better else "less is better"
    parts = [label(16, top + 11, row.name, "name"), label(16, top + 11 + BAR_HEIGHT, f"{row.unit}, {better}".removeprefix(", "), "quiet")]
    largest = max(figure for _, figure in bars)
    for number, (name, figure) in enumerate(bars):
        width = max(BAR_WIDTH * figure / largest, 1) if largest else 1
        divided = "" if name == ODRADEK or (shown := ratio(row, name, medians)) == "-" else f"  ({shown} x)"
        text = f"{text_of(figure)} {row.unit}".rstrip() + divided
        parts += [
            _bar(name, BAR_LEFT, top + number * BAR_HEIGHT, width),
            label(BAR_LEFT + width + 6, top + number * BAR_HEIGHT + 10, text, "quiet"),
        ]
    return parts


def _bar(name: str, left: float, top: float, width: float) -> str:
    place = f'x="{left:.1f}" y="{top}" width="{width:.1f}" height="{BAR_HEIGHT - 3}"'
    return f'<rect class="b{BROKERS.index(name)}" {place} rx="2"><title>{escape(name)}</title></rect>'


def label(left: float, baseline: float, text: str, kind: str = "", anchor: str = "") -> str:
    """Returns a text, which begins at `left` unless another anchor is given."""
    aligned = f' text-anchor="{anchor}"' if anchor else ""
    return f'<text class="{kind}" x="{left:.1f}" y="{baseline:g}"{aligned}>{escape(text)}</text>'


def picture(width: int, height: int, subtitle: str, style: str, parts: Sequence[str]) -> str:
    """Returns the SVG with these parts. Readers without a picture get the subtitle."""
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
    return "\n".join([head, f"<title>{escape(subtitle)}</title>", f"<style>{style}</style>", *parts, "</svg>", ""])
