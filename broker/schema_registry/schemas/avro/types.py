"""The types of an Avro schema as objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

PRIMITIVES = ("string", "bytes", "int", "long", "float", "double", "boolean", "null")
TYPE_NAMES = frozenset([*PRIMITIVES, "record", "enum", "array", "map", "union", "fixed"])
NO_DEFAULT: Any = object()


@dataclass(eq=False, slots=True)
class AvroType:
    """A type. `properties` are the attributes without meaning for Avro, in the order of the text; `logicalType` is one of them."""

    kind: str
    properties: dict[str, Any] = field(default_factory=dict, kw_only=True)


@dataclass(eq=False, slots=True)
class AvroArray(AvroType):
    """An array. `kind` is "array"."""

    items: AvroType


@dataclass(eq=False, slots=True)
class AvroMap(AvroType):
    """A map from strings to `values`. `kind` is "map"."""

    values: AvroType


@dataclass(eq=False, slots=True)
class AvroUnion(AvroType):
    """A union. `kind` is "union"."""

    branches: list[AvroType]


@dataclass(frozen=True, slots=True)
class AvroName:
    """The name of a record, an enum or a fixed type, with its namespace or None."""

    short: str
    namespace: str | None

    @property
    def full(self) -> str:
        return f"{self.namespace}.{self.short}" if self.namespace else self.short

    def within(self, namespace: str | None) -> str:
        """Returns the name by which a text in `namespace` refers to this type."""
        return self.short if self.namespace is not None and self.namespace == namespace and self.short not in TYPE_NAMES else self.full


@dataclass(eq=False, slots=True)
class NamedType(AvroType):
    """A record, an enum or a fixed type."""

    name: AvroName
    doc: str | None = field(default=None, kw_only=True)
    aliases: list[AvroName] = field(default_factory=list, kw_only=True)


@dataclass(eq=False, slots=True)
class AvroField:
    """A field of a record. `default` is a JSON value, or NO_DEFAULT."""

    name: str
    type: AvroType
    doc: str | None
    default: Any
    order: str
    aliases: list[str]
    properties: dict[str, Any]


@dataclass(eq=False, slots=True)
class AvroRecord(NamedType):
    """A record; `is_error` says that its text calls it an error, which belongs to Avro's protocols."""

    fields: list[AvroField] = field(default_factory=list, kw_only=True)
    is_error: bool = field(default=False, kw_only=True)


@dataclass(eq=False, slots=True)
class AvroEnum(NamedType):
    """An enum. `default` is the symbol that a reader takes for unknown ones."""

    symbols: list[str] = field(default_factory=list, kw_only=True)
    default: str | None = field(default=None, kw_only=True)


@dataclass(eq=False, slots=True)
class AvroFixed(NamedType):
    """A fixed type of `size` bytes."""

    size: int = field(kw_only=True)


@dataclass(eq=False, slots=True)
class UnresolvedName(AvroType):
    """Stands for the named type whose full name is `kind`, because a text may use a name before it declares it."""
