"""Java's hash of a text, where clients can see what Kafka does with it."""

from __future__ import annotations

from collections.abc import Iterable


def java_hash(text: str) -> int:
    """`String.hashCode()`, over UTF-16 units: signed 32 bit."""
    value = 0
    data = text.encode("utf-16-be", "surrogatepass")
    for unit in range(0, len(data), 2):
        value = (31 * value + (data[unit] << 8) + data[unit + 1]) & 0xFFFFFFFF
    return value - (1 << 32) if value > 0x7FFFFFFF else value


def abs_java_hash(key: str) -> int:
    """`Utils.abs(key.hashCode())`: which coordinator partition a key belongs to."""
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value)


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """The order in which a HashMap goes through these keys, as long as it has the size that it begins with (at most 12 keys)."""
    return sorted(keys, key=lambda key: (java_hash(key) ^ (java_hash(key) & 0xFFFFFFFF) >> 16) & 15)
