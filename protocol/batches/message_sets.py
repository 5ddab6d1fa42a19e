"""Message sets of the formats 0 and 1, which preceded record batches. Clients before 0.11 use them, and brokers up to 3.9 convert them.

A message set is a sequence of messages, of which the last may be incomplete:

    offset int64, size int32 (the bytes that follow it), CRC-32 uint32 (of the bytes that follow it), magic int8, attributes int8,
    timestamp int64 (only in format 1), key and value (each an int32 length, -1 for null, and bytes)

The bits 0-2 of the attributes are the codec. Format 1 has the timestamp type in bit 3 (KIP-32). A message with a codec is a wrapper, whose
value is a compressed message set. A wrapper has the offset of its last inner message. Inner messages of format 0 have their own offsets,
those of format 1 the differences from the first one (KIP-31). Neither format has headers, producers or control records.

Format 0 writes a wrong checksum into the frame header of lz4: it covers the magic of the frame too (Kafka's KafkaLZ4BlockOutputStream).
Readers of format 0 ignore this checksum, so here it is replaced.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from struct import Struct
from typing import NamedTuple
from zlib import crc32

from .batch_validation import BatchTooLarge, InvalidBatch
from .compression import Compression, InvalidCompression, TooLong, compress, decompress
from .records import (
    COMPRESSION_MASK,
    DECOMPRESSED_LIMIT,
    PREFIX_SIZE,
    SMALLEST_LENGTH,
    TIMESTAMP_TYPE_BIT,
    BatchError,
    CorruptBatch,
    Record,
    first_batch_size,
)

NO_TIMESTAMP = -1
_PREFIX = Struct(">qi")
_HEAD = Struct(">Ibb")  # CRC, magic, attributes
_CRC, _SIZE, _TIMESTAMP = Struct(">I"), Struct(">i"), Struct(">q")
_LZ4_FLAGS, _LZ4_CONTENT_SIZE = 4, 0x08
_MASK = 0xFFFFFFFF


class LegacyMessage(NamedTuple):
    """One message. `timestamp` is in ms since 1970, NO_TIMESTAMP in format 0."""

    offset: int
    magic: int
    attributes: int
    timestamp: int
    key: bytes | None
    value: bytes | None

    @property
    def codec(self) -> int:
        """The number of the codec, 0 if this is not a wrapper."""
        return self.attributes & COMPRESSION_MASK

    @property
    def has_append_time(self) -> bool:
        """Whether the timestamp is the time at which a broker appended the message."""
        return self.magic > 0 and bool(self.attributes & TIMESTAMP_TYPE_BIT)


class MessageSet(NamedTuple):
    """The records of a message set in order, with offsets from 0 on, and the codec of its wrappers.

    `has_append_time` states whether a message has the timestamp type LogAppendTime.
    """

    records: list[Record]
    codec: Compression
    has_append_time: bool


def read_message_set(view: memoryview, max_message_bytes: int = _MASK, *, many_wrappers: bool = False) -> MessageSet:
    """Returns the messages of format 0 and 1 that a producer sent, those in wrappers instead of the wrappers.

    Kafka checks the size and the CRC of all outer messages first, then the inner ones. From 2.4 on it refuses other messages beside a
    wrapper, unless `many_wrappers`. Raises BatchError with the error code of Apache Kafka.
    """
    outer = list(outer_messages(view, max_message_bytes))
    codec = next((message.codec for message in reversed(outer) if message.codec), 0)
    if codec and len(outer) > 1 and not many_wrappers:
        raise InvalidBatch("a compressed message beside others")
    messages = [inner for message in outer for inner in (inner_messages(message) if message.codec else (message,))]
    records = [Record(number, message.timestamp, message.key, message.value, []) for number, message in enumerate(messages)]
    return MessageSet(records, Compression(codec), any(message.has_append_time for message in outer))


def outer_messages(view: memoryview, max_message_bytes: int) -> Iterator[LegacyMessage]:
    """Yields the whole messages of a message set, wrappers included. Raises BatchError."""
    while size := first_batch_size(view):
        if size > max_message_bytes:
            raise BatchTooLarge(f"a message of {size} bytes, {max_message_bytes} are allowed")
        yield _read_message(view[:size])
        view = view[size:]


def inner_messages(wrapper: LegacyMessage) -> list[LegacyMessage]:
    """Returns the messages in a wrapper, with their own offsets. Raises BatchError."""
    view, found = memoryview(_unwrap(wrapper)), []
    while len(view) >= PREFIX_SIZE:
        _, length = _PREFIX.unpack_from(view)
        if length < SMALLEST_LENGTH:
            raise CorruptBatch(f"an inner message of {length} bytes, less than {SMALLEST_LENGTH}")
        if length > len(view) - PREFIX_SIZE:
            break
        message = _read_message(view[: PREFIX_SIZE + length])
        if message.codec:
            raise InvalidBatch("a compressed message in another one")
        if message.magic != wrapper.magic:
            raise InvalidBatch(f"a message of magic {message.magic} in one of magic {wrapper.magic}")
        found.append(message._replace(timestamp=wrapper.timestamp) if wrapper.has_append_time else message)
        view = view[PREFIX_SIZE + length :]
    if not found:
        raise InvalidBatch("a compressed message without messages in it")
    if wrapper.magic and wrapper.offset and wrapper.offset < found[-1].offset:  # some versions of librdkafka send 0
        raise InvalidBatch(f"the offset {wrapper.offset} of a compressed message is less than {found[-1].offset}, that of its last one")
    return found


def _unwrap(wrapper: LegacyMessage) -> bytes:
    if wrapper.codec > Compression.ZSTD:
        raise BatchError(f"there is no compression type {wrapper.codec}")
    if wrapper.codec == Compression.ZSTD:
        raise InvalidBatch("zstd needs record batches of format 2 (KIP-110)")
    if wrapper.value is None:
        raise InvalidBatch("a compressed message without a value")
    codec, value = Compression(wrapper.codec), wrapper.value
    if codec is Compression.LZ4 and wrapper.magic == 0:
        value = _with_header_checksum(value, right=True)
    try:
        return decompress(codec, value, DECOMPRESSED_LIMIT)
    except TooLong as error:
        raise BatchTooLarge(str(error)) from None
    except InvalidCompression as error:
        raise BatchError(str(error)) from None


def _read_message(view: memoryview) -> LegacyMessage:
    """Returns the message in all bytes of `view`. Raises CorruptBatch for a wrong CRC, BatchError for fields that do not fit."""
    offset, _ = _PREFIX.unpack_from(view)
    crc, magic, attributes = _HEAD.unpack_from(view, PREFIX_SIZE)
    if magic not in (0, 1):
        raise InvalidBatch(f"magic {magic} in a message set")
    if crc32(view[PREFIX_SIZE + _CRC.size :]) != crc:
        raise CorruptBatch(f"the CRC is not {crc:#010x}")
    position, timestamp = PREFIX_SIZE + _HEAD.size, NO_TIMESTAMP  # SMALLEST_LENGTH leaves room for eight bytes behind it
    if magic:
        (timestamp,) = _TIMESTAMP.unpack_from(view, position)
        position += _TIMESTAMP.size
    key, position = _read_bytes(view, position)
    value, _ = _read_bytes(view, position)
    return LegacyMessage(offset, magic, attributes, timestamp, key, value)


def _read_bytes(view: memoryview, position: int) -> tuple[bytes | None, int]:
    start = position + _SIZE.size
    if start > len(view):
        raise BatchError("a message ends before its key or value")
    (size,) = _SIZE.unpack_from(view, position)
    if size < 0:
        return None, start
    if start + size > len(view):
        raise BatchError(f"a key or value of {size} bytes where the message has {len(view) - start}")
    return bytes(view[start : start + size]), start + size


def build_message_set(
    records: Sequence[Record], magic: int, codec: Compression = Compression.NONE, append_time_ms: int | None = None
) -> bytes:
    """Returns one or more records as a message set; with a codec, as one wrapper.

    `append_time_ms` replaces the timestamps of the records. Format 0 has no timestamps. Raises UnsupportedCompression.
    """
    type_bit = TIMESTAMP_TYPE_BIT if magic and append_time_ms is not None else 0
    base_offset = records[0].offset if codec and magic else 0

    def timestamp(record: Record) -> int:
        return record.timestamp if append_time_ms is None else append_time_ms

    messages = b"".join(
        build_message(LegacyMessage(record.offset - base_offset, magic, type_bit, timestamp(record), record.key, record.value))
        for record in records
    )
    if not codec:
        return messages
    value = compress(codec, messages)
    if codec is Compression.LZ4 and magic == 0:
        value = _with_header_checksum(value, right=False)
    return build_message(LegacyMessage(records[-1].offset, magic, codec | type_bit, max(map(timestamp, records)), None, value))


def build_message(message: LegacyMessage) -> bytes:
    """Returns a message with its offset, size and CRC."""
    body = bytearray((message.magic, message.attributes))
    if message.magic:
        body += _TIMESTAMP.pack(message.timestamp)
    for part in (message.key, message.value):
        body += _SIZE.pack(-1 if part is None else len(part))
        body += part or b""
    return _PREFIX.pack(message.offset, _CRC.size + len(body)) + _CRC.pack(crc32(body)) + body


def _with_header_checksum(frame: bytes, *, right: bool) -> bytes:
    """Returns an lz4 frame whose header has the right checksum, or the one that format 0 requires. A damaged frame is left as it is."""
    position = _LZ4_FLAGS + 2
    if len(frame) > _LZ4_FLAGS and frame[_LZ4_FLAGS] & _LZ4_CONTENT_SIZE:
        position += 8
    if len(frame) <= position:
        return frame
    checksum = _xxh32_of_few(frame[_LZ4_FLAGS if right else 0 : position]) >> 8 & 0xFF
    return frame[:position] + bytes((checksum,)) + frame[position + 1 :]


def _xxh32_of_few(data: bytes) -> int:
    """Returns the xxHash32 of fewer than 16 bytes, for which its four accumulators are not needed."""
    value, position = 0x165667B1 + len(data) & _MASK, 0
    while position + 4 <= len(data):
        value = value + int.from_bytes(data[position : position + 4], "little") * 0xC2B2AE3D & _MASK
        value = _rotate(value, 17) * 0x27D4EB2F & _MASK
        position += 4
    for byte in data[position:]:
        value = _rotate(value + byte * 0x165667B1 & _MASK, 11) * 0x9E3779B1 & _MASK
    value = (value ^ value >> 15) * 0x85EBCA77 & _MASK
    value = (value ^ value >> 13) * 0xC2B2AE3D & _MASK
    return value ^ value >> 16


def _rotate(value: int, bits: int) -> int:
    return (value << bits | value >> 32 - bits) & _MASK
