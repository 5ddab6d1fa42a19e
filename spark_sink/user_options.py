"""The options as the user gave them. Names are compared without regard to case; what is unknown is ignored, as in Spark's own source."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

INT32_MAX, INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


class UserOptions:
    """Options read by name and type. Each method raises ValueError, in Spark's words and with the option's name."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in options.items()}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values

    def refuse(self, refused: Mapping[str, str]) -> None:
        """Kafka settings that may not be given, and what is said about each."""
        for name, why in refused.items():
            if f"kafka.{name}" in self:
                raise ValueError(f"Kafka option 'kafka.{name}' {why}")

    def kafka_settings(self) -> list[str]:
        """The names of Kafka's own settings that were given, without `kafka.`, sorted."""
        return sorted(name.removeprefix("kafka.") for name in self._values if name.startswith("kafka."))

    def text(self, name: str, default: str) -> str:
        """Without the blanks around it."""
        return self._values.get(name.lower(), default).strip()

    def boolean(self, name: str, default: bool) -> bool:
        """Of `true` and `false` in any case."""
        value = self.text(name, str(default)).lower()
        if value not in ("true", "false"):
            raise self.not_understood(name)
        return value == "true"

    def integer(self, name: str, default: int, least: int = 0, most: int = INT32_MAX) -> int:
        """Of decimal digits."""
        value = self.text(name, str(default))
        if not re.fullmatch(r"[+-]?\d+", value):
            raise self.not_understood(name)
        if not least <= int(value) <= most:
            raise ValueError(f"Invalid value {value} for option {name!r}: Value must be at least {least} and at most {most}")
        return int(value)

    def choice(self, name: str, default: str, choices: Mapping[str, int]) -> int:
        """What one of some words stands for."""
        value = self.text(name, default)
        if value not in choices:
            names = ", ".join(sorted(choices))
            raise ValueError(f"Invalid value {value} for option {name!r}: String must be one of: {names}")
        return choices[value]

    def json_object(self, name: str, example: str) -> dict[str, Any]:
        """A JSON object; the error shows the `example`."""
        value = self.text(name, "")
        try:
            parsed = json.loads(value)
        except ValueError:
            raise expected(example, value, name) from None
        if not isinstance(parsed, dict):
            raise expected(example, value, name)
        return parsed

    def not_understood(self, name: str) -> ValueError:
        """The error of Java's parsers of numbers."""
        return ValueError(f'For input string: "{self.text(name, "")}" (option {name!r})')


def expected(example: str, value: str, name: str) -> ValueError:
    """The error about a value that is not of the form of the `example`."""
    return ValueError(f"Expected e.g. {example}, got {value} (option {name!r})")


def is_integer(value: object) -> bool:
    """Of JSON's values, where `true` is none."""
    return type(value) is int
