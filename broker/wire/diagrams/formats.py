"""The formats of sequence diagrams by their names, as `--format` takes them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ..exchange import Entry
from .layout import diagram_of


def _text(entries: Sequence[Entry]) -> str:
    from .text import as_text

    return as_text(diagram_of(entries))


def _mermaid(entries: Sequence[Entry]) -> str:
    from .mermaid import as_mermaid

    return as_mermaid(diagram_of(entries))


def _svg(entries: Sequence[Entry]) -> str:
    from .svg import as_svg

    return as_svg(diagram_of(entries))


def _html(entries: Sequence[Entry]) -> str:
    from .html import as_html

    return as_html(diagram_of(entries), entries)


FORMATS: Mapping[str, Callable[[Sequence[Entry]], str]] = {"text": _text, "mermaid": _mermaid, "svg": _svg, "html": _html}
"""The functions that return a diagram of some entries."""
