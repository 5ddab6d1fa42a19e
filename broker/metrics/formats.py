"""The formats in which metrics are exposed, and the choice between them by the header Accept, as Prometheus's own libraries choose.

OpenMetrics is sent to clients that name it, and Prometheus's classic text format 0.0.4 to all others, which every tool reads. The classic
format is made of the other: the family of a counter has the name of its samples, quotation marks in help texts are not escaped, and
nothing marks the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from .openmetrics import END

_MEDIA_TYPE = "application/openmetrics-text"
_HEAD = re.compile(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$", re.MULTILINE)
_WEIGHT = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")


class Format(NamedTuple):
    """A format of metrics. `written` returns pieces of OpenMetrics text in this format."""

    content_type: str
    written: Callable[[Iterable[str]], Iterable[str]]


def format_for(accept: str) -> Format:
    """Returns the format for a client with this header Accept."""
    weights: dict[str, float] = {}
    for entry in accept.lower().split(","):
        media_type, *parameters = map(str.strip, entry.split(";"))
        found = [match for match in map(_WEIGHT.fullmatch, parameters) if match]
        weights[media_type] = max(weights.get(media_type, 0), float(found[0][1]) if found else 1)
    wanted = weights.get(_MEDIA_TYPE, 0)
    return OPENMETRICS if wanted and wanted >= weights.get("text/plain", 0) else CLASSIC


def _classic(pieces: Iterable[str]) -> Iterator[str]:
    return (_HEAD.sub(_classic_head, piece) for piece in pieces if piece != END)


def _classic_head(head: re.Match[str]) -> str:
    name, help_text, kind = head.groups()
    name += "_total" if kind == "counter" else ""
    plain = help_text.replace('\\"', '"')
    return f"# HELP {name} {plain}\n# TYPE {name} {kind}"


OPENMETRICS = Format(f"{_MEDIA_TYPE}; version=1.0.0; charset=utf-8", lambda pieces: pieces)
CLASSIC = Format("text/plain; version=0.0.4; charset=utf-8", _classic)
