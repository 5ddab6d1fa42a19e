"""How one record batch gets into one partition: the checks in Kafka's order (Partition, UnifiedLog, ProducerAppendInfo), and the append."""

from __future__ import annotations

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.records import COMPRESSION_MASK, BatchError, InvalidRecords, NotOneBatch, only_batch, validate_batch
from ...storage.producers import Duplicate, OutOfOrderSequence, StaleProducerEpoch
from ..context import Context
from ..log_validator import AppendRules, stamp, validate_records
from ..topics import Partition

ALL_REPLICAS = -1
SEQUENCE_MASK = 0x7FFFFFFF
ATTRIBUTES_POSITION = 22  # of the byte in use

REFUSALS = (KafkaError, BatchError, InvalidRecords, OutOfOrderSequence, StaleProducerEpoch)
"""What is raised for a batch that does not get in. Nothing has been changed then."""


def one_batch(records: object, version: int) -> memoryview:
    """The batch in a Produce request of some version (ProduceRequest.validateRecords)."""
    if not isinstance(records, memoryview):
        raise NotOneBatch("no record batch")
    batch = only_batch(records)
    codec = batch[ATTRIBUTES_POSITION] & COMPRESSION_MASK
    if codec >= Compression.ZSTD and version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if codec == Compression.ZSTD else ErrorCode.UNKNOWN_SERVER_ERROR)
    return batch


def append(partition: Partition, batch: memoryview, acks: int, context: Context) -> Duplicate:
    """Appends a batch to a partition that this broker leads, unless it is there already: where it is, and its log_append_time_ms."""
    if acks == ALL_REPLICAS and len(partition.isr) < partition.min_isr:
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    config, now_ms = partition.topic.config, context.now_ms
    rules = config.derived.get(AppendRules) or AppendRules.of(config)
    header = validate_batch(batch, rules.max_message_bytes)
    batch, header, latest, is_new = validate_records(batch, header, rules, now_ms)
    producer_id, epoch = header.producer_id, header.producer_epoch
    last_sequence = header.base_sequence + header.last_offset_delta & SEQUENCE_MASK
    if producer_id >= 0:
        duplicate = partition.producers.check(producer_id, epoch, header.base_sequence, last_sequence, now_ms)
        if duplicate:
            return duplicate
    append_time = stamp(batch, header, latest, rules, now_ms)
    base_offset = partition.log.append(batch, partition.leader_epoch, owned=is_new or context.owns_buffer)
    if producer_id >= 0:
        last_offset, timestamp = base_offset + header.last_offset_delta, latest if append_time < 0 else append_time
        partition.producers.record(producer_id, epoch, header.base_sequence, last_sequence, base_offset, last_offset, timestamp, now_ms)
    context.wake(partition)
    return Duplicate(base_offset, append_time)
