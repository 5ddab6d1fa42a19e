"""The text format of OpenMetrics 1.0, families of samples with their labels, and Prometheus's classic text format 0.0.4.

OpenMetrics is sent to clients whose header Accept names it, as Prometheus's own libraries choose, and the classic format to all others,
because every tool reads it. The classic format is made of the other: the family of a counter has the name of its samples, quotation marks
in help texts are not escaped, and nothing marks the end.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

END = "# EOF\n"
_MEDIA_TYPE = "application/openmetrics-text"
_HEAD = re.compile(r"^# HELP (\S+) (.*)\n# TYPE \S+ (\w+)$", re.MULTILINE)
_WEIGHT = re.compile(r"q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)")
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Family(NamedTuple):
    """Samples of one name. `kind` is a type of OpenMetrics: gauge, counter, histogram or info."""

    name: str
    kind: str
    help: str

    @property
    def head(self) -> str:
        """The lines before the samples."""
        return f"# HELP {self.name} {escape(self.help)}\n# TYPE {self.name} {self.kind}\n"


def gauge(name: str, help_text: str) -> Family:
    return Family(name, "gauge", help_text)


def counter(name: str, help_text: str) -> Family:
    """Returns the family of a counter. The name of its samples ends with `_total`, that of the family does not."""
    return Family(name, "counter", help_text)


def escape(text: str) -> str:
    """Returns the text as it may stand between quotation marks. All other characters are allowed, so a hostile name stays one value."""
    return text.translate(_ESCAPES)


def labels(**values: object) -> str:
    """Returns the labels in braces."""
    return "{" + ",".join(f'{name}="{escape(str(value))}"' for name, value in values.items()) + "}"


def samples(name: str, values: Iterable[tuple[str, float]]) -> str:
    """Returns the lines of samples, given as pairs of labels and value."""
    return "".join(f"{name}{labelled} {value}\n" for labelled, value in values)


class ExpositionFormat(NamedTuple):
    """A format in which metrics are exposed. `convert` returns pieces of OpenMetrics text in this format."""

    content_type: str
    convert: Callable[[Iterable[str]], Iterable[str]]


def format_for(accept: str) -> ExpositionFormat:
    """Returns the format for a client with this header Accept."""
    weights: dict[str, float] = {}
    for entry in accept.lower().split(","):
        media_type, *parameters = map(str.strip, entry.split(";"))
        found = [match for match in map(_WEIGHT.fullmatch, parameters) if match]
        weights[media_type] = max(weights.get(media_type, 0), float(found[0][1]) if found else 1)
    wanted = weights.get(_MEDIA_TYPE, 0)
    return OPENMETRICS if wanted and wanted >= weights.get("text/plain", 0) else CLASSIC


def _write_classic(pieces: Iterable[str]) -> Iterator[str]:
    return (_HEAD.sub(_write_classic_head, piece) for piece in pieces if piece != END)


def _write_classic_head(head: re.Match[str]) -> str:
    name, help_text, kind = head.groups()
    name += "_total" if kind == "counter" else ""
    plain = help_text.replace('\\"', '"')
    return f"# HELP {name} {plain}\n# TYPE {name} {kind}"


OPENMETRICS = ExpositionFormat(f"{_MEDIA_TYPE}; version=1.0.0; charset=utf-8", lambda pieces: pieces)
CLASSIC = ExpositionFormat("text/plain; version=0.0.4; charset=utf-8", _write_classic)
