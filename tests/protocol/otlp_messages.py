"""Protocol buffers of OpenTelemetry, field by field."""

from __future__ import annotations


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def field(number: int, value: bytes | str | int) -> bytes:
    """Returns a field: a varint for a number, and otherwise bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def message(*metrics: bytes) -> bytes:
    scope = field(1, field(1, "scope")) + b"".join(field(2, metric) for metric in metrics)
    return field(1, field(1, b"") + field(2, scope) + field(3, "schema"))
