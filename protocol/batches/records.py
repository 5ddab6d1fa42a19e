"""Reads record batches of format 2 (KIP-98). `record_builder.py` builds them, `batch_validation.py` checks those of producers.

A batch is a header of 61 bytes and its records, which may be compressed together:

    base offset int64, batch length int32 (the bytes that follow it), partition leader epoch int32, magic int8, CRC-32C uint32,
    attributes int16, last offset delta int32, base timestamp int64, max timestamp int64, producer id int64, producer epoch int16,
    base sequence int32, records count int32

The CRC covers the bytes that follow it, so that a broker can write the base offset and the leader epoch, which precede it, into a
batch without computing it again. Offsets and timestamps of records are stored as differences from the base offset and timestamp.
All integers in records are zigzag varints. Nearly all of them take one byte, so that case is handled inline, without a call.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from ..errors import ErrorCode
from ..schema import ProtocolError
from .compression import Compression, InvalidCompression, decompress

Buffer: TypeAlias = bytes | bytearray | memoryview

HEADER = struct.Struct(">qiibIhiqqqhii")
"""The header, in the order of `BatchHeader`."""
PREFIX_SIZE = 12
"""The size of base offset and batch length in bytes, which `batch_length` does not include."""
MAGIC_POSITION = 16
CRC_START = 21
"""The position of the attributes, the first bytes that the CRC covers."""
SMALLEST_LENGTH = 14
"""The smallest `batch_length` of any format (Kafka's LegacyRecord.RECORD_OVERHEAD_V0)."""
LARGEST_LENGTH = (1 << 31) - 1 - PREFIX_SIZE
DECOMPRESSED_LIMIT = 64 << 20
"""The default limit for the decompressed size of a batch, in bytes."""

COMPRESSION_MASK, TIMESTAMP_TYPE_BIT, TRANSACTIONAL_BIT, CONTROL_BIT, DELETE_HORIZON_BIT = 0x07, 0x08, 0x10, 0x20, 0x40
CREATE_TIME, LOG_APPEND_TIME = 0, 1


class InvalidRecords(ProtocolError):
    """The records of a batch are malformed, or do not match its header."""


class RecordsEndEarly(InvalidRecords):
    """The batch ends before its last record does."""


class BatchError(ProtocolError):
    """A batch that a broker refuses with `error_code`."""

    error_code = ErrorCode.UNKNOWN_SERVER_ERROR


class CorruptBatch(BatchError):
    """A batch that was damaged in transit. The error is retriable, so a producer sends the batch again."""

    error_code = ErrorCode.CORRUPT_MESSAGE


class BatchHeader(NamedTuple):
    """The header of a batch. `attributes` bits: 0-2 compression, 3 timestamp type, 4 transactional, 5 control, 6 delete horizon."""

    base_offset: int
    batch_length: int
    partition_leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records_count: int

    @property
    def size(self) -> int:
        """The size of the whole batch in bytes."""
        return PREFIX_SIZE + self.batch_length

    @property
    def last_offset(self) -> int:
        """The offset of the last record that was written, even if compaction has removed it."""
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> Compression:
        """The codec. Raises InvalidRecords if its number is not assigned."""
        if self.attributes & COMPRESSION_MASK > Compression.ZSTD:
            raise InvalidRecords(f"there is no compression type {self.attributes & COMPRESSION_MASK}")
        return Compression(self.attributes & COMPRESSION_MASK)

    @property
    def timestamp_type(self) -> int:
        """CREATE_TIME or LOG_APPEND_TIME."""
        return LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_BIT else CREATE_TIME

    @property
    def delete_horizon_ms(self) -> int | None:
        """The time from which compaction may remove the tombstones of the batch. It replaces the base timestamp (KAFKA-8522)."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether the only record is a transaction marker (commit or abort)."""
        return bool(self.attributes & CONTROL_BIT)


class Record(NamedTuple):
    """One record. `timestamp` is in ms since 1970, or -1 for none."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def _load_crc32c(data: Buffer) -> int:
    """Replaces `crc32c` by the real function, because a start needs no checksum."""
    global crc32c
    from . import checksum

    crc32c = checksum.crc32c
    return crc32c(data)


crc32c: Callable[[Buffer], int] = _load_crc32c
"""Returns the CRC-32C of some bytes. Other modules call it as `records.crc32c`, because the first call replaces it."""
_unpack = HEADER.unpack_from


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """Returns the header at `position` without checking it. Raises InvalidRecords if fewer than 61 bytes are left."""
    if len(buffer) - position < HEADER.size:
        raise InvalidRecords(f"{len(buffer) - position} bytes are too few for a batch header")
    return BatchHeader._make(_unpack(buffer, position))


class RecordBatch:
    """A view of the bytes of one batch. Raises InvalidRecords if they are not one whole batch of format 2."""

    __slots__ = ("header", "view")

    def __init__(self, buffer: Buffer) -> None:
        self.header, self.view = read_header(buffer), memoryview(buffer)
        if self.header.magic != 2:
            raise InvalidRecords(f"magic {self.header.magic} is not supported")
        if self.header.size != len(buffer):
            raise InvalidRecords(f"a batch of {self.header.size} bytes in {len(buffer)}")

    def crc_valid(self) -> bool:
        """Returns whether the CRC matches the bytes."""
        return crc32c(self.view[CRC_START:]) == self.header.crc

    def records(self, limit: int = DECOMPRESSED_LIMIT) -> Iterator[Record]:
        """Yields the records, decompressed into at most `limit` bytes. Raises InvalidRecords, UnsupportedCompression."""
        yield from read_records(self.payload(limit), self.header)

    def payload(self, limit: int = DECOMPRESSED_LIMIT) -> bytes:
        """Returns the bytes of all records, decompressed into at most `limit` bytes. Raises InvalidRecords, UnsupportedCompression."""
        if self.header.records_count < 0:
            raise InvalidRecords(f"a count of {self.header.records_count} records")
        try:
            return decompress(self.header.compression, self.view[HEADER.size :], limit)
        except InvalidCompression as error:
            raise InvalidRecords(str(error)) from error


def read_records(payload: bytes, header: BatchHeader) -> Iterator[Record]:
    """Yields the records of an uncompressed payload. Raises InvalidRecords, also for bytes after the last record."""
    position = 0
    for number in range(header.records_count):
        try:
            record, position = _read_record(payload, position, header)
        except IndexError:
            raise InvalidRecords(f"the batch ends within record {number} of {header.records_count}") from None
        yield record
    if position != len(payload):
        raise InvalidRecords(f"{len(payload) - position} bytes after the last record")


def batches(buffer: Buffer) -> Iterator[RecordBatch]:
    """Yields the whole batches of a fetch response, which may end within a batch. Raises CorruptBatch, InvalidRecords."""
    view = memoryview(buffer)
    while size := first_batch_size(view):
        yield RecordBatch(view[:size])
        view = view[size:]


def first_batch_size(view: memoryview) -> int:
    """Returns the size of the batch at the start of `view`, 0 if there is no whole batch (Kafka's ByteBufferLogInputStream).

    Raises CorruptBatch, BatchError.
    """
    if len(view) < PREFIX_SIZE:
        return 0
    length = int.from_bytes(view[8:PREFIX_SIZE], "big", signed=True)
    if length < SMALLEST_LENGTH:
        raise CorruptBatch(f"a batch length of {length}, less than {SMALLEST_LENGTH}")
    if len(view) <= MAGIC_POSITION:
        return 0
    # Kafka reads the magic before it compares the length with the bytes that remain, so that an incomplete batch can be reported as
    # corrupt.
    if view[MAGIC_POSITION] > 2:
        raise CorruptBatch(f"magic {view[MAGIC_POSITION]} is unknown")
    if length > LARGEST_LENGTH:
        raise BatchError(f"a batch length of {length}, which overflows in Java")
    return PREFIX_SIZE + length if length <= len(view) - PREFIX_SIZE else 0


def varint_rest(data: Buffer, first: int, position: int, bits: int = 32) -> tuple[int, int]:
    """Reads the rest of a varint after its `first` byte, which has the high bit set. Returns (value before zigzag, position after it)."""
    value, shift, byte = first & 127, 7, first
    while byte > 127:
        if shift >= bits:
            raise InvalidRecords(f"a varint of more than {bits} bits")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        shift += 7
    return value & ((1 << bits) - 1), position


def _read_record(data: bytes, position: int, header: BatchHeader) -> tuple[Record, int]:
    """Returns (record, position after it). Raises InvalidRecords, and IndexError if the data ends too early."""
    size, position = data[position], position + 1
    if size > 127:
        size, position = varint_rest(data, size, position)
    end = position + (size >> 1)
    if size & 1 or end > len(data):
        raise InvalidRecords(f"a record of {from_zigzag(size)} bytes where {len(data) - position} are left")
    timestamp, position = data[position + 1], position + 2  # the byte before it holds attributes, which have no meaning yet
    if timestamp > 127:
        timestamp, position = varint_rest(data, timestamp, position, 64)
    offset, position = data[position], position + 1
    if offset > 127:
        offset, position = varint_rest(data, offset, position)
    key, position = _read_bytes(data, position, end)
    value, position = _read_bytes(data, position, end)
    count, position = data[position], position + 1
    headers, position = _read_headers(data, position, end, count) if count else ([], position)
    if position != end:
        raise InvalidRecords(f"a record of {size >> 1} bytes ends at byte {position - end + (size >> 1)}")
    timestamp = header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else header.base_timestamp + from_zigzag(timestamp)
    return Record(header.base_offset + from_zigzag(offset), timestamp, key, value, headers), position


def from_zigzag(value: int) -> int:
    """Returns the number that a zigzag code stands for."""
    return value >> 1 ^ -(value & 1)


def _read_bytes(data: bytes, position: int, end: int) -> tuple[bytes | None, int]:
    size, position = data[position], position + 1
    if size > 127:
        size, position = varint_rest(data, size, position)
    if size & 1:  # negative
        return None, position
    stop = position + (size >> 1)
    if stop > end:
        raise InvalidRecords(f"{size >> 1} bytes where the record has {end - position}")
    return data[position:stop], stop


def _read_headers(data: bytes, position: int, end: int, count: int) -> tuple[list[tuple[str, bytes | None]], int]:
    if count > 127:
        count, position = varint_rest(data, count, position)
    if count & 1 or count >> 1 > end - position:
        raise InvalidRecords(f"{from_zigzag(count)} headers where the record has {end - position} bytes")
    headers = []
    for _ in range(count >> 1):
        name, position = _read_bytes(data, position, end)
        if name is None:
            raise InvalidRecords("a header without a name")
        value, position = _read_bytes(data, position, end)
        headers.append((name.decode("utf-8", "replace"), value))
    return headers, position


def write_crc(batch: bytearray | memoryview) -> None:
    """Computes the CRC of a batch and writes it into the header."""
    batch[CRC_START - 4 : CRC_START] = crc32c(memoryview(batch)[CRC_START:]).to_bytes(4, "big")
