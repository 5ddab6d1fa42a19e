"""Java's 64-bit arithmetic, whose overflows are visible to clients of Kafka."""

from __future__ import annotations


def wrapped_long(value: int) -> int:
    """Returns the value of a Java `long` after an overflow: the lowest 64 bits, as a signed integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
