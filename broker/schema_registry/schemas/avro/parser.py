"""Reads the JSON of an Avro schema, with the checks and messages of Java's `Schema.Parser` for new schemas."""

from __future__ import annotations

import re
from typing import Any

from ..json_text import write_json
from ..schema import InvalidSchema
from .resolving import is_same_type, resolve_names
from .types import (
    NO_DEFAULT,
    PRIMITIVES,
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
    UnresolvedName,
)

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
RESERVED = frozenset(["doc", "fields", "items", "name", "namespace", "size", "symbols", "values", "type", "aliases"])
RESERVED_IN_ENUM = RESERVED | {"default"}
RESERVED_IN_FIELD = frozenset(["default", "doc", "name", "order", "type", "aliases"])
ORDERS = ("ascending", "descending", "ignore")
MAX_FIXED_SIZE = 2**31 - 1 - 8
"""The longest byte array of Java's virtual machine, as Avro's SystemLimitException has it."""


class AvroParser:
    """Parses one text. `named_types` maps full names to types: first those of the references, and then those of the text."""

    def __init__(self) -> None:
        self.named_types: dict[str, NamedType] = {}

    def parse(self, declared: Any) -> AvroType:
        """Returns the type that the JSON value `declared` stands for. Raises `InvalidSchema` with the message of Java's library."""
        return resolve_names(self._parse(declared, None), self.named_types)

    def _parse(self, declared: Any, namespace: str | None) -> AvroType:
        if isinstance(declared, str):
            return self._find(declared, namespace)
        if isinstance(declared, list):
            return AvroUnion("union", [self._parse(branch, namespace) for branch in declared])
        if isinstance(declared, dict):
            return self._parse_object(declared, namespace)
        raise InvalidSchema(f"Schema not yet supported: {write_json(declared)}")

    def _find(self, name: str, namespace: str | None) -> AvroType:
        if name in PRIMITIVES:
            return AvroType(name)
        full_name = f"{namespace}.{name}" if namespace and "." not in name else name
        return self.named_types.get(full_name) or self.named_types.get(name) or UnresolvedName(full_name)

    def _parse_object(self, declared: dict[str, Any], namespace: str | None) -> AvroType:
        kind = _demand_text(declared, "type", "No type")
        if kind in PRIMITIVES:
            return AvroType(kind, properties=_properties(declared, RESERVED))
        match kind:
            case "record" | "error":
                return self._parse_record(declared, namespace)
            case "enum":
                return self._parse_enum(declared, namespace)
            case "fixed":
                return self._parse_fixed(declared, namespace)
            case "array":
                items = self._parse(_demand(declared, "items", "Array has no items type"), namespace)
                return AvroArray("array", items, properties=_properties(declared, RESERVED))
            case "map":
                values = self._parse(_demand(declared, "values", "Map has no values type"), namespace)
                return AvroMap("map", values, properties=_properties(declared, RESERVED))
        raise InvalidSchema(
            'A schema "type" MUST be a primitive type or one of "enum", "fixed", "record", "error", "array" or "map".',
        )

    def _parse_record(self, declared: dict[str, Any], namespace: str | None) -> AvroType:
        name = _parse_name(declared, namespace)
        fields = declared.get("fields")
        if not isinstance(fields, list):
            raise InvalidSchema(f"Record has no fields: {write_json(declared)}")
        record = AvroRecord(
            "record",
            name,
            doc=_optional_text(declared, "doc"),
            fields=[self._parse_field(field, name.namespace) for field in fields],
            is_error=declared["type"] == "error",
            properties=_properties(declared, RESERVED),
            aliases=_parse_aliases(declared, name),
        )
        seen: set[str] = set()
        for field in record.fields:
            if field.name in seen:
                raise InvalidSchema(f"Duplicate field {field.name} in record {name.full}")
            seen.add(field.name)
        return self.declare(record)

    def _parse_field(self, declared: Any, namespace: str | None) -> AvroField:
        if not isinstance(declared, dict):
            raise InvalidSchema(f"No field name: {write_json(declared)}")
        name = _demand_text(declared, "name", "No field name")
        field_type = self._parse(_demand(declared, "type", "No field type"), namespace)
        order = declared.get("order", "ascending")
        if not isinstance(order, str) or order.lower() not in ORDERS:
            raise InvalidSchema(f"The order of field {name} is {write_json(order)}, but must be ascending, descending or ignore")
        return AvroField(
            name=check_name(name),
            type=field_type,
            doc=_optional_text(declared, "doc"),
            default=_parse_default(declared.get("default", NO_DEFAULT), name, field_type),
            order=order.lower(),
            aliases=_aliases(declared),
            properties=_properties(declared, RESERVED_IN_FIELD),
        )

    def _parse_enum(self, declared: dict[str, Any], namespace: str | None) -> AvroType:
        name = _parse_name(declared, namespace)
        symbols = declared.get("symbols")
        if not isinstance(symbols, list):
            raise InvalidSchema(f"Enum has no symbols: {write_json(declared)}")
        seen: set[str] = set()
        for symbol in symbols:
            if check_name(symbol) in seen:
                raise InvalidSchema(f"Duplicate enum symbol: {symbol}")
            seen.add(symbol)
        default = _optional_text(declared, "default")
        if default is not None and default not in seen:
            raise InvalidSchema(f"The Enum Default: {default} is not in the enum symbol set: [{', '.join(symbols)}]")
        return self.declare(
            AvroEnum(
                "enum",
                name,
                doc=_optional_text(declared, "doc"),
                symbols=symbols,
                default=default,
                properties=_properties(declared, RESERVED_IN_ENUM),
                aliases=_parse_aliases(declared, name),
            ),
        )

    def _parse_fixed(self, declared: dict[str, Any], namespace: str | None) -> AvroType:
        name = _parse_name(declared, namespace)
        size = declared.get("size")
        if type(size) is not int or not -(2**31) <= size < 2**31:
            raise InvalidSchema(f"Invalid or no size: {write_json(declared)}")
        if not 0 <= size <= MAX_FIXED_SIZE:
            raise InvalidSchema(f"The size of {name.full} is {size}, but must be from 0 to {MAX_FIXED_SIZE}")
        return self.declare(
            AvroFixed(
                "fixed",
                name,
                doc=_optional_text(declared, "doc"),
                size=size,
                properties=_properties(declared, RESERVED),
                aliases=_parse_aliases(declared, name),
            ),
        )

    def declare(self, schema: NamedType) -> NamedType:
        """Makes the type known by its name. A name may be declared again only with the same type."""
        full_name = schema.name.full
        for part in full_name.split(".")[:-1]:
            check_name(part, f'Namespace part "{part}" is invalid: ')
        known = self.named_types.setdefault(full_name, schema)
        if known is not schema and not is_same_type(known, schema):
            raise InvalidSchema(f"Can't redefine: {full_name}")
        return schema


def _parse_name(declared: dict[str, Any], namespace: str | None) -> AvroName:
    name = _demand_text(declared, "name", "No name in schema")
    space = _optional_text(declared, "namespace")
    if space is None:
        space = namespace
    if "." in name:
        space, _, name = name.rpartition(".")
    parsed = AvroName(check_name(name), space or None)
    if parsed.full in PRIMITIVES:
        raise InvalidSchema(f"Schemas may not be named after primitives: {parsed.full}")
    return parsed


def check_name(name: Any, prefix: str = "") -> str:
    """Returns `name`, or raises `InvalidSchema`, as Avro's NameValidator.STRICT_VALIDATOR does."""
    if not isinstance(name, str):
        raise InvalidSchema(f"{prefix}Null name")
    if NAME.fullmatch(name):
        return name
    if not name:
        raise InvalidSchema(f"{prefix}Empty name")
    if not NAME.match(name):
        raise InvalidSchema(f"{prefix}Illegal initial character: {name}")
    raise InvalidSchema(f"{prefix}Illegal character in: {name}")


def _parse_aliases(declared: dict[str, Any], name: AvroName) -> list[AvroName]:
    parsed: list[AvroName] = []
    for alias in _aliases(declared):
        namespace, dot, short = alias.rpartition(".")
        parsed.append(AvroName(check_name(short), (namespace or None) if dot else name.namespace))
    return parsed


def _aliases(declared: dict[str, Any]) -> list[str]:
    aliases = declared.get("aliases", [])
    if not isinstance(aliases, list):
        raise InvalidSchema(f"aliases not an array: {write_json(declared)}")
    for alias in aliases:
        if not isinstance(alias, str):
            raise InvalidSchema(f"alias not a string: {write_json(alias)}")
    return list(dict.fromkeys(aliases))


def _parse_default(default: Any, name: str, field_type: AvroType) -> Any:
    """Returns the default of a field. A text for a floating point number is read as a number, because JSON has no NaN and infinity."""
    if not isinstance(default, str) or field_type.kind not in ("float", "double"):
        return default
    try:
        return float(default)
    except ValueError:
        raise InvalidSchema(f"Invalid default for field {name}: {write_json(default)} not a {field_type.kind}") from None


def _properties(declared: dict[str, Any], reserved: frozenset[str]) -> dict[str, Any]:
    return {key: value for key, value in declared.items() if key not in reserved}


def _demand(declared: dict[str, Any], key: str, problem: str) -> Any:
    if key not in declared:
        raise InvalidSchema(f"{problem}: {write_json(declared)}")
    return declared[key]


def _demand_text(declared: dict[str, Any], key: str, problem: str) -> str:
    text = _optional_text(declared, key)
    if text is None:
        raise InvalidSchema(f"{problem}: {write_json(declared)}")
    return text


def _optional_text(declared: dict[str, Any], key: str) -> str | None:
    value = declared.get(key)
    return value if isinstance(value, str) else None
