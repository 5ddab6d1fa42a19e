"""Builds record batches of format 2: what a producer writes, and the control batches of a broker."""

from __future__ import annotations

from collections.abc import Iterable

from .codec import put_uvarint
from .compression import Compression, compress
from .records import (
    CONTROL_BIT,
    CREATE_TIME,
    HEADER,
    PREFIX_SIZE,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    Record,
    write_crc,
)


def build_batch(
    records: Iterable[Record],
    *,
    base_offset: int = 0,
    compression: Compression = Compression.NONE,
    level: int | None = None,
    timestamp_type: int = CREATE_TIME,
    producer_id: int = -1,
    producer_epoch: int = -1,
    base_sequence: int = -1,
    partition_leader_epoch: int = -1,
    is_transactional: bool = False,
    is_control: bool = False,
) -> bytearray:
    """One batch of at least one record; their offsets are those in the log, at or after `base_offset`, in rising order.

    Raises UnsupportedCompression.
    """
    records = list(records)
    base_timestamp = records[0].timestamp
    uncompressed = bytearray()
    for record in records:
        _put_record(uncompressed, record, record.timestamp - base_timestamp, record.offset - base_offset)
    attributes = compression | timestamp_type * TIMESTAMP_TYPE_BIT | is_transactional * TRANSACTIONAL_BIT | is_control * CONTROL_BIT
    payload = compress(compression, bytes(uncompressed), level)
    batch = bytearray(
        HEADER.pack(
            base_offset,
            HEADER.size - PREFIX_SIZE + len(payload),
            partition_leader_epoch,
            2,
            0,
            attributes,
            records[-1].offset - base_offset,
            base_timestamp,
            max(record.timestamp for record in records),
            producer_id,
            producer_epoch,
            base_sequence,
            len(records),
        )
    )
    batch += payload
    write_crc(batch)
    return batch


def _put_varint(out: bytearray, value: int) -> None:
    put_uvarint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def _put_bytes(out: bytearray, value: bytes | None) -> None:
    if value is None:
        out.append(1)
    else:
        _put_varint(out, len(value))
        out += value


def _put_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    body = bytearray(1)  # attributes
    _put_varint(body, timestamp_delta)
    _put_varint(body, offset_delta)
    _put_bytes(body, record.key)
    _put_bytes(body, record.value)
    _put_varint(body, len(record.headers))
    for name, value in record.headers:
        _put_bytes(body, name.encode())
        _put_bytes(body, value)
    _put_varint(out, len(body))
    out += body
