"""Whether the default of a field fits its type, as Java's `Schema.isValidDefault` decides."""

from __future__ import annotations

from typing import Any

from ..json_text import write_json
from ..schema import InvalidSchema
from .description import AvroDescription
from .types import NO_DEFAULT, AvroArray, AvroField, AvroMap, AvroRecord, AvroType, AvroUnion


class DefaultCheck:
    """Checks the defaults of one schema.

    The default of a record may leave out fields that have defaults themselves. Results are therefore kept by type and value: otherwise
    a chain of records with two such fields each would cost twice as much with each record.
    """

    def __init__(self) -> None:
        self._results: dict[tuple[int, int], bool | None] = {}

    def check(self, field: AvroField) -> None:
        """Raises `InvalidSchema` if the field has a default that does not fit its type."""
        if field.default is not NO_DEFAULT and not self._is_valid(field.type, field.default):
            described = write_json(AvroDescription().describe(field.type))
            raise InvalidSchema(f"Invalid default for field {field.name}: {write_json(field.default)} not a {described}")

    def _is_valid(self, schema: AvroType, value: Any) -> bool:
        match schema:
            case AvroUnion():
                return any(self._is_valid(branch, value) for branch in schema.branches)
            case AvroArray():
                return isinstance(value, list) and all(self._is_valid(schema.items, item) for item in value)
            case AvroMap():
                return isinstance(value, dict) and all(self._is_valid(schema.values, item) for item in value.values())
            case AvroRecord():
                return isinstance(value, dict) and self._is_valid_record(schema, value)
        return _is_valid_scalar(schema.kind, value)

    def _is_valid_record(self, record: AvroRecord, value: dict[str, Any]) -> bool:
        pair = (id(record), id(value))
        if pair not in self._results:
            self._results[pair] = None
            self._results[pair] = all(self._is_valid(field.type, value.get(field.name, field.default)) for field in record.fields)
        result = self._results[pair]
        if result is None:
            raise InvalidSchema(f"The default {write_json(value)} of {record.name.full} contains itself without end")
        return result


def _is_valid_scalar(kind: str, value: Any) -> bool:
    match kind:
        case "int":
            return type(value) is int and -(2**31) <= value < 2**31
        case "long":
            return type(value) is int and -(2**63) <= value < 2**63
        case "float" | "double":
            return type(value) in (int, float)
        case "boolean":
            return isinstance(value, bool)
        case "null":
            return value is None
    return isinstance(value, str)
