"""Confluent's wire format: a byte 0, the id of the schema, and the data. Protobuf has the path of the message in front of the data."""

from __future__ import annotations

import struct

HEADER = struct.Struct(">bI")
MAX_MESSAGE_INDEXES = 100


class InvalidData(Exception):
    """The bytes, or the JSON, do not fit the schema or the wire format. The message says where."""


def schema_id_of(payload: bytes) -> int | None:
    """Returns the id of the schema of a key or value, None if it was not written with a schema registry."""
    return HEADER.unpack_from(payload)[1] if len(payload) >= HEADER.size and payload[0] == 0 else None


def split_payload(payload: bytes) -> tuple[int, bytes]:
    """Returns the id of the schema and the data of a key or value. Raises `InvalidData`."""
    schema_id = schema_id_of(payload)
    if schema_id is None:
        raise InvalidData("the data do not begin with the byte 0 and the id of a schema: they were not written with a schema registry")
    return schema_id, payload[HEADER.size :]


def join_payload(schema_id: int, data: bytes) -> bytes:
    """Returns a key or value in the wire format."""
    return HEADER.pack(0, schema_id) + data


class ByteReader:
    """Reads bytes in order. Every length is compared with the bytes that are left. Raises `InvalidData`."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    @property
    def left(self) -> int:
        return len(self._data) - self._at

    def take(self, length: int) -> bytes:
        if not 0 <= length <= self.left:
            raise InvalidData(f"the data end in a part of {length} bytes at offset {self._at}")
        self._at += length
        return self._data[self._at - length : self._at]

    def rest(self) -> bytes:
        return self.take(self.left)

    def zigzag(self) -> int:
        """Returns a number in the variable-length zigzag coding that Avro and the indexes of Protobuf use."""
        value = shift = 0
        while shift < 70:
            byte = self.take(1)[0]
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value >> 1 ^ -(value & 1)
            shift += 7
        raise InvalidData(f"a number at offset {self._at} has more than 10 bytes")


def write_zigzag(value: int) -> bytes:
    """Returns a number as `ByteReader.zigzag` reads it."""
    rest = value << 1 if value >= 0 else (-value << 1) - 1
    written = bytearray()
    while rest >= 0x80:
        written.append(rest & 0x7F | 0x80)
        rest >>= 7
    return bytes([*written, rest])


def read_message_indexes(reader: ByteReader) -> list[int]:
    """Returns the path to a message: its index in the file, then in the message around it. A single 0 stands for the first one."""
    count = reader.zigzag()
    if not 0 <= count <= MAX_MESSAGE_INDEXES:
        raise InvalidData(f"the path of the message has {count} parts, but at most {MAX_MESSAGE_INDEXES} are allowed")
    return [reader.zigzag() for _ in range(count)] or [0]
