"""Unsigned variable-length integers, the lengths, counts and tags of flexible versions (KIP-482)."""

from __future__ import annotations

from .fields import ProtocolError


def uvarint_rest(buffer: memoryview | bytes, first: int, position: int) -> tuple[int, int]:
    """Reads the rest of an unsigned varint after its `first` byte, which has the high bit set.

    Returns (the value as an int32, the position after it). Raises ProtocolError, IndexError.
    """
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
    """Appends `value` as an unsigned varint."""
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
