"""Record batches of format 2 (KIP-98): header, validation, iteration. `record_builder.py` builds them.

A batch is a 61-byte header and its records, which may be compressed together. The CRC covers what follows it, so a broker
can write the base offset and the leader epoch, which stand before it, into the bytes it received.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeAlias

from .compression import Compression, InvalidCompression, decompress
from .errors import ErrorCode
from .schema import ProtocolError

Buffer: TypeAlias = bytes | bytearray | memoryview

HEADER = struct.Struct(">qiibIhiqqqhii")
"""The header, in the order of `BatchHeader`."""
PREFIX_SIZE = 12
"""Base offset and batch length: the bytes that `batch_length` does not count."""
MAGIC_POSITION = 16
CRC_START = 21
"""Where the bytes that the CRC covers begin: at the attributes."""
PRODUCER_EPOCH_POSITION = 51
SMALLEST_LENGTH = 14
"""The least `batch_length` of any format (Kafka's LegacyRecord.RECORD_OVERHEAD_V0)."""
LARGEST_LENGTH = (1 << 31) - 1 - PREFIX_SIZE
DECOMPRESSED_LIMIT = 64 << 20
"""What the records of one compressed batch may take, in bytes, unless the caller says otherwise."""

COMPRESSION_MASK, TIMESTAMP_TYPE_BIT, TRANSACTIONAL_BIT, CONTROL_BIT, DELETE_HORIZON_BIT = 0x07, 0x08, 0x10, 0x20, 0x40
CREATE_TIME, LOG_APPEND_TIME = 0, 1


class InvalidRecords(ProtocolError):
    """The records of a batch are not what its header says they are."""


class RecordsEndEarly(InvalidRecords):
    """There are fewer records than the header says."""


class BatchError(ProtocolError):
    """A batch that a broker refuses, and the code it answers."""

    error_code = ErrorCode.UNKNOWN_SERVER_ERROR


class CorruptBatch(BatchError):
    """The bytes are not what the producer wrote: it may send the batch again."""

    error_code = ErrorCode.CORRUPT_MESSAGE


class InvalidBatch(BatchError):
    """The producer wrote what a producer may not write."""

    error_code = ErrorCode.INVALID_RECORD


class NotOneBatch(InvalidBatch):
    """What stands in a request is not one batch of format 2, so no log is looked at (ProduceRequest.validateRecords)."""


class BatchTooLarge(BatchError):
    """A batch of more bytes than `max.message.bytes`."""

    error_code = ErrorCode.MESSAGE_TOO_LARGE


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
        """All bytes of the batch."""
        return PREFIX_SIZE + self.batch_length

    @property
    def last_offset(self) -> int:
        """The offset of the last record, also where compaction has removed it."""
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> Compression:
        """The codec. Raises InvalidRecords when there is none of that number."""
        if self.attributes & COMPRESSION_MASK > Compression.ZSTD:
            raise InvalidRecords(f"there is no compression type {self.attributes & COMPRESSION_MASK}")
        return Compression(self.attributes & COMPRESSION_MASK)

    @property
    def timestamp_type(self) -> int:
        """CREATE_TIME or LOG_APPEND_TIME."""
        return LOG_APPEND_TIME if self.attributes & TIMESTAMP_TYPE_BIT else CREATE_TIME

    @property
    def delete_horizon_ms(self) -> int | None:
        """When compaction may drop the batch's tombstones; it stands where the base timestamp was (KAFKA-8522)."""
        return self.base_timestamp if self.attributes & DELETE_HORIZON_BIT else None

    @property
    def is_transactional(self) -> bool:
        """Whether the batch belongs to a transaction."""
        return bool(self.attributes & TRANSACTIONAL_BIT)

    @property
    def is_control(self) -> bool:
        """Whether the one record is a marker (commit, abort) and no data."""
        return bool(self.attributes & CONTROL_BIT)


class Record(NamedTuple):
    """One record. `timestamp` is in milliseconds since 1970, -1 for none."""

    offset: int
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: list[tuple[str, bytes | None]]


def _load_crc32c(data: Buffer) -> int:
    """Replaces itself by the real function when it is first called, because importing that at start-up would cost 32 ms."""
    global _crc32c
    from .checksum import crc32c

    _crc32c = crc32c
    return _crc32c(data)


_crc32c: Callable[[Buffer], int] = _load_crc32c
_unpack = HEADER.unpack_from
_unpack_length = struct.Struct(">i").unpack_from


def read_header(buffer: Buffer, position: int = 0) -> BatchHeader:
    """The header at `position`, unchecked. Raises InvalidRecords when fewer than 61 bytes are left."""
    if len(buffer) - position < HEADER.size:
        raise InvalidRecords(f"{len(buffer) - position} bytes are no batch header")
    return BatchHeader._make(_unpack(buffer, position))


class RecordBatch:
    """A view of the bytes of one batch. Raises InvalidRecords when they are not one whole batch of format 2."""

    __slots__ = ("header", "view")

    def __init__(self, buffer: Buffer) -> None:
        self.header, self.view = read_header(buffer), memoryview(buffer)
        if self.header.magic != 2:
            raise InvalidRecords(f"magic {self.header.magic} is not supported")
        if self.header.size != len(buffer):
            raise InvalidRecords(f"a batch of {self.header.size} bytes in {len(buffer)}")

    def crc_valid(self) -> bool:
        """Whether the bytes are those that the CRC was made of."""
        return _crc32c(self.view[CRC_START:]) == self.header.crc

    def records(self, limit: int = DECOMPRESSED_LIMIT) -> Iterator[Record]:
        """The records, decompressed into at most `limit` bytes. Raises InvalidRecords where they do not decode exactly."""
        if self.header.records_count < 0:
            raise InvalidRecords(f"a count of {self.header.records_count} records")
        try:
            payload = decompress(self.header.compression, self.view[HEADER.size :], limit)
        except InvalidCompression as error:
            raise InvalidRecords(str(error)) from error
        yield from read_records(payload, self.header)


def read_records(payload: bytes, header: BatchHeader) -> Iterator[Record]:
    """The records of an uncompressed payload. Raises InvalidRecords where they do not decode exactly."""
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
    """All whole batches; one that is cut at the end is not there, as a Fetch answer may end within one.

    Raises CorruptBatch, InvalidRecords.
    """
    view = memoryview(buffer)
    while size := first_batch_size(view):
        yield RecordBatch(view[:size])
        view = view[size:]


def first_batch_size(view: memoryview) -> int:
    """The size of the batch that `view` begins with; 0 when there is none or it is cut.

    Raises CorruptBatch, BatchError (Kafka's ByteBufferLogInputStream).
    """
    if len(view) < PREFIX_SIZE:
        return 0
    length = int.from_bytes(view[8:PREFIX_SIZE], "big", signed=True)
    if length < SMALLEST_LENGTH:
        raise CorruptBatch(f"a batch length of {length}, less than {SMALLEST_LENGTH}")
    if len(view) <= MAGIC_POSITION:
        return 0
    if view[MAGIC_POSITION] > 2:
        raise CorruptBatch(f"magic {view[MAGIC_POSITION]} is not known")
    if length > LARGEST_LENGTH:
        raise BatchError(f"a batch length of {length}, which overflows in Java")
    return PREFIX_SIZE + length if length <= len(view) - PREFIX_SIZE else 0


# Records. All their integers are zigzag varints, whose one-byte case is inline: it is nearly every case.


def varint_rest(data: Buffer, first: int, position: int, bits: int = 32) -> tuple[int, int]:
    """The rest of a varint whose `first` byte, before `position`, has its high bit set: (value before zigzag, position after it)."""
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
    """(record, position after it). Raises InvalidRecords, and IndexError where the data ends too early."""
    size, position = data[position], position + 1
    if size > 127:
        size, position = varint_rest(data, size, position)
    end = position + (size >> 1)
    if size & 1 or end > len(data):
        raise InvalidRecords(f"a record of {signed(size)} bytes where {len(data) - position} are left")
    timestamp, position = data[position + 1], position + 2  # the byte before it: attributes that mean nothing yet
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
    timestamp = header.max_timestamp if header.attributes & TIMESTAMP_TYPE_BIT else header.base_timestamp + signed(timestamp)
    return Record(header.base_offset + signed(offset), timestamp, key, value, headers), position


def signed(value: int) -> int:
    """What a zigzag number means."""
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
        raise InvalidRecords(f"{signed(count)} headers where the record has {end - position} bytes")
    headers = []
    for _ in range(count >> 1):
        name, position = _read_bytes(data, position, end)
        if name is None:
            raise InvalidRecords("a header without a name")
        value, position = _read_bytes(data, position, end)
        headers.append((name.decode("utf-8", "replace"), value))
    return headers, position


# What a broker looks at before it appends.


def validate_batch(view: memoryview, max_message_bytes: int = 0x7FFFFFFF) -> BatchHeader:
    """The header of the one batch that a producer sent; the batch is `view[: header.size]`, its records stay unread.

    Less than a whole batch may follow it, and is not there for Kafka. Raises BatchError with the error code that Apache Kafka
    answers, the first in the order of ProduceRequest.validateRecords, UnifiedLog.analyzeAndValidateRecords, LogValidator.validateBatch.
    """
    size = len(view)
    if size >= HEADER.size:
        fields = _unpack(view)
        base_offset, length, _, magic, crc, attributes, last_offset_delta, _, _, producer_id, _, base_sequence, records_count = fields
        if (
            length == size - PREFIX_SIZE
            and magic == 2
            and not base_offset
            and size <= max_message_bytes
            and 0 <= last_offset_delta == records_count - 1
            and attributes & 0x27 <= 4  # no control bit, a compression type that exists
            and (base_sequence >= 0 or producer_id < 0)
            and _crc32c(view[CRC_START:]) == crc
        ):
            return tuple.__new__(BatchHeader, fields)
    batch = only_batch(view)
    if len(batch) < len(view):
        return validate_batch(batch, max_message_bytes)
    raise _refusal(view, max_message_bytes)


def only_batch(view: memoryview) -> memoryview:
    """The one whole batch of format 2 that `view` begins with. Raises NotOneBatch, BatchError."""
    batch = first_batch(view)
    if len(batch) < len(view) and first_batch_size(view[len(batch) :]):
        raise NotOneBatch("more than one batch")
    return batch


def first_batch(view: memoryview) -> memoryview:
    """The whole batch of format 2 that `view` begins with, whatever follows. Raises NotOneBatch, BatchError."""
    if len(view) >= HEADER.size and view[MAGIC_POSITION] == 2 and _unpack_length(view, 8)[0] == len(view) - PREFIX_SIZE:
        return view
    size = first_batch_size(view)
    if not size:
        raise NotOneBatch("no whole batch")
    if view[MAGIC_POSITION] < 2:
        raise NotOneBatch(f"magic {view[MAGIC_POSITION]}: only format 2 is written")
    return view[:size]


def _refusal(view: memoryview, max_message_bytes: int) -> BatchError:
    """Why one whole batch of format 2 is refused."""
    if len(view) < PRODUCER_EPOCH_POSITION:
        return BatchError(f"a batch of {len(view)} bytes has no producer id")
    if any(view[:8]):
        return InvalidBatch("a base offset other than 0")
    if len(view) > max_message_bytes:
        return BatchTooLarge(f"a batch of {len(view)} bytes, {max_message_bytes} are allowed")
    if len(view) < HEADER.size:
        return CorruptBatch(f"a batch of {len(view)} bytes, less than its header")
    header = read_header(view)
    if _crc32c(view[CRC_START:]) != header.crc:
        return CorruptBatch(f"the CRC is not {header.crc:#010x}")
    return _structural_refusal(header)


def _structural_refusal(header: BatchHeader) -> BatchError:
    if header.attributes & COMPRESSION_MASK > Compression.ZSTD:
        return BatchError(f"there is no compression type {header.attributes & COMPRESSION_MASK}")
    if header.last_offset_delta < 0:
        return InvalidBatch(f"a last offset delta of {header.last_offset_delta}")
    if header.records_count != header.last_offset_delta + 1:
        return InvalidBatch(f"a count of {header.records_count} records with a last offset delta of {header.last_offset_delta}")
    if header.is_control:
        return InvalidBatch("a control batch from a client")
    return InvalidBatch(f"a base sequence of {header.base_sequence} with a producer id")


def write_crc(batch: bytearray | memoryview) -> None:
    """Makes the CRC of a batch that of its bytes."""
    batch[CRC_START - 4 : CRC_START] = _crc32c(memoryview(batch)[CRC_START:]).to_bytes(4, "big")
