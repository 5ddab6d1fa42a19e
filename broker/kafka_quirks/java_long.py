"""Java's arithmetic of 64 bits, where clients can see what Kafka does with it."""

from __future__ import annotations


def wrapped_long(value: int) -> int:
    """What Java's `long` holds after a sum that may not fit: the lowest 64 bits, signed."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
