"""The JSON that declares an Avro type, in the order of Java's `Schema.toString`, and its normal form."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Any

from ..json_text import sort_keys
from ..schema import MAX_NESTING, InvalidSchema
from .logical_types import has_logical_type
from .types import (
    NO_DEFAULT,
    AvroArray,
    AvroEnum,
    AvroField,
    AvroFixed,
    AvroMap,
    AvroName,
    AvroRecord,
    AvroType,
    AvroUnion,
    NamedType,
)


class AvroDescription:
    """Describes types as JSON: a named type in full at its first place, then by name. `known_names` are never described in full.

    Without `comments`, `doc` and `aliases` are left out, which Java's comparison of types ignores.
    """

    def __init__(self, known_names: Iterable[str] = (), *, comments: bool = True) -> None:
        self._known_names = set(known_names)
        self._comments = comments
        self._depth = 0

    def describe(self, schema: AvroType, namespace: str | None = None) -> Any:
        """Returns the JSON of `schema` within `namespace`. Raises `InvalidSchema` if it is nested too deep."""
        levels = 3 if isinstance(schema, AvroRecord) else 1  # a record is an object with an array of objects
        self._depth += levels
        if self._depth > MAX_NESTING:
            raise InvalidSchema(f"the schema with its references is nested deeper than {MAX_NESTING} levels")
        described = self._describe(schema, namespace)
        self._depth -= levels
        return described

    def _describe(self, schema: AvroType, namespace: str | None) -> Any:
        match schema:
            case NamedType():
                return self._describe_named(schema, namespace)
            case AvroUnion():
                return [self.describe(branch, namespace) for branch in schema.branches]
            case AvroArray():
                return {"type": "array", "items": self.describe(schema.items, namespace)} | self._properties(schema)
            case AvroMap():
                return {"type": "map", "values": self.describe(schema.values, namespace)} | self._properties(schema)
        return {"type": schema.kind} | self._properties(schema) if schema.properties else schema.kind

    def _describe_named(self, schema: NamedType, namespace: str | None) -> Any:
        name = schema.name
        if name.full in self._known_names:
            return name.within(namespace)
        self._known_names.add(name.full)
        described: dict[str, Any] = {"type": self._kind(schema), "name": name.short}
        if name.namespace != namespace:
            described["namespace"] = name.namespace or ""
        if self._comments and (doc := self._doc(schema)) is not None:
            described["doc"] = doc
        described |= self._describe_contents(schema) | self._properties(schema)
        if self._comments and schema.aliases:
            described["aliases"] = [alias.within(name.namespace) for alias in self._aliases(schema)]
        return described

    def _describe_contents(self, schema: NamedType) -> dict[str, Any]:
        match schema:
            case AvroRecord():
                return {"fields": [self._describe_field(field, schema.name.namespace) for field in schema.fields]}
            case AvroEnum():
                return {"symbols": schema.symbols} | ({} if schema.default is None else {"default": schema.default})
            case AvroFixed():
                return {"size": schema.size}
        raise TypeError(f"{schema.kind} is not a named type")

    def _describe_field(self, field: AvroField, namespace: str | None) -> dict[str, Any]:
        described: dict[str, Any] = {"name": field.name, "type": self.describe(field.type, namespace)}
        if self._comments and field.doc is not None:
            described["doc"] = field.doc
        default = self._default(field)
        if default is not NO_DEFAULT:
            described["default"] = default
        if field.order != "ascending":
            described["order"] = field.order
        if self._comments and field.aliases:
            described["aliases"] = self._field_aliases(field)
        return described | self._properties(field)

    def _kind(self, schema: NamedType) -> str:
        return "error" if isinstance(schema, AvroRecord) and schema.is_error else schema.kind

    def _doc(self, schema: NamedType) -> str | None:
        return schema.doc

    def _aliases(self, schema: NamedType) -> list[AvroName]:
        return schema.aliases

    def _field_aliases(self, field: AvroField) -> list[str]:
        return field.aliases

    def _default(self, field: AvroField) -> Any:
        return field.default

    def _properties(self, part: AvroType | AvroField) -> dict[str, Any]:
        return part.properties


class NormalAvroDescription(AvroDescription):
    """The normal form of Confluent's AvroSchemaUtils: properties and aliases are sorted, and defaults get the type of their field."""

    def _kind(self, schema: NamedType) -> str:
        return schema.kind

    def _doc(self, schema: NamedType) -> str | None:
        return schema.doc or None

    def _aliases(self, schema: NamedType) -> list[AvroName]:
        return sorted(schema.aliases, key=lambda alias: alias.full)

    def _field_aliases(self, field: AvroField) -> list[str]:
        return sorted(field.aliases)

    def _default(self, field: AvroField) -> Any:
        return field.default if field.default is NO_DEFAULT else sort_keys(_convert_default(field.type, field.default))

    def _properties(self, part: AvroType | AvroField) -> dict[str, Any]:
        properties: dict[str, Any] = sort_keys(part.properties)
        if not isinstance(part, AvroType) or not has_logical_type(part):
            return properties
        first = ["logicalType"]
        if properties["logicalType"] == "decimal":
            first += ["precision", "scale"] if properties.get("scale") else ["precision"]
        return {key: properties[key] for key in first} | properties


def _convert_default(schema: AvroType, value: Any) -> Any:
    """Returns the JSON `value` as a value of type `schema`, as Avro's JacksonUtils does; NO_DEFAULT if no type of a union fits."""
    match schema:
        case AvroUnion() if value is not None:
            converted = (_convert_default(branch, value) for branch in schema.branches if branch.kind != "null")
            return next((result for result in converted if result is not NO_DEFAULT), NO_DEFAULT)
        case AvroArray() if isinstance(value, list):
            return [_convert_default(schema.items, item) for item in value]
        case AvroMap() if isinstance(value, dict):
            return {key: _convert_default(schema.values, item) for key, item in value.items()}
        case AvroRecord() if isinstance(value, dict):
            types = {field.name: field.type for field in schema.fields}
            return {key: _convert_default(types[key], item) if key in types else item for key, item in value.items()}
    return _convert_scalar(schema.kind, value)


def _convert_scalar(kind: str, value: Any) -> Any:
    if isinstance(value, str):
        return value if kind in ("string", "enum", "bytes", "fixed") else NO_DEFAULT
    if value is None or isinstance(value, bool | dict | list):
        return value
    match kind:
        case "double":
            return float(value)
        case "float":
            return struct.unpack("f", struct.pack("f", value))[0]
        case "int" | "long":
            return value if isinstance(value, int) else NO_DEFAULT
    return NO_DEFAULT
