"""The text format of OpenMetrics 1.0: families of samples with their labels."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

END = "# EOF\n"
_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "\n": "\\n"})


class Family(NamedTuple):
    """Samples of one name. `kind` is a type of OpenMetrics: gauge, counter, histogram or info."""

    name: str
    kind: str
    help: str

    @property
    def head(self) -> str:
        """The lines before the samples."""
        return f"# HELP {self.name} {escaped(self.help)}\n# TYPE {self.name} {self.kind}\n"


def gauge(name: str, help_text: str) -> Family:
    return Family(name, "gauge", help_text)


def counter(name: str, help_text: str) -> Family:
    """Returns the family of a counter. The name of its samples ends with `_total`, that of the family does not."""
    return Family(name, "counter", help_text)


def escaped(text: str) -> str:
    """Returns the text as it may stand between quotation marks. All other characters are allowed, so a hostile name stays one value."""
    return text.translate(_ESCAPES)


def labels(**values: object) -> str:
    """Returns the labels in braces."""
    return "{" + ",".join(f'{name}="{escaped(str(value))}"' for name, value in values.items()) + "}"


def samples(name: str, values: Iterable[tuple[str, float]]) -> str:
    """Returns the lines of samples, given as pairs of labels and value."""
    return "".join(f"{name}{labelled} {value}\n" for labelled, value in values)
