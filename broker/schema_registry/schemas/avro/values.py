"""Reads and writes data of an Avro schema, as JSON in the coding of Avro's specification ("JSON Encoding")."""

from __future__ import annotations

import struct
from typing import Any

from ..schema import MAX_NESTING, MAX_PARTS
from ..wire_format import ByteReader, InvalidData, write_zigzag
from .types import NO_DEFAULT, AvroArray, AvroEnum, AvroFixed, AvroMap, AvroRecord, AvroType, AvroUnion, NamedType

FLOATS = {"float": struct.Struct("<f"), "double": struct.Struct("<d")}


def decode_avro(schema: AvroType, data: bytes, max_parts: int = MAX_PARTS) -> Any:
    """Returns the JSON of data that were written with `schema`. Raises `InvalidData`, also for more than `max_parts` parts."""
    reader = ByteReader(data)
    value = AvroDecoder(reader, max_parts).decode(schema)
    if reader.left:
        raise InvalidData(f"{reader.left} bytes are left behind the value")
    return value


def encode_avro(schema: AvroType, value: Any) -> bytes:
    """Returns a JSON value in Avro's binary coding. Raises `InvalidData` with the path of the part that does not fit `schema`."""
    return b"".join(AvroEncoder().encode(schema, value, "value"))


class AvroDecoder:
    """Decodes one value."""

    def __init__(self, reader: ByteReader, max_parts: int) -> None:
        self._reader = reader
        self._max_parts = self._parts_left = max_parts
        self._depth = 0

    def decode(self, schema: AvroType) -> Any:
        self._depth += 1
        self._check_parts(1)
        self._parts_left -= 1
        if self._depth > MAX_NESTING:
            raise InvalidData(f"the value is nested deeper than {MAX_NESTING} levels")
        value = self._decode(schema)
        self._depth -= 1
        return value

    def _decode(self, schema: AvroType) -> Any:
        match schema:
            case AvroRecord():
                return {field.name: self.decode(field.type) for field in schema.fields}
            case AvroUnion():
                branch = schema.branches[self._index(len(schema.branches), "branch of a union")]
                value = self.decode(branch)
                return None if branch.kind == "null" else {name_of(branch): value}
            case AvroArray():
                return [self.decode(schema.items) for _ in self._items()]
            case AvroMap():
                return {self._text(): self.decode(schema.values) for _ in self._items()}
            case AvroEnum():
                return schema.symbols[self._index(len(schema.symbols), "symbol of an enum")]
            case AvroFixed():
                return self._reader.take(schema.size).decode("latin-1")
        return self._decode_primitive(schema.kind)

    def _decode_primitive(self, kind: str) -> Any:
        match kind:
            case "null":
                return None
            case "boolean":
                return self._reader.take(1) != b"\0"
            case "int" | "long":
                return self._reader.zigzag()
            case "float" | "double":
                return FLOATS[kind].unpack(self._reader.take(FLOATS[kind].size))[0]
            case "bytes":
                return self._reader.take(self._reader.zigzag()).decode("latin-1")
        return self._text()

    def _check_parts(self, count: int) -> None:
        """Raises `InvalidData` if so many more parts are too many."""
        if count > self._parts_left:
            raise InvalidData(f"the value has more than {self._max_parts} parts")

    def _text(self) -> str:
        try:
            return self._reader.take(self._reader.zigzag()).decode()
        except UnicodeDecodeError:
            raise InvalidData("a string is not UTF-8") from None

    def _index(self, count: int, what: str) -> int:
        index = self._reader.zigzag()
        if not 0 <= index < count:
            raise InvalidData(f"there is no {what} with the index {index}")
        return index

    def _items(self) -> Any:
        """Yields once for each item of an array or a map, which consist of blocks with a number of items; 0 is the end."""
        while count := self._reader.zigzag():
            if count < 0:
                count = -count
                self._reader.zigzag()  # the length of the block in bytes, for readers that skip it
            self._check_parts(count)
            yield from range(count)


class AvroEncoder:
    """Encodes JSON values. `path` is the place of a value in the whole, for messages."""

    def encode(self, schema: AvroType, value: Any, path: str) -> list[bytes]:
        match schema:
            case AvroRecord():
                return self._encode_record(schema, value, path)
            case AvroUnion():
                return self._encode_union(schema, value, path)
            case AvroArray():
                _expect(isinstance(value, list), schema, value, path)
                items = [part for index, item in enumerate(value) for part in self.encode(schema.items, item, f"{path}[{index}]")]
                return [write_zigzag(len(value)), *items, b"\0"] if value else [b"\0"]
            case AvroMap():
                _expect(isinstance(value, dict), schema, value, path)
                return self._encode_map(schema, value, path)
            case AvroEnum():
                _expect(value in schema.symbols, schema, value, path)
                return [write_zigzag(schema.symbols.index(value))]
        return [_encode_scalar(schema, value, path)]

    def _encode_record(self, record: AvroRecord, value: Any, path: str) -> list[bytes]:
        _expect(isinstance(value, dict), record, value, path)
        if unknown := value.keys() - {field.name for field in record.fields}:
            raise InvalidData(f"{path}: {record.name.full} has no field {min(unknown)}")
        parts: list[bytes] = []
        for field in record.fields:
            part = value.get(field.name, field.default)
            if part is NO_DEFAULT:
                raise InvalidData(f"{path}: the field {field.name} is missing and has no default")
            parts += self.encode(field.type, part, f"{path}.{field.name}")
        return parts

    def _encode_map(self, schema: AvroMap, value: dict[str, Any], path: str) -> list[bytes]:
        parts = [write_zigzag(len(value))] if value else []
        for key, item in value.items():
            parts += [_with_length(key.encode()), *self.encode(schema.values, item, f"{path}.{key}")]
        return [*parts, b"\0"]

    def _encode_union(self, union: AvroUnion, value: Any, path: str) -> list[bytes]:
        """Encodes `{"type": value}`, or a plain value for the first branch that fits."""
        names = [name_of(branch) for branch in union.branches]
        if isinstance(value, dict) and len(value) == 1 and (name := next(iter(value))) in names:
            return [write_zigzag(names.index(name)), *self.encode(union.branches[names.index(name)], value[name], f"{path}.{name}")]
        for index, branch in enumerate(union.branches):
            try:
                return [write_zigzag(index), *self.encode(branch, value, path)]
            except InvalidData:
                continue
        raise InvalidData(f"{path}: no type of the union fits; write null or {{TYPE: value}} with one of the types {', '.join(names)}")


def name_of(schema: AvroType) -> str:
    """Returns the name by which JSON chooses a branch of a union."""
    return schema.name.full if isinstance(schema, NamedType) else schema.kind


def _encode_scalar(schema: AvroType, value: Any, path: str) -> bytes:
    kind = schema.kind
    match kind:
        case "null":
            _expect(value is None, schema, value, path)
            return b""
        case "boolean":
            _expect(isinstance(value, bool), schema, value, path)
            return b"\1" if value else b"\0"
        case "int" | "long":
            limit = 2**31 if kind == "int" else 2**63
            _expect(type(value) is int and -limit <= value < limit, schema, value, path)
            return write_zigzag(value)
        case "float" | "double":
            _expect(type(value) in (int, float), schema, value, path)
            return _encode_float(kind, value, path)
    _expect(isinstance(value, str), schema, value, path)
    if kind == "string":
        return _with_length(value.encode())
    data = _encode_bytes(value, path)
    if isinstance(schema, AvroFixed):
        _expect(len(data) == schema.size, schema, value, path)
        return data
    return _with_length(data)


def _encode_float(kind: str, value: float, path: str) -> bytes:
    try:
        return FLOATS[kind].pack(value)
    except OverflowError:
        raise InvalidData(f"{path}: {value} is too large for a {kind}") from None


def _encode_bytes(value: str, path: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        raise InvalidData(f"{path}: bytes are written as characters up to \\u00ff") from None


def _with_length(data: bytes) -> bytes:
    return write_zigzag(len(data)) + data


def _expect(condition: bool, schema: AvroType, value: Any, path: str) -> None:
    if not condition:
        found = "null" if value is None else type(value).__name__
        shown = "" if value is None or isinstance(value, dict | list) else f" {value!r:.100}"
        raise InvalidData(f"{path}: expected {name_of(schema)}, found {found}{shown}")
