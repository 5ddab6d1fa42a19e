"""How one record batch gets into one partition: the checks in Kafka's order (Partition, UnifiedLog, ProducerAppendInfo), and the append."""

from __future__ import annotations

from ...protocol.batch_validation import NotOneBatch, first_batch, only_batch, validate_batch
from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.record_checks import NO_TIMESTAMP
from ...protocol.records import (
    COMPRESSION_MASK,
    TRANSACTIONAL_BIT,
    BatchError,
    BatchHeader,
    InvalidRecords,
)
from ...storage.producers import Appended, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen
from ..context import Context
from ..topics.topic import Partition
from ..transactions.transaction import Producer, TopicPartition
from .batch_checks import AppendRules, Validated, stamp, validate_records
from .transaction_check import NotInTransaction, join_transaction

ALL_REPLICAS = -1
SEQUENCE_MASK = 0x7FFFFFFF
ATTRIBUTES_POSITION = 22  # of the byte in use
KNOWS_ABORTABLE, ADDS_PARTITIONS = 11, 12  # the versions of KIP-890

APPEND_REFUSALS = (KafkaError, BatchError, InvalidRecords, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen)
"""What is raised for a batch that does not get in. Nothing has been changed then that a second try would change again."""


def one_batch(records: object, version: int) -> memoryview:
    """The batch in a Produce request of some version (ProduceRequest.validateRecords)."""
    if not isinstance(records, memoryview):
        raise NotOneBatch("no record batch")
    batch = first_batch(records)
    codec = batch[ATTRIBUTES_POSITION] & COMPRESSION_MASK
    if codec >= Compression.ZSTD and version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if codec == Compression.ZSTD else ErrorCode.UNKNOWN_SERVER_ERROR)
    return batch if len(batch) == len(records) else only_batch(records)


def append(partition: Partition, batch: memoryview, acks: int, transactional_id: str | None, context: Context) -> Appended:
    """Appends a batch to a partition that this broker leads, unless it is there already: where it is, and its log_append_time_ms."""
    if acks == ALL_REPLICAS and len(partition.isr) < partition.min_isr:
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)
    memory = partition.log.memory
    if memory is not None and not memory.has_room(len(batch)):
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    config, now_ms = partition.topic.config, context.now_ms
    rules = config.derived.get(AppendRules) or AppendRules.of(config)
    header = validate_batch(batch, rules.max_message_bytes)
    validated = validate_records(batch, header, rules, now_ms)
    if header.producer_id >= 0:
        appended = _append_in_sequence(partition, validated, rules, transactional_id, context)
    else:
        batch, header, latest, is_new = validated
        append_time = stamp(batch, header, latest, rules, now_ms)
        appended = Appended(partition.log.append(batch, partition.leader_epoch, owned=is_new or context.owns_buffer), append_time)
        if append_time == latest == NO_TIMESTAMP:
            partition.untimed.note(appended.base_offset, now_ms)
    context.wake(partition)
    return appended


def _append_in_sequence(
    partition: Partition, validated: Validated, rules: AppendRules, transactional_id: str | None, context: Context
) -> Appended:
    """Appends a batch of an idempotent or transactional producer."""
    producers, now_ms = partition.producers, context.now_ms
    batch, header, latest, is_new = validated
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
    append_time = stamp(batch, header, latest, rules, now_ms)
    base_offset = partition.log.append(batch, partition.leader_epoch, owned=is_new or context.owns_buffer)
    timestamp = latest if append_time == -1 else append_time
    if timestamp == NO_TIMESTAMP:
        partition.untimed.note(base_offset, now_ms)
    last_offset = base_offset + header.last_offset_delta
    producers.record(producer_id, epoch, base_sequence, last_sequence, base_offset, last_offset, timestamp, now_ms, transactional)
    return Appended(base_offset, append_time)


def _join(partition: Partition, header: BatchHeader, transactional_id: str | None, context: Context) -> None:
    """Has the coordinator's word for the first batch of a transaction in a partition. NOT_ENOUGH_REPLICAS: try again."""
    if transactional_id is None:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = Producer(header.producer_id, header.producer_epoch)
    if partition.producers.continues(*producer):
        return
    joining = TopicPartition(partition.topic.name, partition.index)
    adds, knows_abortable = context.version >= ADDS_PARTITIONS, context.version >= KNOWS_ABORTABLE
    try:
        partition.producers.check_epoch(*producer)
        join_transaction(context.broker, transactional_id, producer, joining, adds=adds, knows_abortable=knows_abortable)
    except StaleProducerEpoch:
        raise NotInTransaction(ErrorCode.INVALID_PRODUCER_EPOCH) from None
    except NotInTransaction as error:
        partition.producers.refuse(*producer, header.base_sequence, context.now_ms)
        if error.code is ErrorCode.COORDINATOR_NOT_AVAILABLE or (error.code is ErrorCode.CONCURRENT_TRANSACTIONS and not adds):
            raise NotInTransaction(ErrorCode.NOT_ENOUGH_REPLICAS, f"the coordinator of the transaction says {error.code.name}") from None
        text = "the partition is not part of the transaction" if error.code is ErrorCode.INVALID_TXN_STATE else None
        raise NotInTransaction(error.code, text) from None
