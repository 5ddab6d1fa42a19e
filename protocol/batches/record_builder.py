"""Builds record batches of format 2: those of producers, the control batches of a broker, and batches rewritten by compaction."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct

from ..varints import put_uvarint
from .compression import Compression, compress
from .records import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    CREATE_TIME,
    DELETE_HORIZON_BIT,
    HEADER,
    LOG_APPEND_TIME,
    PREFIX_SIZE,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Record,
    write_crc,
)

_MARKER_KEY = Struct(">hh")  # version, type
_MARKER_VALUE = Struct(">hi")  # version, coordinator epoch
ABORT, COMMIT = 0, 1


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
    """Returns a batch of one or more records, whose offsets are absolute, ascending and not below `base_offset`.

    Raises UnsupportedCompression.
    """
    records = list(records)
    base_timestamp = records[0].timestamp
    uncompressed = bytearray()
    for record in records:
        _put_record(uncompressed, record, record.timestamp - base_timestamp, record.offset - base_offset)
    header = BatchHeader(
        base_offset=base_offset,
        batch_length=0,
        partition_leader_epoch=partition_leader_epoch,
        magic=2,
        crc=0,
        attributes=compression | timestamp_type * TIMESTAMP_TYPE_BIT | is_transactional * TRANSACTIONAL_BIT | is_control * CONTROL_BIT,
        last_offset_delta=records[-1].offset - base_offset,
        base_timestamp=base_timestamp,
        max_timestamp=max(record.timestamp for record in records),
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        records_count=len(records),
    )
    return seal_batch(header, bytes(uncompressed), level)


def seal_batch(header: BatchHeader, uncompressed: bytes, level: int | None = None) -> bytearray:
    """Returns the batch of uncompressed records, with its length, codec and CRC. Raises UnsupportedCompression."""
    payload = compress(header.compression, uncompressed, level)
    batch = bytearray(HEADER.pack(*header._replace(batch_length=HEADER.size - PREFIX_SIZE + len(payload))))
    batch += payload
    write_crc(batch)
    return batch


def rewrite_batch(header: BatchHeader, records: Sequence[Record], *, delete_horizon_ms: int | None) -> bytearray:
    """Returns a batch with `records` only and with the same offsets, producer, epochs and codec (Kafka's MemoryRecords.filterTo).

    Without records it is only a header, which preserves the producer's last sequence number. Raises UnsupportedCompression.
    """
    attributes = header.attributes & ~(COMPRESSION_MASK | DELETE_HORIZON_BIT)
    base_timestamp, max_timestamp, uncompressed = -1, header.max_timestamp, bytearray()
    if records:
        attributes |= header.compression
        base_timestamp = records[0].timestamp
        if header.timestamp_type != LOG_APPEND_TIME:
            max_timestamp = max(record.timestamp for record in records)
        if delete_horizon_ms is not None:
            attributes |= DELETE_HORIZON_BIT
            base_timestamp = delete_horizon_ms
        for record in records:
            _put_record(uncompressed, record, record.timestamp - base_timestamp, record.offset - header.base_offset)
    rewritten = header._replace(
        attributes=attributes, base_timestamp=base_timestamp, max_timestamp=max_timestamp, records_count=len(records)
    )
    return seal_batch(rewritten, bytes(uncompressed))


def build_marker(producer_id: int, producer_epoch: int, coordinator_epoch: int, timestamp: int, *, committed: bool) -> bytearray:
    """Returns the control batch that ends a transaction. Consumers skip its only record (Kafka's EndTransactionMarker)."""
    key, value = _MARKER_KEY.pack(0, COMMIT if committed else ABORT), _MARKER_VALUE.pack(0, coordinator_epoch)
    return build_batch(
        [Record(0, timestamp, key, value, [])],
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        is_transactional=True,
        is_control=True,
    )


def put_varint(out: bytearray, value: int) -> None:
    """Appends a number as a zigzag varint."""
    put_uvarint(out, value << 1 if value >= 0 else (-value << 1) - 1)


def put_bytes(out: bytearray, value: bytes | None) -> None:
    """Appends bytes after their length, or null."""
    if value is None:
        out.append(1)
    else:
        put_varint(out, len(value))
        out += value


def _put_record(out: bytearray, record: Record, timestamp_delta: int, offset_delta: int) -> None:
    body = bytearray(1)  # attributes
    put_varint(body, timestamp_delta)
    put_varint(body, offset_delta)
    put_bytes(body, record.key)
    put_bytes(body, record.value)
    put_headers(body, record.headers)
    put_varint(out, len(body))
    out += body


def put_headers(out: bytearray, headers: Sequence[tuple[str, bytes | None]]) -> None:
    """Appends the number of headers, and the headers."""
    put_varint(out, len(headers))
    for name, value in headers:
        put_bytes(out, name.encode())
        put_bytes(out, value)
