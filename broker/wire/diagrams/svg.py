"""A sequence diagram as SVG: one file that refers to nothing else, and that browsers show in light and dark colours as their user prefers.

Texts come from clients. They are escaped, and a character that XML forbids has become an escape already (`labels.shorten`).
`html.py` shows the same rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from ...plurals import counted
from .layout import Diagram, DiagramStep, Tone

ROW_HEIGHT, HEAD_HEIGHT, MARGIN = 26, 52, 24
CHARACTER_WIDTH = 7.3
"""The width of a character of the monospaced font, in pixels, with a little room."""
TIME_WIDTH = 84
STYLE = """
.diagram{--ink:#1f2328;--faint:#8b949e;--paper:#ffffff;--wait:#8250df;--fault:#9a6700;--error:#cf222e;--event:#0550ae;--node:#ddf4ff;--note:#f6f8fa;
font:12px ui-monospace,Menlo,Consolas,monospace;background:var(--paper);fill:var(--ink)}
@media (prefers-color-scheme:dark){.diagram{--ink:#e6edf3;--faint:#7d8590;--paper:#0d1117;--wait:#d2a8ff;--fault:#e3b341;--error:#ff7b72;
--event:#79c0ff;--node:#0c2d6b;--note:#161b22}}
.diagram .lifeline{stroke:var(--faint);stroke-dasharray:2 3}
.diagram .head{fill:var(--note);stroke:var(--faint)}
.diagram .node .head{fill:var(--node)}
.diagram .faint{fill:var(--faint)}
.diagram .middle{text-anchor:middle}
.diagram .end{text-anchor:end}
.diagram .arrow{stroke:var(--tone,var(--ink));stroke-width:1.3;fill:none}
.diagram .response{stroke-dasharray:5 3}
.diagram .tip{fill:var(--tone,var(--ink));stroke:none}
.diagram .label{fill:var(--tone,var(--ink));paint-order:stroke;stroke:var(--paper);stroke-width:4px}
.diagram .box{fill:var(--note);stroke:var(--tone,var(--faint))}
.diagram .wait{--tone:var(--wait)}
.diagram .fault{--tone:var(--fault)}
.diagram .error{--tone:var(--error)}
.diagram .event,.diagram .fold{--tone:var(--event)}
"""


def as_svg(diagram: Diagram, *, times: bool = True) -> str:
    """Returns the document. With `times`, each step has the milliseconds since the first one."""
    frame = SvgFrame(diagram, diagram.distinct_steps, times=times)
    height = HEAD_HEIGHT + ROW_HEIGHT * len(diagram.distinct_steps) + MARGIN
    rows = "".join(
        f'<g transform="translate(0 {HEAD_HEIGHT + ROW_HEIGHT * number})">{frame.row(step)}</g>\n'
        for number, step in enumerate(diagram.distinct_steps)
    )
    steps = counted(len(diagram.steps), "step")
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="diagram" role="img" viewBox="0 0 {frame.width:.0f} {height}" '
        f'width="{frame.width:.0f}" height="{height}">\n<title>Sequence diagram of {steps}</title>\n'
        f'<style>{STYLE}</style>\n<rect width="100%" height="100%" fill="var(--paper)"/>\n{frame.heads()}\n{rows}</svg>\n'
    )


class SvgFrame:
    """The positions of lifelines, and the drawings of heads and rows. The origin of each row is its upper left corner."""

    def __init__(self, diagram: Diagram, steps: Sequence[DiagramStep], *, times: bool) -> None:
        self._diagram = diagram
        self._start_ms = steps[0].at.wall_ms if steps else 0.0
        self._times = times
        self._columns = _columns(diagram, steps, TIME_WIDTH if times else 0)
        ends = [self._middle(step) + _width(step.text) / 2 for step in steps if step.is_note]
        names = [column + _width(each.name + each.detail) / 2 for column, each in zip(self._columns, diagram.lifelines, strict=True)]
        self.width = max([*ends, *names, 200]) + MARGIN

    def heads(self) -> str:
        """Returns the names of the lifelines in boxes."""
        return "".join(
            f'<g class="{"node" if each.is_node else "client"}">{_box(x, 6, max(_width(each.name), _width(each.detail)), 36, "head")}'
            f"{_text(x, 21 if each.detail else 28, each.name, 'middle')}{_text(x, 36, each.detail, 'middle faint')}</g>"
            for x, each in zip(self._columns, self._diagram.lifelines, strict=True)
        )

    def row(self, step: DiagramStep) -> str:
        """Returns a step with the parts of the lifelines beside it."""
        lines = "".join(f'<path class="lifeline" d="M{x:.0f} 0V{ROW_HEIGHT}"/>' for x in self._columns)
        time = _text(TIME_WIDTH - 10, 17, f"{step.at.wall_ms - self._start_ms:+.0f} ms", "faint end") if self._times else ""
        drawing = self._note(step) if step.is_note else self._arrow(step)
        return f'{lines}{time}<g class="{step.tone.value}">{drawing}</g>'

    def _arrow(self, step: DiagramStep) -> str:
        start, end = (self._columns[number] for number in step.lifelines)
        back = 7 if start < end else -7
        kind = "arrow response" if step.is_response else "arrow"
        tip = f'<path class="tip" d="M{end:.0f} 20l{-back} -4v8z"/>'
        line = f'<path class="{kind}" d="M{start:.0f} 20H{end - back:.0f}"/>'
        sign = "✗ " if step.tone is Tone.ERROR else ""
        return f"{line}{tip}{_text((start + end) / 2, 14, sign + step.text, 'label middle')}"

    def _note(self, step: DiagramStep) -> str:
        x = self._middle(step)
        return _box(x, 3, _width(step.text), ROW_HEIGHT - 6, "box") + _text(x, 17, step.text, "label middle")

    def _middle(self, step: DiagramStep) -> float:
        first, last = (self._columns[number] for number in step.lifelines)
        return max((first + last) / 2, _width(step.text) / 2 + MARGIN / 2 + (TIME_WIDTH if self._times else 0))


def _columns(diagram: Diagram, steps: Sequence[DiagramStep], left: float) -> list[float]:
    """Returns the positions of the lifelines, between which the texts of their arrows fit."""
    heads = [max(_width(each.name), _width(each.detail)) for each in diagram.lifelines]
    columns: list[float] = []
    for right, head in enumerate(heads):
        column = left + MARGIN + head / 2 if not columns else columns[-1] + (heads[right - 1] + head) / 2 + MARGIN
        for step in steps:
            first, last = sorted(step.lifelines)
            if last == right and first < right and not step.is_note:
                column = max(column, columns[first] + _width(step.text) + 2 * MARGIN)
        columns.append(column)
    return columns


def _width(text: str) -> float:
    """Returns an estimate of the width of a text, which is never too small for the fonts in use."""
    return sum(CHARACTER_WIDTH * (1 if ord(character) < 0x1100 else 1.8) for character in text) + 12


def _box(x: float, y: float, width: float, height: float, kind: str) -> str:
    return f'<rect class="{kind}" x="{x - width / 2:.0f}" y="{y:.0f}" width="{width:.0f}" height="{height:.0f}" rx="4"/>'


def _text(x: float, y: float, text: str, kind: str) -> str:
    return f'<text class="{kind}" x="{x:.0f}" y="{y:.0f}">{escape(text)}</text>' if text else ""
