"""How one record batch gets into one partition: the checks in Kafka's order (Partition, UnifiedLog, ProducerAppendInfo), and the append."""

from __future__ import annotations

from struct import Struct

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.records import TIMESTAMP_TYPE_BIT, TRANSACTIONAL_BIT, BatchError, BatchHeader, validate_batch, write_crc
from ...storage.producers import Duplicate, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen
from ..context import Context
from ..topics import Partition
from ..transactions.transaction import Producer, TopicPartition
from .verification import join_transaction

ALL_REPLICAS = -1
SEQUENCE_MASK = 0x7FFFFFFF
KNOWS_ABORTABLE, ADDS_PARTITIONS = 11, 12  # the versions of KIP-890
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")

REFUSALS = (KafkaError, BatchError, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen)
"""What `append` raises for a batch that does not get in. Nothing has been changed then that a second try would change again."""


def append(partition: Partition, batch: object, acks: int, transactional_id: str | None, context: Context) -> Duplicate:
    """Appends a batch to a partition that this broker leads, unless it is there already: where it is, and its log_append_time_ms."""
    topic = partition.topic
    if acks == ALL_REPLICAS and len(partition.isr) < partition.min_isr:
        raise KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(partition.isr)} in-sync replicas, min.insync.replicas is {partition.min_isr}"
        )
    if not isinstance(batch, memoryview):
        raise KafkaError(ErrorCode.INVALID_RECORD, "no record batch")
    header = validate_batch(batch, topic.config.integers["max.message.bytes"])
    batch = batch[: header.size]
    if header.attributes & 7 == Compression.ZSTD and context.version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce v7")
    timestamp_type = topic.config.texts["message.timestamp.type"]
    if header.producer_id >= 0:
        appended = _append_in_sequence(partition, batch, header, timestamp_type, transactional_id, context)
    else:
        append_time = _stamp(batch, header, timestamp_type, context.now_ms)
        appended = Duplicate(partition.log.append(batch, partition.leader_epoch, owned=context.owns_buffer), append_time)
    context.wake(partition)
    return appended


def _append_in_sequence(
    partition: Partition, batch: memoryview, header: BatchHeader, timestamp_type: str, transactional_id: str | None, context: Context
) -> Duplicate:
    """Appends a batch of an idempotent or transactional producer."""
    producers, now_ms = partition.producers, context.now_ms
    producer_id, epoch, base_sequence = header.producer_id, header.producer_epoch, header.base_sequence
    last_sequence = base_sequence + header.last_offset_delta & SEQUENCE_MASK
    transactional = header.attributes & TRANSACTIONAL_BIT != 0
    if transactional:
        _join(partition, header, transactional_id, context)
    # From v12 on transactions begin at sequence 0, so that nothing overtakes the first batch.
    from_zero = transactional and context.version >= ADDS_PARTITIONS
    duplicate = producers.check(producer_id, epoch, base_sequence, last_sequence, now_ms, transactional, from_zero)
    if duplicate:
        return duplicate
    append_time = _stamp(batch, header, timestamp_type, now_ms)
    base_offset = partition.log.append(batch, partition.leader_epoch, owned=context.owns_buffer)
    timestamp = header.max_timestamp if append_time == -1 else append_time
    last_offset = base_offset + header.last_offset_delta
    producers.record(producer_id, epoch, base_sequence, last_sequence, base_offset, last_offset, timestamp, now_ms, transactional)
    return Duplicate(base_offset, append_time)


def _join(partition: Partition, header: BatchHeader, transactional_id: str | None, context: Context) -> None:
    """Has the coordinator's word for the first batch of a transaction in a partition."""
    if transactional_id is None:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = Producer(header.producer_id, header.producer_epoch)
    if partition.producers.continues(*producer):
        return
    joining = TopicPartition(partition.topic.name, partition.index)
    adds, knows_abortable = context.version >= ADDS_PARTITIONS, context.version >= KNOWS_ABORTABLE
    try:
        join_transaction(context.broker, transactional_id, producer, joining, adds=adds, knows_abortable=knows_abortable)
    except KafkaError:
        partition.producers.refuse(*producer, header.base_sequence, context.now_ms)
        raise


def _stamp(batch: memoryview, header: BatchHeader, timestamp_type: str, now_ms: int) -> int:
    """Writes the time into the batch where the topic says so, with its new CRC; the answer's log_append_time_ms, -1 for CreateTime."""
    if timestamp_type == "CreateTime":
        if header.attributes & TIMESTAMP_TYPE_BIT:
            _ATTRIBUTES.pack_into(batch, 21, header.attributes & ~TIMESTAMP_TYPE_BIT)
            write_crc(batch)
        return -1
    _ATTRIBUTES.pack_into(batch, 21, header.attributes | TIMESTAMP_TYPE_BIT)
    _TIMESTAMP.pack_into(batch, 35, now_ms)
    write_crc(batch)
    return now_ms
