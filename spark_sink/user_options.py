"""The options of a query as the user wrote them: names in any case, values as text.

Unknown options are ignored, as Spark's own Kafka source does.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

INT32_MAX, INT64_MAX = (1 << 31) - 1, (1 << 63) - 1


class UserOptions:
    """Reads options by name and type. Each method raises ValueError, in Spark's words and with the option's name, for an invalid value."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in options.items()}

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values

    def refuse(self, refused: Mapping[str, str]) -> None:
        """Raises ValueError when one of the Kafka settings in `refused` is set. The value of each is the end of its error message."""
        for name, reason in refused.items():
            if f"kafka.{name}" in self:
                raise ValueError(f"Kafka option 'kafka.{name}' {reason}")

    def kafka_settings(self) -> list[str]:
        """Returns the sorted names of the Kafka settings that are set, without the prefix `kafka.`."""
        return sorted(name.removeprefix("kafka.") for name in self._values if name.startswith("kafka."))

    def text(self, name: str, default: str) -> str:
        """Returns the value without surrounding blanks."""
        return self._values.get(name.lower(), default).strip()

    def boolean(self, name: str, default: bool) -> bool:
        """Parses `true` or `false`, in any case."""
        value = self.text(name, str(default)).lower()
        if value not in ("true", "false"):
            raise self._not_parsed(name)
        return value == "true"

    def integer(self, name: str, default: int, least: int = 0, most: int = INT32_MAX) -> int:
        """Parses a decimal number from `least` to `most`."""
        value = self.text(name, str(default))
        if not re.fullmatch(r"[+-]?\d+", value):
            raise self._not_parsed(name)
        if not least <= int(value) <= most:
            raise ValueError(f"Invalid value {value} for option {name!r}: Value must be at least {least} and at most {most}")
        return int(value)

    def choice(self, name: str, default: str, choices: Mapping[str, int]) -> int:
        """Returns the number that the value, one of the words in `choices`, stands for."""
        value = self.text(name, default)
        if value not in choices:
            names = ", ".join(sorted(choices))
            raise ValueError(f"Invalid value {value} for option {name!r}: String must be one of: {names}")
        return choices[value]

    def json_object(self, name: str, example: str) -> dict[str, Any]:
        """Parses a JSON object; the error text quotes `example`."""
        value = self.text(name, "")
        try:
            parsed = json.loads(value)
        except ValueError:
            raise unexpected_value(example, value, name) from None
        if not isinstance(parsed, dict):
            raise unexpected_value(example, value, name)
        return parsed

    def json_strings(self, name: str) -> list[str]:
        """Parses a JSON array of strings."""
        value = self.text(name, "")
        try:
            parsed = json.loads(value)
        except ValueError:
            parsed = None
        if not isinstance(parsed, list) or not all(isinstance(each, str) for each in parsed):
            raise unexpected_value('["a","b"]', value, name)
        return parsed

    def _not_parsed(self, name: str) -> ValueError:
        # The text of Java's NumberFormatException, and of Scala's `toBoolean`.
        return ValueError(f'For input string: "{self.text(name, "")}" (option {name!r})')


def unexpected_value(example: str, value: str, name: str) -> ValueError:
    """Returns the error for a value that does not have the form of `example`."""
    return ValueError(f"Expected e.g. {example}, got {value} (option {name!r})")


def is_integer(value: object) -> bool:
    """Returns whether a parsed JSON value is an integer; `true` and `false`, which Python counts as integers, are not."""
    return type(value) is int
