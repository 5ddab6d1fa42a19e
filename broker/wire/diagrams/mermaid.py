"""A sequence diagram in the language of Mermaid, which code hosts and many editors render in Markdown."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .layout import Diagram, DiagramStep, Tone
from .lifelines import Lifeline

_UNSAFE = re.compile(r"[^\w .,/()\[\]=+*!?|'…-]")
"""All characters that may mean something to Mermaid or to HTML. They are written by their code points."""


def as_mermaid(diagram: Diagram) -> str:
    """Returns the source of the diagram."""
    return "\n".join(_lines(diagram)) + "\n"


def _lines(diagram: Diagram) -> Iterator[str]:
    yield "sequenceDiagram"
    for number, lifeline in enumerate(diagram.lifelines):
        yield f"    participant {_id(number)} as {_name(lifeline)}"
    for step in diagram.distinct_steps:
        yield f"    {_note(step) if step.is_note else _arrow(step)}: {quote(step.text)}"


def _id(number: int) -> str:
    return f"p{number}"


def _name(lifeline: Lifeline) -> str:
    return "<br/>".join(quote(text) for text in (lifeline.name, lifeline.detail) if text)


def _arrow(step: DiagramStep) -> str:
    source, target = step.lifelines
    head = "--x" if step.tone is Tone.ERROR else "-->>" if step.is_response else "->>"
    return f"{_id(source)}{head}{_id(target)}"


def _note(step: DiagramStep) -> str:
    first, last = step.lifelines
    return f"note over {_id(first)}" + (f",{_id(last)}" if last != first else "")


def quote(text: str) -> str:
    """Returns text as Mermaid shows it unchanged."""
    return _UNSAFE.sub(lambda match: f"#{ord(match[0])};", text)
