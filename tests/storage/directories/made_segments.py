"""Batches, messages of older formats, and segments of them."""

from __future__ import annotations

from odradek.protocol.batches.message_sets import LegacyMessage, build_message
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record


def batch(offset: int, *, records: int = 1, size: int = 100, timestamp: int = 1000) -> bytes:
    rows = [Record(offset + number, timestamp, None, bytes(size), []) for number in range(records)]
    return bytes(build_batch(rows, base_offset=offset, partition_leader_epoch=3))


def segment(count: int = 100, size: int = 1000, base: int = 0) -> bytes:
    return b"".join(batch(base + number, size=size, timestamp=5000 + number) for number in range(count))


def message(offset: int, *, magic: int = 1, attributes: int = 0, value: bytes | None = b"v", timestamp: int = 1000) -> bytes:
    return build_message(LegacyMessage(offset, magic, attributes, timestamp, b"k", value))
