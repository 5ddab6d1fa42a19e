"""The Arrow types of a column for those of an Avro schema, and the functions that make their values of decoded data.

Data are decoded without logical types, and then converted by those of the column's schema, as Spark's function from_avro and Java's
deserializers do. fastavro would convert them by the types of the schema that they were written with, so that a `long` which has become
`timestamp-millis` since then would be taken for microseconds.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal
from typing import Any, NamedTuple

import pyarrow as pa

from .avro_schemas import ParsedAvro, definition, logical_type_of

Convert = Callable[[Any], Any]

_MAX_MILLIS = (1 << 63) // 1000 - 1
_LARGE = Context(prec=1000)
_PRIMITIVES = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "enum": pa.string(),
    "null": pa.null(),
}
_TIMES = {
    "date": pa.date32(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}
"""The logical types of numbers for which Spark has a type. The others are columns of the type under them, as with from_avro."""
_WIDER = {frozenset({"int", "long"}): pa.int64(), frozenset({"float", "double"}): pa.float64()}


class ColumnType(NamedTuple):
    """An Arrow type, and the function that makes its values of decoded data, None if they are the same."""

    arrow: Any
    convert: Convert | None = None


def column_type(schema: ParsedAvro) -> ColumnType:
    """Returns the type of the column for a schema. Raises ValueError if Spark has none, as for a type that contains itself."""
    return _Types(schema.names).of(schema.type, "value", ())


class _Types:
    """Finds the column types of Avro types. `names` are the definitions of named types."""

    def __init__(self, names: dict[str, Any]) -> None:
        self._names = names

    def of(self, declared: Any, path: str, around: tuple[str, ...]) -> ColumnType:
        """Returns the type of a part. `path` is its place for errors, and `around` the names of the records around it."""
        if isinstance(declared, list):
            return self._of_union(declared, path, around)
        declared = definition(declared, self._names)
        kind = declared["type"]
        if kind in ("record", "error"):
            return self._of_record(declared, path, around)
        if kind == "array":
            return _array(self.of(declared["items"], f"{path}[]", around))
        if kind == "map":
            return _map(self.of(declared["values"], f"{path}[]", around))
        if kind in ("bytes", "fixed"):
            return _bytes(declared)
        logical = logical_type_of(declared)
        return ColumnType(_TIMES.get(logical, _PRIMITIVES[kind]), _micros if logical.endswith("timestamp-millis") else None)

    def _of_record(self, declared: Any, path: str, around: tuple[str, ...]) -> ColumnType:
        name = declared["name"]
        if name in around:
            raise ValueError(f"{path}: the record {name} contains itself, for which Spark has no type")
        fields = {each["name"]: self.of(each["type"], f"{path}.{each['name']}", (*around, name)) for each in declared["fields"]}
        arrow = pa.struct([pa.field(field, each.arrow) for field, each in fields.items()])
        converted = {field: each.convert for field, each in fields.items() if each.convert is not None}
        if not converted:
            return ColumnType(arrow)
        return ColumnType(arrow, lambda record: record | {field: convert(record[field]) for field, convert in converted.items()})

    def _of_union(self, branches: list[Any], path: str, around: tuple[str, ...]) -> ColumnType:
        others = [each for each in branches if each != "null"]
        if len(others) == 1:
            arrow, convert = self.of(others[0], path, around)
            return ColumnType(arrow, None if convert is None else lambda value: None if value is None else convert(value))
        kinds = [definition(each, self._names) for each in others]
        if (wider := _WIDER.get(frozenset(each["type"] for each in kinds))) is not None:
            return ColumnType(wider)
        shown = ", ".join(each.get("name", each["type"]) for each in kinds)
        raise ValueError(f"{path}: the union of {shown or 'null'} is no column; leave out the option and apply from_avro of Spark")


def _array(element: ColumnType) -> ColumnType:
    arrow, convert = pa.list_(pa.field("element", element.arrow)), element.convert
    return ColumnType(arrow, None if convert is None else lambda values: [convert(each) for each in values])


def _map(element: ColumnType) -> ColumnType:
    arrow, convert = pa.map_(pa.string(), element.arrow), element.convert
    return ColumnType(arrow, None if convert is None else lambda values: {key: convert(each) for key, each in values.items()})


def _bytes(declared: Any) -> ColumnType:
    if logical_type_of(declared) != "decimal":
        return ColumnType(pa.binary(), _as_bytes)
    precision, scale = declared["precision"], declared.get("scale", 0)

    def decimal(data: bytes | str) -> Decimal:
        unscaled = int.from_bytes(_as_bytes(data), "big", signed=True)
        if abs(unscaled) >= 10**precision:
            raise ValueError(f"a decimal has more than {precision} digits")
        return _LARGE.scaleb(Decimal(unscaled), -scale)

    return ColumnType(pa.decimal128(precision, scale), decimal)


def _as_bytes(data: bytes | str) -> bytes:
    """Returns bytes, for which the default of a field is a text with a character for each."""
    return data.encode("latin-1") if isinstance(data, str) else data


def _micros(millis: int) -> int:
    if abs(millis) > _MAX_MILLIS:
        raise ValueError(f"the timestamp {millis} is too large for Spark")
    return millis * 1000
