"""A sequence diagram as text, for terminals and for reports of failed tests.

    producer               node 1       node 2
        │                     │           │
        │─ Metadata v13 orders ──────────▶│

The distance of two lifelines follows from the longest text of an arrow between them.
"""

from __future__ import annotations

from collections.abc import Sequence

from .layout import Diagram, DiagramStep, Tone

GAP = 6
_SIGNS = {Tone.ERROR: "✗ ", Tone.FAULT: "! ", Tone.FOLD: "… "}


def as_text(diagram: Diagram, *, times: bool = True) -> str:
    """Returns the diagram. With `times`, each line begins with the milliseconds since the first step."""
    steps = diagram.distinct_steps
    if not steps:
        return "no exchanges\n"
    columns = _columns(diagram, steps)
    start_ms = steps[0].at.wall_ms
    lines = [("", line) for line in _heads(diagram, columns)]
    for step in steps:
        time = f"{step.at.wall_ms - start_ms:+.0f} ms"
        lines.append((time, _note(step, columns) if step.is_note else _arrow(step, columns)))
    width = max(len(time) for time, _ in lines)
    return "".join((f"{time:>{width}}  {line}" if times else line).rstrip() + "\n" for time, line in lines)


def _columns(diagram: Diagram, steps: Sequence[DiagramStep]) -> list[int]:
    """Returns the positions of the lifelines."""
    names = [max(len(each.name), len(each.detail)) for each in diagram.lifelines]
    columns = [names[0] // 2]
    for right in range(1, len(names)):
        column = columns[-1] + (names[right - 1] + names[right]) // 2 + GAP
        for step in steps:
            left, end = sorted(step.lifelines)
            if end == right and left < right and not step.is_note:
                column = max(column, columns[left] + len(_text(step)) + GAP)
        columns.append(column)
    return columns


def _heads(diagram: Diagram, columns: Sequence[int]) -> list[str]:
    names = [each.name for each in diagram.lifelines]
    details = [each.detail for each in diagram.lifelines]
    rows = [names, details] if any(details) else [names]
    return [*(_centre(row, columns) for row in rows), _lifelines(columns)]


def _centre(texts: Sequence[str], columns: Sequence[int]) -> str:
    line = ""
    for text, column in zip(texts, columns, strict=True):
        line = line.ljust(max(0, column - len(text) // 2)) + text
    return line


def _lifelines(columns: Sequence[int]) -> str:
    return _centre("│" * len(columns), columns)


def _text(step: DiagramStep) -> str:
    return _SIGNS.get(step.tone, "") + step.text


def _arrow(step: DiagramStep, columns: Sequence[int]) -> str:
    source, target = (columns[number] for number in step.lifelines)
    left, right = min(source, target), max(source, target)
    shaft = f" {_text(step)} ".center(right - left - 2, "╌" if step.is_response else "─")
    return _over(columns, left + 1, shaft + "▶" if source < target else "◀" + shaft)


def _note(step: DiagramStep, columns: Sequence[int]) -> str:
    """Returns a line with a note that covers the lifelines, as long as its text, and longer if necessary."""
    first, last = (columns[number] for number in step.lifelines)
    text = f"[{_text(step)}]"
    return _over(columns, max(0, (first + last) // 2 - len(text) // 2), text)


def _over(columns: Sequence[int], position: int, text: str) -> str:
    line = _lifelines(columns).ljust(position + len(text))
    return line[:position] + text + line[position + len(text) :]
