"""Batches with the header fields that the log reads, and a pattern in all other bytes."""

from __future__ import annotations

from struct import pack_into

HEADER_BYTES = 61


def make_batch(size: int = 100, *, records: int = 1, timestamp: int = -1, pattern: int = 0xAB) -> memoryview:
    data = bytearray([pattern]) * size
    pack_into(">i", data, 8, size - 12)
    pack_into(">i", data, 23, records - 1)
    pack_into(">q", data, 35, timestamp)
    return memoryview(data)


def stored(batch: memoryview, base_offset: int, leader_epoch: int) -> bytes:
    """Returns `batch` as the log must store it, with another base offset and leader epoch."""
    data = bytearray(batch)
    pack_into(">q", data, 0, base_offset)
    pack_into(">i", data, 12, leader_epoch)
    return bytes(data)
