"""Message sets that older clients produce, and topics whose `message.format.version` is older than record batches.

Brokers up to 3.9 accept message sets in Produce up to v2 and convert them to the format of the topic (Kafka's LogValidator). Brokers up to
2.8 keep a topic in the format that `message.format.version` names. Here the log always contains batches: only what the older format would
lose is removed when they are appended, and `fetching/old_formats.py` returns message sets of them.
"""

from __future__ import annotations

from ...protocol.batches.batch_validation import only_batch
from ...protocol.batches.compression import Compression
from ...protocol.batches.message_sets import NO_TIMESTAMP, read_message_set
from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import CREATE_TIME, LOG_APPEND_TIME, MAGIC_POSITION, BatchError, RecordBatch, first_batch_size, read_header
from ...protocol.errors import ErrorCode, KafkaError
from ..releases.release import Release
from .batch_checks import AppendRules, Validated

ONE_WRAPPER_SINCE = (2, 4)
APPEND_TIME_IGNORED_SINCE = (3, 6)
"""From 3.6 on, a producer may set the timestamp type LogAppendTime if the timestamp is within its bounds."""


def batch_of_message_set(records: object, rules: AppendRules, release: Release) -> memoryview:
    """Returns the records of an older Produce request as one batch, which is empty if there are none.

    Raises BatchError, KafkaError.
    """
    if not isinstance(records, memoryview) or not first_batch_size(records):
        return memoryview(b"")
    if records[MAGIC_POSITION] >= 2:
        return only_batch(records)
    found = read_message_set(records, rules.max_message_bytes, many_wrappers=release.number < ONE_WRAPPER_SINCE)
    if found.has_append_time and release.number < APPEND_TIME_IGNORED_SINCE:
        raise KafkaError(ErrorCode.INVALID_TIMESTAMP, "a producer may not set the timestamp type to LogAppendTime")
    kind = LOG_APPEND_TIME if found.has_append_time else CREATE_TIME
    return memoryview(build_batch(found.records, compression=found.codec, timestamp_type=kind))


def in_older_format(validated: Validated, magic: int) -> Validated:
    """Returns a batch without what the format `magic` cannot hold: in format 0, timestamps.

    Raises KafkaError with UNSUPPORTED_FOR_MESSAGE_FORMAT for the batch of an idempotent or transactional producer. Raises BatchError for
    records with headers, because Kafka's conversion fails on them.
    """
    batch, header, _, is_new = validated
    if header.producer_id >= 0:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT, f"producer ids cannot be used with message format {magic}")
    if header.compression is Compression.ZSTD:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"zstd cannot be used with message format {magic}")
    records = list(RecordBatch(batch).records())
    if any(record.headers for record in records):
        raise BatchError(f"message format {magic} has no headers")
    kept = [record._replace(timestamp=record.timestamp if magic else NO_TIMESTAMP) for record in records]
    if kept == records:
        return batch, header, validated[2], is_new
    rebuilt = build_batch(kept, compression=header.compression, timestamp_type=header.timestamp_type)
    new = read_header(rebuilt)
    return memoryview(rebuilt), new, new.max_timestamp, True
