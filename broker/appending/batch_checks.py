"""Checks the records of a batch, its timestamps and its codec, and adapts the batch to its topic (Kafka's LogValidator).

`validate_records` changes nothing in the batch. A batch is rebuilt only if the topic's `compression.type` differs from the batch's
codec; in every other case its bytes are appended as they were received. `stamp` writes the timestamp that the topic requires.

`check_records` (protocol/batches/checks) reports the latest timestamp of all records but compares each one with bounds only on request,
because that is slower. In the usual case, in which only timestamps in the future are limited, `_check` calls it without bounds first,
and a second time with bounds only if the latest timestamp is too late or the records broke another rule.
"""

from __future__ import annotations

from struct import Struct
from typing import NamedTuple, TypeAlias

from ...protocol.batches.batch_validation import BatchTooLarge
from ...protocol.batches.checks import MAX_LONG, NO_TIMESTAMP, RecordRules, RejectedRecords, UnreadableRecords, check_records
from ...protocol.batches.compression import Compression, InvalidCompression, TooLong, decompress
from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import (
    COMPRESSION_MASK,
    DECOMPRESSED_LIMIT,
    DELETE_HORIZON_BIT,
    HEADER,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchHeader,
    Buffer,
    InvalidRecords,
    RecordsEndEarly,
    read_header,
    read_records,
    write_crc,
)
from ...protocol.schema import ProtocolError
from ..settings.values import TopicConfig

_CODECS = {"uncompressed": Compression.NONE} | {codec.name.lower(): codec for codec in Compression if codec}
_LEVELS = {
    Compression.GZIP: "compression.gzip.level",
    Compression.LZ4: "compression.lz4.level",
    Compression.ZSTD: "compression.zstd.level",
}
_KEPT_ATTRIBUTES = COMPRESSION_MASK | TRANSACTIONAL_BIT | DELETE_HORIZON_BIT
WRAPS_BELOW = -(1 << 62)
"""Timestamps below this are compared with the bounds one by one, because Kafka's `now - timestamp` may overflow a Java long for them."""
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")
_unpack_count = Struct(">57xi").unpack_from
RECORDS_PER_SLICE = 400
"""The records that are checked for schemas in one turn, which takes about a millisecond."""


class SchemaRules(NamedTuple):
    """How the subjects of keys and values are named whose schemas must be known (`schema_ids.py`); None for what is not checked."""

    key: str | None
    value: str | None

    @classmethod
    def of(cls, config: TopicConfig) -> SchemaRules | None:
        """Returns the rules of a topic, None if it checks neither keys nor values."""
        key = config.texts["confluent.key.subject.name.strategy"] if config.booleans["confluent.key.schema.validation"] else None
        value = config.texts["confluent.value.subject.name.strategy"] if config.booleans["confluent.value.schema.validation"] else None
        return cls(key, value) if key or value else None


class AppendRules(NamedTuple):
    """The settings of a topic that concern appends.

    `codec` is None for `compression.type=producer`. `record_rules` contains no time bounds, because they change with the clock. `magic` is
    the format of the topic's messages, 2 for record batches. `schemas` is None unless the topic requires schemas.
    """

    max_message_bytes: int
    record_rules: RecordRules
    create_time: bool
    before_ms: int
    after_ms: int
    codec: Compression | None
    level: int | None
    magic: int = 2
    schemas: SchemaRules | None = None

    @classmethod
    def cached(cls, config: TopicConfig) -> AppendRules:
        """Returns the rules of `config`, which are computed after one of its values has changed."""
        return config.derived.get(cls) or cls.of(config)

    @classmethod
    def of(cls, config: TopicConfig) -> AppendRules:
        """Returns the rules of `config` and caches them in it until one of its values changes."""
        codec, create_time = _CODECS.get(config.texts["compression.type"]), config.texts["message.timestamp.type"] == "CreateTime"
        difference_ms = config.integers.get("message.timestamp.difference.max.ms", MAX_LONG)  # before 4.0, in place of the other two
        rules = config.derived[cls] = cls(
            config.integers["max.message.bytes"],
            RecordRules("compact" in config.lists["cleanup.policy"], WRAPS_BELOW, create_time=create_time),
            create_time,
            min(config.integers["message.timestamp.before.max.ms"], difference_ms),
            min(config.integers["message.timestamp.after.max.ms"], difference_ms),
            codec,
            config.integers[_LEVELS[codec]] if codec in _LEVELS else None,
            config.message_format,
            SchemaRules.of(config),
        )
        return rules


def is_large(records: object) -> bool:
    """Returns whether the records of a Produce request are too many to be checked for schemas in one turn, as the batch's header says."""
    return isinstance(records, memoryview) and len(records) >= HEADER.size and _unpack_count(records)[0] > RECORDS_PER_SLICE


Validated: TypeAlias = tuple[memoryview, BatchHeader, int, bool]
"""(batch to append, its header, its latest timestamp in ms or -1, whether the batch was rebuilt)."""


def validate_records(batch: memoryview, header: BatchHeader, rules: AppendRules, now_ms: int) -> Validated:
    """Returns the batch to append. Raises BatchError, InvalidRecords or KafkaError where Apache Kafka refuses the batch."""
    codec = header.attributes & COMPRESSION_MASK
    if codec or rules.codec:
        return _validate_compressed(batch, header, rules, now_ms)
    latest, _ = _check(batch, header, rules, now_ms, HEADER.size, False)
    return batch, header, latest, False


def _validate_compressed(batch: memoryview, header: BatchHeader, rules: AppendRules, now_ms: int) -> Validated:
    """Validates a batch that is compressed, or whose topic requires a codec."""
    source = Compression(header.attributes & COMPRESSION_MASK)
    target = source if rules.codec is None else rules.codec
    payload = _decompress(source, batch, header, lenient=target is source)
    latest, consecutive = _check(payload, header, rules, now_ms, 0, target is source)
    if target is not source:
        return _rebuild(payload, header, target, rules)
    if not consecutive:
        raise UnreadableRecords("offsets that are not consecutive, which Kafka 4.3 fails to repair")
    return batch, header, latest, False


def _check(data: Buffer, header: BatchHeader, rules: AppendRules, now_ms: int, start: int, lenient: bool) -> tuple[int, bool]:
    """Returns (latest timestamp in ms, whether the offsets are consecutive). Raises as `check_records` does."""
    try:
        latest, consecutive = check_records(data, header, rules.record_rules, start, lenient)
        in_time = not rules.create_time or (latest <= now_ms + rules.after_ms and rules.before_ms == MAX_LONG)
    except RejectedRecords:
        in_time = not rules.create_time
        if in_time:
            raise
    if in_time:
        return latest, consecutive
    bounded = RecordRules(rules.record_rules.keys, now_ms - rules.before_ms, now_ms + rules.after_ms)
    return check_records(data, header, bounded, start, lenient)


def _decompress(codec: Compression, batch: memoryview, header: BatchHeader, *, lenient: bool) -> bytes:
    try:
        return decompress(codec, batch[HEADER.size :], DECOMPRESSED_LIMIT)
    except TooLong as error:
        raise BatchTooLarge(str(error)) from None
    except InvalidCompression as error:
        raise _first_fault(error, header, lenient) from None


def _first_fault(error: InvalidCompression, header: BatchHeader, lenient: bool) -> ProtocolError:
    """Returns the error that Kafka finds first in a damaged payload, because it reads the records while it decompresses them."""
    try:
        check_records(error.readable, header, RecordRules(create_time=False), 0, lenient)
    except (RecordsEndEarly, RejectedRecords):
        pass
    except (InvalidRecords, UnreadableRecords) as fault:
        return fault
    return UnreadableRecords(str(error))


def stamp(batch: memoryview, header: BatchHeader, latest: int, rules: AppendRules, now_ms: int) -> int:
    """Writes the maximum timestamp and the timestamp type into a batch, and a new CRC if either changed.

    Returns the log append time in ms, -1 for CreateTime.
    """
    time, time_bit = (latest, 0) if rules.create_time else (now_ms, TIMESTAMP_TYPE_BIT)
    if time != header.max_timestamp or header.attributes & TIMESTAMP_TYPE_BIT != time_bit:
        _ATTRIBUTES.pack_into(batch, 21, header.attributes & _KEPT_ATTRIBUTES | time_bit)
        _TIMESTAMP.pack_into(batch, 35, time)
        write_crc(batch)
    return -1 if rules.create_time else now_ms


def _rebuild(payload: bytes, header: BatchHeader, target: Compression, rules: AppendRules) -> Validated:
    """Returns a new batch of the same records in the topic's codec, with offsets from 0 without gaps (Kafka's MemoryRecordsBuilder)."""
    has_producer = header.producer_id != -1  # Kafka's builder treats every other negative id as a producer
    if has_producer and (header.producer_epoch == -1 or header.base_sequence < 0):
        raise UnreadableRecords("a producer id without epoch or sequence number")
    records = [record._replace(offset=number) for number, record in enumerate(read_records(payload, header))]
    if min(record.timestamp for record in records) < NO_TIMESTAMP:
        raise UnreadableRecords("a negative timestamp")
    batch = build_batch(
        records,
        compression=target,
        level=rules.level,
        producer_id=header.producer_id,
        producer_epoch=header.producer_epoch,
        base_sequence=header.base_sequence,
        is_transactional=header.is_transactional,
    )
    if len(batch) > rules.max_message_bytes:
        raise BatchTooLarge(f"the batch has {len(batch)} bytes in the codec of its topic; max.message.bytes is {rules.max_message_bytes}")
    rebuilt = read_header(batch)
    return memoryview(batch), rebuilt, rebuilt.max_timestamp, True
