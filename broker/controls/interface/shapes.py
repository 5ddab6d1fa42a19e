"""Plain types of parameters: how each is read from JSON and from text, and its JSON schema.

A `Shape` belongs to one type annotation. `of_json` takes a decoded JSON value, `of_text` the text of a query string or of a command line.
Both take the place of the value, such as `records[3].value`, and raise `InvalidControl` with it. The part of the place before the first dot
or bracket is the name of the parameter.
"""

from __future__ import annotations

import json
import math
import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar

from ...control_errors import InvalidControl
from ..parameters import UNITS_MS, duration_ms

Schema = dict[str, Any]

INT64 = 1 << 63
_SHOWN_CHARACTERS = 80
_SHOWN_ITEMS = 10
_UNITS_OF_NAMES = ("ms", "s")
_DURATION = rf"^ *([0-9]+(\.[0-9]*)?|\.[0-9]+) *({'|'.join(UNITS_MS)})? *$"
"""The texts that `duration_ms` accepts, as a pattern for JSON schemas."""
_BOOLEANS = {"true": True, "false": False}


class Shape:
    """The type of a parameter or of a part of one. `name` describes it in messages; `json_types` are the JSON types that it accepts."""

    name: str
    json_types: frozenset[str]
    json_schema: ClassVar[Schema] = {}
    """The schema, if it is the same for all values of the type."""
    repeats = False
    """Whether several texts may be given, as a list or a mapping."""

    def of_json(self, place: str, value: Any) -> Any:
        raise NotImplementedError

    def of_text(self, place: str, text: str) -> Any:
        """By default, the text is JSON."""
        return self.of_json(place, parse_json(place, text, self.name))

    def of_texts(self, place: str, texts: Sequence[str]) -> Any:
        """Returns the value of one text or, if the type repeats, of several."""
        if len(texts) != 1:
            raise InvalidControl.at(place, "is given twice")
        return self.of_text(place, texts[0])

    def schema(self, _definitions: dict[str, Schema]) -> Schema:
        """Returns the JSON schema. Schemas of named types are added to the definitions."""
        return dict(self.json_schema)

    def refuse(self, place: str, value: Any) -> InvalidControl:
        """Returns the error for a value of another type."""
        return InvalidControl.at(place, f"must be {self.name}, not {short_json(value)}{unit_hint(place, value)}")


class Boolean(Shape):
    """Yes or no."""

    name = "true or false"
    json_types = frozenset({"boolean"})
    json_schema: ClassVar[Schema] = {"type": "boolean"}

    def of_json(self, place: str, value: Any) -> bool:
        if not isinstance(value, bool):
            raise self.refuse(place, value)
        return value

    def of_text(self, place: str, text: str) -> bool:
        if text.lower() not in _BOOLEANS:
            raise self.refuse(place, text)
        return _BOOLEANS[text.lower()]


class Integer(Shape):
    """An integer of 64 bits, because no setting, offset or time of Kafka is larger."""

    name = "an integer"
    json_types = frozenset({"number"})
    json_schema: ClassVar[Schema] = {"type": "integer", "format": "int64", "minimum": -INT64, "maximum": INT64 - 1}

    def of_json(self, place: str, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float) or value != value // 1:
            raise self.refuse(place, value)
        if not -INT64 <= value < INT64:
            raise InvalidControl.at(place, f"must be an integer of 64 bits, not {short_json(value)}")
        return int(value)

    def of_text(self, place: str, text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,19}", text.strip(), re.ASCII):
            raise self.refuse(place, text)
        return self.of_json(place, int(text))


class Number(Shape):
    """A finite number."""

    name = "a number"
    json_types = frozenset({"number"})
    json_schema: ClassVar[Schema] = {"type": "number"}

    def of_json(self, place: str, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float) or not -1e308 < value < 1e308:
            raise self.refuse(place, value)
        return value

    def of_text(self, place: str, text: str) -> float:
        if not re.fullmatch(r"[+-]?([0-9]{1,300}\.?[0-9]{0,300}|\.[0-9]{1,300})([eE][+-]?[0-9]{1,3})?", text.strip(), re.ASCII):
            raise self.refuse(place, text)
        return self.of_json(place, float(text))


class Text(Shape):
    """A string."""

    name = "text"
    json_types = frozenset({"string"})
    json_schema: ClassVar[Schema] = {"type": "string"}

    def of_json(self, place: str, value: Any) -> Any:
        if not isinstance(value, str):
            raise self.refuse(place, value)
        return self.of_text(place, value)

    def of_text(self, _place: str, text: str) -> Any:
        return text


class BytesOrText(Text):
    """Bytes: text stands for its UTF-8 encoding, and `{"base64": "..."}` for any bytes."""

    name = 'text or {"base64": "..."}'
    json_types = frozenset({"string", "object"})

    def of_json(self, place: str, value: Any) -> Any:
        if not isinstance(value, dict):
            return super().of_json(place, value)
        if value.keys() != {"base64"} or not isinstance(value["base64"], str):
            raise self.refuse(place, value)
        try:
            return b64decode(value["base64"], validate=True)
        except (NotBase64, ValueError) as error:
            raise InvalidControl.at(place, f"invalid base64: {error}") from None

    def of_text(self, _place: str, text: str) -> bytes:
        return text.encode()

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        definitions["Bytes"] = {
            "description": "Bytes: a string stands for its UTF-8 encoding.",
            "oneOf": [
                {"type": "string"},
                {"type": "object", "properties": {"base64": {"type": "string"}}, "required": ["base64"], "additionalProperties": False},
            ],
        }
        return {"$ref": "#/components/schemas/Bytes"}


class FilePath(Text):
    """The path of a file of the cluster's machine."""

    name = "the path of a file"

    def of_text(self, place: str, text: str) -> Any:
        if not text or "\0" in text:
            raise self.refuse(place, text)
        return Path(text)


class IsoTime(Text):
    """A date and time in ISO 8601."""

    name = "a time in ISO 8601, such as 2026-01-31T12:00:00Z"
    json_schema: ClassVar[Schema] = {"type": "string", "format": "date-time"}

    def of_text(self, place: str, text: str) -> Any:
        try:
            return datetime.fromisoformat(text)
        except ValueError:
            raise self.refuse(place, text) from None


class Duration(Shape):
    """A duration: a number of seconds, or a number with a unit."""

    name = "a duration, such as 10m, 500ms or a number of seconds"
    json_types = frozenset({"number", "string"})

    def of_json(self, place: str, value: Any) -> timedelta:
        if isinstance(value, bool) or not isinstance(value, int | float | str):
            raise self.refuse(place, value)
        return self._of(place, value)

    def of_text(self, place: str, text: str) -> timedelta:
        return self._of(place, text)

    def _of(self, place: str, value: float | str) -> timedelta:
        try:
            return timedelta(milliseconds=duration_ms(place, value))
        except OverflowError:
            raise InvalidControl.at(place, f"must be a duration of at most {timedelta.max.days} days, not {short_json(value)}") from None

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        definitions["Duration"] = {
            "description": "A number of seconds, or a number with one of the units ms, s, m, h, d and w.",
            "oneOf": [
                {"type": "number", "minimum": 0},
                {"type": "string", "pattern": _DURATION},
            ],
        }
        return {"$ref": "#/components/schemas/Duration"}


class Choice(Shape):
    """One of several texts or numbers."""

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = list(values)
        self._values = {str(value): value for value in values}
        self.name = "one of " + ", ".join(self._values)
        self.json_types = frozenset(json_type(value) for value in values)

    def of_json(self, place: str, value: Any) -> Any:
        if json_type(value) not in self.json_types:
            raise self.refuse(place, value)
        return self.of_text(place, str(value))

    def of_text(self, place: str, text: str) -> Any:
        if text in self._values:
            return self._values[text]
        from difflib import get_close_matches

        near = get_close_matches(text[:_SHOWN_CHARACTERS], self._values, 1)
        raise InvalidControl.at(place, f"there is no {short_json(text)}; did you mean {near[0]!r}?") if near else self.refuse(place, text)

    def schema(self, _definitions: dict[str, Schema]) -> Schema:
        return {"enum": self.values}


class Anything(Shape):
    """Any JSON value. Text that is not JSON is itself."""

    name = "a JSON value"
    json_types = frozenset({"null", "boolean", "number", "string", "array", "object"})
    json_schema: ClassVar[Schema] = {}

    def of_json(self, _place: str, value: Any) -> Any:
        return value

    def of_text(self, place: str, text: str) -> Any:
        try:
            return parse_json(place, text, self.name)
        except InvalidControl:
            return Text().of_text(place, text)


def short_json(value: Any) -> str:
    """Returns a value for a message: short ones as JSON, and of long ones the beginning or the length."""
    if isinstance(value, list | dict) and len(value) > _SHOWN_ITEMS:
        return f"{'a list' if isinstance(value, list) else 'an object'} of {len(value)}"
    text = repr(value[: _SHOWN_CHARACTERS + 1]) if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..."


def unit_hint(place: str, value: Any) -> str:
    """Returns how a duration is written as a number, if the name of the parameter ends with a unit and the value has one of its own."""
    unit = re.split(r"[.\[]", place, maxsplit=1)[0].rpartition("_")[2]
    if unit not in _UNITS_OF_NAMES or not isinstance(value, str):
        return ""
    try:
        number = duration_ms(place, value) / UNITS_MS[unit]
    except InvalidControl:
        return ""
    return f"; the unit is {unit}, so write {number:g}"


def json_type(value: Any) -> str:
    """Returns the name of the JSON type of a decoded value."""
    if isinstance(value, bool):
        return "boolean"
    names: dict[type, str] = {int: "number", float: "number", str: "string", list: "array", dict: "object"}
    return names.get(type(value), "null")


def parse_json(place: str, text: str | bytes, name: str = "JSON") -> Any:
    """Returns a decoded JSON text.

    Raises InvalidControl for other text, for a name that is given twice, for numbers that are not finite, and for half of a surrogate pair,
    because no text with it can be sent to a client.
    """
    try:
        text = text.decode() if isinstance(text, bytes) else text
        value = json.loads(text, parse_float=_finite, parse_constant=_finite, object_pairs_hook=_with_unique_names)
        if "\\ud" in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except RecursionError:
        raise InvalidControl.at(place, "is nested too deeply") from None
    except ValueError as error:
        hint = "" if name == "JSON" else f" for {name}"
        reason = "half of a surrogate pair" if isinstance(error, UnicodeEncodeError) else str(error)
        raise InvalidControl.at(place, f"must be JSON{hint}: {reason}") from None
    return value


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text} is not a finite number")
    return number


def _with_unique_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"{name!r} is given twice")
        found[name] = value
    return found
