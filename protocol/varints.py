"""Unsigned variable-length integers (KIP-482), as lengths and tags have them."""

from __future__ import annotations

from .fields import ProtocolError


def uvarint_rest(buffer: memoryview | bytes, first: int, position: int) -> tuple[int, int]:
    """The rest of an unsigned varint whose `first` byte, before `position`, has its high bit set: (int32 value, position)."""
    value, shift = first & 127, 7
    while True:
        byte = buffer[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            break
        shift += 7
        if shift > 28:
            raise ProtocolError("a varint of more than 5 bytes")
    value &= 0xFFFFFFFF
    return (value - (1 << 32) if value > 0x7FFFFFFF else value), position


def put_uvarint(out: bytearray, value: int) -> None:
    """Appends an unsigned varint."""
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
