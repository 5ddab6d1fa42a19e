"""Types of parameters that consist of others: lists, mappings, objects with fields, and alternatives."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, ClassVar

from ...control_errors import InvalidControl, unknown
from ...plurals import counted
from .shapes import Anything, IsoTime, Schema, Shape, Text, json_type, short_json


class Null(Shape):
    """The value None. Text never means None, because an option that is left out does."""

    name = "null"
    json_types = frozenset({"null"})
    json_schema: ClassVar[Schema] = {"type": "null"}

    def of_json(self, place: str, value: Any) -> None:
        if value is not None:
            raise self.refuse(place, value)


class ListOf(Shape):
    """A list of values of one type. Several texts form a list too."""

    name = "a list"
    json_types = frozenset({"array"})
    repeats = True

    def __init__(self, item: Shape) -> None:
        self.item = item

    def of_json(self, place: str, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise self.refuse(place, value)
        return [self.item.of_json(f"{place}[{number}]", each) for number, each in enumerate(value)]

    def of_text(self, place: str, text: str) -> list[Any]:
        return self.of_texts(place, [text])

    def of_texts(self, place: str, texts: Sequence[str]) -> list[Any]:
        return [self.item.of_text(f"{place}[{number}]" if len(texts) > 1 else place, text) for number, text in enumerate(texts)]

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"type": "array", "items": self.item.schema(definitions)}


class TupleOf(Shape):
    """A list of a fixed length with a type for each item."""

    json_types = frozenset({"array"})

    def __init__(self, items: Sequence[Shape]) -> None:
        self.items = items
        self.name = f"a list of {counted(len(items), 'value')}"

    def of_json(self, place: str, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list) or len(value) != len(self.items):
            raise self.refuse(place, value)
        return tuple(item.of_json(f"{place}[{number}]", each) for number, (item, each) in enumerate(zip(self.items, value, strict=True)))

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        count = len(self.items)
        return {"type": "array", "prefixItems": [item.schema(definitions) for item in self.items], "minItems": count, "maxItems": count}


class MappingOf(Shape):
    """Names with values of one type. Texts are `name=value` or a JSON object."""

    name = "an object"
    json_types = frozenset({"object"})
    repeats = True

    def __init__(self, value: Shape) -> None:
        self._value = value

    def of_json(self, place: str, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise self.refuse(place, value)
        return {name: self._value.of_json(f"{place}.{name}", each) for name, each in value.items()}

    def of_text(self, place: str, text: str) -> dict[str, Any]:
        return self.of_texts(place, [text])

    def of_texts(self, place: str, texts: Sequence[str]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for text in texts:
            if text.lstrip().startswith("{"):
                pairs = super().of_text(place, text)
            else:
                name, separator, value = text.partition("=")
                if not separator or not name:
                    raise InvalidControl.at(place, f"must be name=value or a JSON object, not {short_json(text)}")
                pairs = {name: self._value.of_text(f"{place}.{name}", value)}
            if twice := found.keys() & pairs.keys():
                raise InvalidControl.at(place, f"{min(twice)!r} is given twice")
            found |= pairs
        return found

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        return {"type": "object", "additionalProperties": self._value.schema(definitions)}


class ObjectOf(Shape):
    """An object whose fields have types of their own, in Python a TypedDict."""

    json_types = frozenset({"object"})

    def __init__(self, title: str, description: str, fields: Mapping[str, Shape], required: frozenset[str]) -> None:
        self._title = title
        self._fields = fields
        self._required = required
        self._description = description
        self.name = f"an object with {', '.join(fields)}"

    def of_json(self, place: str, value: Any) -> Any:
        if not isinstance(value, dict):
            raise self.refuse(place, value)
        for name in value:
            if name not in self._fields:
                raise InvalidControl.at(place, unknown("fields", "field", name, self._fields).reason)
        if missing := sorted(self._required - value.keys()):
            raise InvalidControl.at(f"{place}.{missing[0]}", "is required")
        return {name: self._fields[name].of_json(f"{place}.{name}", each) for name, each in value.items()}

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        if self._title not in definitions:
            definitions[self._title] = {
                "type": "object",
                "description": self._description,
                "properties": {name: field.schema(definitions) for name, field in self._fields.items()},
                "required": sorted(self._required),
                "additionalProperties": False,
            }
        return {"$ref": f"#/components/schemas/{self._title}"}


class Alternatives(Shape):
    """Several types. The first one that accepts a value converts it; plain text is tried last on text."""

    def __init__(self, members: Sequence[Shape]) -> None:
        self.members = members
        self.name = " or ".join(dict.fromkeys(member.name for member in members if not isinstance(member, Null)))
        self.json_types = frozenset(each for member in members for each in member.json_types)
        self.repeats = any(member.repeats for member in members)

    def of_json(self, place: str, value: Any) -> Any:
        candidates = [member for member in self.members if json_type(value) in member.json_types]
        return self._first(place, value, candidates, lambda member: member.of_json(place, value))

    def of_text(self, place: str, text: str) -> Any:
        """Text that begins like JSON is that of a list or an object, if one of the alternatives is."""
        structured = {"{": "object", "[": "array"}.get(text.lstrip()[:1], "")
        if any(structured in member.json_types for member in self.members):
            return super().of_text(place, text)
        candidates = [member for member in self.members if not isinstance(member, Null | TupleOf | ObjectOf)]
        return self._first(place, text, sorted(candidates, key=_generality), lambda member: member.of_text(place, text))

    def of_texts(self, place: str, texts: Sequence[str]) -> Any:
        if len(texts) == 1 or not self.repeats:
            return super().of_texts(place, texts)
        candidates = [member for member in self.members if member.repeats]
        return self._first(place, list(texts), candidates, lambda member: member.of_texts(place, texts))

    def _first(self, place: str, value: Any, candidates: Iterable[Shape], convert: Callable[[Shape], Any]) -> Any:
        """Returns the first conversion that succeeds.

        The error is about a part of the value if a member accepts the rest of it. Otherwise it says what all members accept.
        """
        inner = None
        for member in candidates:
            try:
                return convert(member)
            except InvalidControl as error:
                if inner is None and str(error) != str(member.refuse(place, value)):
                    inner = error
        raise inner or self.refuse(place, value)

    def schema(self, definitions: dict[str, Schema]) -> Schema:
        schemas: list[Schema] = []
        for member in self.members:
            if (schema := member.schema(definitions)) not in schemas:
                schemas.append(schema)
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _generality(shape: Shape) -> int:
    """Returns the order in which alternatives are tried on text: a number before text, and text before a list with one text."""
    return 2 if shape.repeats else 1 if isinstance(shape, Text | Anything) and type(shape) is not IsoTime else 0
