"""Message sets as kafka-python reads them."""

from __future__ import annotations

from kafka.record.legacy_records import LegacyRecordBatch


def read_by_kafka_python(data: bytes, magic: int) -> list[tuple[int, int | None, int | None, bytes | None, bytes | None]]:
    """Returns (offset, timestamp, timestamp type, key, value) of the whole messages."""
    found, position = [], 0
    while position < len(data):
        size = 12 + int.from_bytes(data[position + 8 : position + 12], "big")
        if position + size > len(data):
            break
        batch = LegacyRecordBatch(data[position : position + size], magic)
        assert batch.validate_crc()
        found += [(each.offset, each.timestamp, each.timestamp_type, each.key, each.value) for each in batch]
        position += size
    return found
