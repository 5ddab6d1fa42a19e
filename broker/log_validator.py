"""What is checked and changed in a batch before it is appended: its records, its times, its codec (Kafka's LogValidator)."""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple

from ..protocol.compression import Compression, InvalidCompression, TooLong, UnsupportedCompression, decompress
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.record_builder import build_batch
from ..protocol.record_checks import NO_TIMESTAMP, Demands, UnreadableRecords, check_records
from ..protocol.records import (
    COMPRESSION_MASK,
    DECOMPRESSED_LIMIT,
    HEADER,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    BatchTooLarge,
    InvalidRecords,
    read_header,
    read_records,
    write_crc,
)
from .config import TopicConfig

_CODECS = {"uncompressed": Compression.NONE} | {codec.name.lower(): codec for codec in Compression if codec}
_LEVELS = {
    Compression.GZIP: "compression.gzip.level",
    Compression.LZ4: "compression.lz4.level",
    Compression.ZSTD: "compression.zstd.level",
}
_KEPT_ATTRIBUTES = COMPRESSION_MASK | TRANSACTIONAL_BIT
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")


class Validated(NamedTuple):
    """A batch to append: the one that came, changed in place, or a new one. Times are in milliseconds, -1 for none."""

    batch: memoryview
    max_timestamp: int
    append_time: int
    is_new: bool


def validate_records(batch: memoryview, header: BatchHeader, config: TopicConfig, now_ms: int) -> Validated:
    """Raises BatchError, InvalidRecords, KafkaError where Apache Kafka refuses the batch.

    Without the package of its codec, the records of a compressed batch are not looked into.
    """
    create_time = config.texts["message.timestamp.type"] == "CreateTime"
    demands = _demands(config, now_ms, create_time)
    source = Compression(header.attributes & COMPRESSION_MASK)
    target = _CODECS.get(config.texts["compression.type"], source)
    if source:
        try:
            payload = memoryview(_decompressed(source, batch))
        except UnsupportedCompression as error:
            if target is not source:
                raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, str(error)) from None
            return _stamped(batch, header, header.max_timestamp, None if create_time else now_ms)
    else:
        payload = batch[HEADER.size :]
    checked = check_records(payload, header, demands, lenient=target is source and source is not Compression.NONE)
    if target is not source:
        return _rebuilt(payload, header, target, config, None if create_time else now_ms)
    if source and not checked.consecutive:
        raise UnreadableRecords("offsets that are not consecutive, which Kafka 4.3 fails to repair")
    return _stamped(batch, header, checked.max_timestamp, None if create_time else now_ms)


def _demands(config: TopicConfig, now_ms: int, create_time: bool) -> Demands:
    integers, keys = config.integers, "compact" in config.lists["cleanup.policy"]
    if not create_time:
        return Demands(keys=keys, create_time=False)
    return Demands(keys, now_ms - integers["message.timestamp.before.max.ms"], now_ms + integers["message.timestamp.after.max.ms"])


def _decompressed(codec: Compression, batch: memoryview) -> bytes:
    try:
        return decompress(codec, batch[HEADER.size :], DECOMPRESSED_LIMIT)
    except TooLong as error:
        raise BatchTooLarge(str(error)) from None
    except InvalidCompression as error:
        if codec is Compression.ZSTD and len(batch) == HEADER.size:
            raise InvalidRecords("no zstd frame") from None  # which for zstd-jni is an end, not an error
        raise UnreadableRecords(str(error)) from None


def _stamped(batch: memoryview, header: BatchHeader, max_timestamp: int, append_time: int | None) -> Validated:
    """Writes the times into the batch, and their CRC if that changed anything."""
    attributes, stamp = header.attributes, max_timestamp if append_time is None else append_time
    time_bit = 0 if append_time is None else TIMESTAMP_TYPE_BIT
    if stamp != header.max_timestamp or attributes & TIMESTAMP_TYPE_BIT != time_bit:
        _ATTRIBUTES.pack_into(batch, 21, attributes & _KEPT_ATTRIBUTES | time_bit)
        _TIMESTAMP.pack_into(batch, 35, stamp)
        write_crc(batch)
    return Validated(batch, stamp, -1 if append_time is None else append_time, False)


def _rebuilt(payload: memoryview, header: BatchHeader, target: Compression, config: TopicConfig, append_time: int | None) -> Validated:
    """A new batch of the same records in the topic's codec, their offsets 0, 1, 2 … (Kafka's MemoryRecordsBuilder)."""
    records = [record._replace(offset=number) for number, record in enumerate(read_records(bytes(payload), header))]
    if min(record.timestamp for record in records) < NO_TIMESTAMP:
        raise UnreadableRecords("a negative timestamp")
    batch = build_batch(
        records,
        compression=target,
        level=config.integers.get(_LEVELS.get(target, "")),
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
    )
    limit = config.integers["max.message.bytes"]
    if len(batch) > limit:
        raise BatchTooLarge(f"a batch of {len(batch)} bytes in the codec of the topic, {limit} are allowed")
    view = memoryview(batch)
    rebuilt = read_header(view)
    return _stamped(view, rebuilt, rebuilt.max_timestamp, append_time)._replace(is_new=True)
