"""The parts of a JSON Schema that are compared. An object with keywords of several kinds has a part for each kind, below an `allOf`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

Declared = dict[str, Any] | bool


@dataclass(eq=False)
class JsonPart:
    """A part of `kind` string, number, boolean, null, enum, const, conditional, any (`true`, `{}`) or none (`false`), or of a class below.

    `declared` is the schema that contains the part, whose keywords are compared. `connect_type` is set by Kafka Connect's converter.
    """

    kind: str
    declared: Declared
    connect_type: Any = field(default=None, kw_only=True)

    @property
    def keywords(self) -> dict[str, Any]:
        return self.declared if isinstance(self.declared, dict) else {}


@dataclass(eq=False)
class NumberPart(JsonPart):
    """A number. Whether it must be an integer follows from its type, of which a schema may have several."""

    is_integer: bool


@dataclass(eq=False)
class ObjectPart(JsonPart):
    """An object. `additional` is the schema of additional properties, or says whether there may be any."""

    properties: dict[str, JsonPart]
    patterns: dict[str, JsonPart]
    additional: JsonPart | bool
    unevaluated: JsonPart | None
    required: frozenset[str]
    property_dependencies: dict[str, frozenset[str]]
    schema_dependencies: dict[str, JsonPart]


@dataclass(eq=False)
class ArrayPart(JsonPart):
    """An array. `items` is the schema of all items, `first_items` are those of the first ones."""

    items: JsonPart | None
    first_items: list[JsonPart]
    additional: JsonPart | bool
    unevaluated: JsonPart | None
    min_contains: Any = None
    max_contains: Any = None


@dataclass(eq=False)
class CombinedPart(JsonPart):
    """`allOf`, `anyOf` or `oneOf`, which is the criterion."""

    criterion: str
    parts: list[JsonPart]


@dataclass(eq=False)
class NotPart(JsonPart):
    """`not`."""

    negated: JsonPart


@dataclass(eq=False)
class ReferencePart(JsonPart):
    """`$ref`. The target is set when all references have been followed; it is no reference itself."""

    target: JsonPart | None = None
