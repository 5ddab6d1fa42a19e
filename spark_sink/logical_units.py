"""Finds logical types that a newer version of an Avro schema has replaced by one with another unit, such as milliseconds by microseconds.

Avro's rules of schema resolution know no logical types, and a registry accepts such a version. Java takes the number that was written for
one of the reader's type, which is then wrong by a factor of 1000. A number that had no logical type before has that of the reader.
"""

from __future__ import annotations

from typing import Any

from .avro_schemas import ParsedAvro, definition, logical_type_of

_NUMBERS = ("int", "long")


def check_units(writer: ParsedAvro, reader: ParsedAvro) -> None:
    """Raises ValueError if a number of the writer's schema has another unit in the reader's, which must not contain itself."""
    _Units(writer.names, reader.names).check(writer.type, reader.type, "value")


class _Units:
    """Compares types that Avro's rules resolve. `written` and `read` are the definitions of named types."""

    def __init__(self, written: dict[str, Any], read: dict[str, Any]) -> None:
        self._written = written
        self._read = read

    def check(self, writer: Any, reader: Any, path: str) -> None:
        """Compares the branches of two types, each of which may be a union."""
        readers = _branches(reader, self._read)
        for each in _branches(writer, self._written):
            kind = each["type"]
            same = [other for other in readers if other["type"] == kind]
            for other in same or (number for number in readers if kind in _NUMBERS and number["type"] in _NUMBERS):
                self._check_branch(each, other, path)

    def _check_branch(self, writer: Any, reader: Any, path: str) -> None:
        before, now = _unit(writer), _unit(reader)
        if before and now and before[1] != now[1]:
            raise ValueError(f"{path} is {before[0]} in its schema and {now[0]} in that of the column, and Avro does not convert them")
        for part in ("items", "values"):
            if part in writer and part in reader:
                self.check(writer[part], reader[part], f"{path}[]")
        written = {field["name"]: field["type"] for field in writer.get("fields", ())}
        for field in reader.get("fields", ()):
            for name in (field["name"], *field.get("aliases", ())):
                if name in written:
                    self.check(written[name], field["type"], f"{path}.{field['name']}")
                    break


def _branches(declared: Any, names: dict[str, Any]) -> list[Any]:
    """Returns the definitions of the types of a union, or of the only type."""
    return [definition(each, names) for each in (declared if isinstance(declared, list) else [declared])]


def _unit(declared: Any) -> tuple[str, object] | None:
    """Returns the logical type of a number, and its unit; None if it has none."""
    logical = logical_type_of(declared)
    if logical == "decimal":
        return f"a decimal with the scale {declared.get('scale', 0)}", declared.get("scale", 0)
    return (logical, logical.rpartition("-")[2]) if logical else None
