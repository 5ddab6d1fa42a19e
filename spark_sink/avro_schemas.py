"""The Avro schemas of a registry, parsed by fastavro, with their references."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from .schema_registry import URL_OPTION, RegistryConfig, version_of

MAX_REFERENCES = 100
"""The deepest nesting of references between schemas."""
MAX_PRECISION = 38
"""The most digits of Spark's decimals."""


@dataclass(frozen=True)
class ParsedAvro:
    """A parsed Avro schema. `names` are the definitions of the names in it, also of those in other subjects.

    `record` is a record with the schema as its only field, which changes nothing in the data: fastavro keeps names only in records.
    """

    record: Any
    names: dict[str, Any]

    @property
    def type(self) -> Any:
        """The type that the schema declares, as fastavro parses it."""
        return self.record["fields"][0]["type"]


def load_schema(registry: RegistryConfig, schema_id: int) -> ParsedAvro:
    """Returns the schema with an id. Raises SchemaRequestFailed, and ValueError for a schema of another type than Avro."""
    names: dict[str, Any] = {}
    found = registry.get(f"/schemas/ids/{schema_id}")
    return ParsedAvro(_Loader(registry, names).parse(found, f"the schema with the id {schema_id}", MAX_REFERENCES), names)


class _Loader:
    """Parses a schema and those that it refers to, each of them once, and adds the definitions in them to `names`."""

    def __init__(self, registry: RegistryConfig, names: dict[str, Any]) -> None:
        self._registry = registry
        self._names = names
        self._loaded: set[tuple[str, int]] = set()

    def parse(self, found: Any, place: str, depth: int) -> Any:
        """Returns a record with the schema in an answer of the registry. `place` stands for the schema in errors.

        Raises SchemaRequestFailed, ValueError. References may be nested `depth` levels deep.
        """
        from fastavro import parse_schema
        from fastavro.schema import SchemaParseException, UnknownType

        _check_type(found.get("schemaType", "AVRO"), place)
        if depth == 0:
            raise ValueError(f"{place} has references that are nested deeper than {MAX_REFERENCES} levels")
        for each in found.get("references", ()):
            self._load_version(each["subject"], each["version"], depth - 1)
        try:
            field = {"name": "value", "type": _prepare(json.loads(found["schema"]))}
            return parse_schema({"type": "record", "name": "odradek_value", "fields": [field]}, self._names)
        except (SchemaParseException, UnknownType, ValueError, KeyError, TypeError, RecursionError) as error:
            raise ValueError(f"{place} is no Avro schema: {error}") from None

    def _load_version(self, subject: str, version: int, depth: int) -> None:
        if (subject, version) not in self._loaded:
            self._loaded.add((subject, version))
            self.parse(version_of(self._registry, subject, version), f"version {version} of the subject {subject}", depth)


def _check_type(kind: str, place: str) -> None:
    if kind != "AVRO":
        function = {"JSON": "from_json", "PROTOBUF": "from_protobuf"}.get(kind, "a function")
        raise ValueError(
            f"{place} is of the type {kind}, but only Avro is decoded: leave out {URL_OPTION!r}, "
            f"and apply {function} of Spark to the value behind the id of the schema"
        )


_LOGICAL_TYPE = "odradek.logicalType"
"""The attribute that replaces `logicalType`, because fastavro would convert data by it (see avro_types.py)."""
_NUMBERS = {
    "int": ("date", "time-millis"),
    "long": ("time-micros", *(f"{local}timestamp-{unit}" for local in ("", "local-") for unit in ("millis", "micros", "nanos"))),
}
_TYPES = (*_NUMBERS, "null", "boolean", "float", "double", "bytes", "string", "record", "error", "enum", "fixed", "array", "map")
_NESTED = ("type", "fields", "items", "values")


def _prepare(schema: Any) -> Any:
    """Returns a schema in which fastavro sees no logical types, and `logical_type_of` does."""
    if isinstance(schema, list):
        return [_prepare(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    kind = schema.get("type")
    prepared = {name: _prepare(each) if name in _NESTED else each for name, each in schema.items() if name != "logicalType"}
    if "name" not in schema and kind not in _TYPES:  # a type around a type, or a name; with a name, it is a field
        return prepared["type"]
    logical = schema.get("logicalType")
    if logical in _NUMBERS.get(str(kind), ()) or (logical == "decimal" and kind in ("bytes", "fixed") and _is_decimal(schema)):
        prepared[_LOGICAL_TYPE] = logical
    return prepared


def _is_decimal(schema: Any) -> bool:
    """Returns whether precision and scale are valid, and Spark has a type for them; others are bytes, as Avro's specification says."""
    precision, scale = schema.get("precision"), schema.get("scale", 0)
    return isinstance(precision, int) and isinstance(scale, int) and 0 <= scale <= precision and 0 < precision <= MAX_PRECISION


def definition(declared: Any, names: dict[str, Any]) -> Any:
    """Returns a type of a parsed schema that is no union as an object: what its name stands for, or a primitive type."""
    return names.get(declared, {"type": declared}) if isinstance(declared, str) else declared


def logical_type_of(defined: dict[str, Any]) -> str:
    """Returns the logical type of a type of a parsed schema, "" if it has none."""
    return str(defined.get(_LOGICAL_TYPE, ""))
