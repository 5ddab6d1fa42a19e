"""Which logical types Avro recognizes. Where one does not fit its type, it is a property like any other."""

from __future__ import annotations

import math

from .types import AvroFixed, AvroType

TYPES_OF_LOGICAL_TYPES = {
    "date": "int",
    "time-millis": "int",
    "time-micros": "long",
    "timestamp-millis": "long",
    "timestamp-micros": "long",
    "timestamp-nanos": "long",
    "local-timestamp-millis": "long",
    "local-timestamp-micros": "long",
    "local-timestamp-nanos": "long",
    "big-decimal": "bytes",
}


def has_logical_type(schema: AvroType) -> bool:
    """Returns whether `logicalType` is one that Avro knows, and fits the type (Java's `LogicalTypes.fromSchemaIgnoreInvalid`)."""
    logical_type = schema.properties.get("logicalType")
    match logical_type:
        case "decimal":
            return _is_valid_decimal(schema)
        case "uuid":
            return schema.kind == "string" or (isinstance(schema, AvroFixed) and schema.size == 16)
        case "duration":
            return isinstance(schema, AvroFixed) and schema.size == 12
        case str():
            return TYPES_OF_LOGICAL_TYPES.get(logical_type) == schema.kind
    return False


def _is_valid_decimal(schema: AvroType) -> bool:
    precision, scale = schema.properties.get("precision"), schema.properties.get("scale", 0)
    if type(precision) is not int or type(scale) is not int or not 0 <= scale <= precision or precision == 0:
        return False
    if isinstance(schema, AvroFixed):
        return precision <= math.floor(math.log10(2) * (8 * schema.size - 1))
    return schema.kind == "bytes"
