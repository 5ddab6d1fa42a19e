"""Appends one record batch to one partition, after the checks of Kafka in Kafka's order.

The order matters, because the response to a batch with two faults must contain the error that Kafka finds first:

1. `append_to_topic` makes the checks of KafkaApis and ReplicaManager: topic and permission, partition index, format of the bytes, acks,
   internal topic.
2. `append` makes the checks of Partition and UnifiedLog: leader, `min.insync.replicas`, `max.message.bytes`, the batch header, then its
   records (`batch_checks.py`).
3. `_append_in_sequence` makes the checks of ProducerAppendInfo for batches of an idempotent or transactional producer: membership in a
   transaction (`transaction_check.py`), producer epoch, sequence numbers.

The log is written only after the last check has passed, so that a client can send a refused batch again. The timestamps and the CRC in the
batch itself may change before that. `produce_shortcut.py` starts at step 2, because its requests have passed step 1 before; of those whose
fields it has unpacked, `append_unpacked` checks only what may differ from an earlier request.
"""

from __future__ import annotations

from ...protocol.batches import records as batches
from ...protocol.batches.batch_validation import NotOneBatch, first_batch, only_batch, validate_batch
from ...protocol.batches.checks import NO_TIMESTAMP
from ...protocol.batches.compression import Compression
from ...protocol.batches.records import COMPRESSION_MASK, CRC_START, TRANSACTIONAL_BIT, BatchHeader
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.produce import PartitionProduceData, ProduceRequest, TopicProduceData
from ...protocol.schema import ZERO_UUID
from ...storage.producer_state import MAX_SEQUENCE
from ...storage.producers import Appended, StaleProducerEpoch
from ..api.context import Context, find_topic
from ..security.acls import Operation
from ..topics.names import INTERNAL_TOPICS
from ..topics.partition import Partition
from ..transactions.transaction import Producer, TopicPartition
from .batch_checks import AppendRules, Validated, stamp, validate_records
from .transaction_check import NotInTransaction, join_transaction

ALL_REPLICAS = -1
ADMIN_CLIENT_ID = "__admin_client"
SEQUENCE_MASK = 0x7FFFFFFF
ATTRIBUTES_POSITION = 22  # of the low byte; the high byte is unused
TOPIC_IDS_SINCE = 13
SUPPORTS_ABORTABLE, ADDS_PARTITIONS = 11, 12  # Produce versions of KIP-890
BATCHES_SINCE = 3
"""The first Produce version that must contain one record batch. Versions 0 to 2 of older releases contain message sets (KIP-98)."""
NOTHING_APPENDED = Appended(-1, -1)


def append_to_topic(
    topic_data: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> tuple[Partition, Appended]:
    """Appends the batch that a Produce request contains for one partition. Raises one of APPEND_REFUSALS."""
    if context.version >= TOPIC_IDS_SINCE and topic_data.topic_id == ZERO_UUID:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    topic = find_topic(context, Operation.WRITE, topic_data.name, topic_data.topic_id)
    if not 0 <= data.index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    converts = context.version < BATCHES_SINCE
    batch = memoryview(b"") if converts else one_batch(data.records, context.version)
    if request.acks not in (ALL_REPLICAS, 0, 1):
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.name in INTERNAL_TOPICS and context.client.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = topic.partitions[data.index]
    if converts:
        data.records = batch = _convert(partition, data.records, request.acks, context)
        if not batch:
            return partition, NOTHING_APPENDED
    return partition, append(partition, batch, request.acks, request.transactional_id, context)


def one_batch(records: object, version: int) -> memoryview:
    """Returns the one batch in the records of a Produce request (ProduceRequest.validateRecords).

    Raises NotOneBatch, CorruptBatch, or KafkaError if the codec is newer than the request's version.
    """
    if not isinstance(records, memoryview):
        raise NotOneBatch("no record batch")
    batch = first_batch(records)
    codec = batch[ATTRIBUTES_POSITION] & COMPRESSION_MASK
    if codec >= Compression.ZSTD and version < 7:  # KIP-110: older clients may share a topic with consumers that cannot read zstd
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE if codec == Compression.ZSTD else ErrorCode.UNKNOWN_SERVER_ERROR)
    return batch if len(batch) == len(records) else only_batch(records)


def _convert(partition: Partition, records: object, acks: int, context: Context) -> memoryview:
    """Returns the message set of an older Produce request as a batch, see `batch_of_message_set`. Raises KafkaError or BatchError."""
    from .old_formats import batch_of_message_set

    release = context.cluster.release
    assert release is not None, "Kafka 4.3 does not serve these versions"  # noqa: S101  (it narrows a type)
    check_leader(partition, acks, context)
    config = partition.topic.config
    return batch_of_message_set(records, config.derived.get(AppendRules) or AppendRules.of(config), release)


def check_leader(partition: Partition, acks: int, context: Context) -> None:
    """Raises KafkaError if this broker does not lead the partition, or if acks=all and too few replicas are in sync."""
    if partition.leader != context.broker.node_id:
        raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
    if acks == ALL_REPLICAS and partition.held_offset is not None and not partition.has_min_isr:
        raise KafkaError(ErrorCode.NOT_ENOUGH_REPLICAS)


def append(partition: Partition, batch: memoryview, acks: int, transactional_id: str | None, context: Context) -> Appended:
    """Appends a batch and wakes the requests that wait for the partition.

    Returns the base offset and the log append time in ms (-1 for CreateTime). A duplicate of an idempotent producer's batch is not appended
    again; the values of the first append are returned. Raises one of APPEND_REFUSALS.
    """
    check_leader(partition, acks, context)
    memory = partition.log.memory
    if memory is not None and not memory.has_room(len(batch)):
        raise KafkaError(ErrorCode.KAFKA_STORAGE_ERROR)
    config, now_ms = partition.topic.config, context.cluster.timers.now_ms
    rules = config.derived.get(AppendRules) or AppendRules.of(config)
    header = validate_batch(batch, rules.max_message_bytes)
    validated = validate_records(batch, header, rules, now_ms)
    if rules.schemas is not None:
        from .schema_ids import demand_schemas

        demand_schemas(partition, batch, rules.schemas, context)
    if rules.magic < 2:
        from .old_formats import in_older_format

        validated = in_older_format(validated, rules.magic)
    if header.producer_id >= 0:
        appended = _append_in_sequence(partition, validated, rules, transactional_id, context)
    else:
        batch, header, latest, is_new = validated
        append_time = stamp(batch, header, latest, rules, now_ms)
        appended = Appended(partition.log.append(batch, partition.leader_epoch, owned=is_new or context.owns_buffer), append_time)
        if append_time == latest == NO_TIMESTAMP:
            partition.untimed.note(appended.base_offset, now_ms)
    context.cluster.wake(partition)
    if partition.held_offset is not None:
        context.cluster.write_missing_markers()  # the high watermark may have passed the markers that wait for replicas
    return appended


def append_unpacked(
    partition: Partition,
    context: Context,
    rules: AppendRules,
    batch: memoryview,
    crc: int,
    timestamp: int,
    latest: int,
    producer_id: int,
    epoch: int,
    sequence: int,
    last_delta: int,
) -> int:
    """Appends a batch with the structure of one that was appended before.

    Returns its base offset, or -1, without a change, if `append` has to decide.
    `timestamp` and `latest` are the smallest and the largest timestamp of its records, `last_delta` is the last offset delta.
    """
    log, now_ms = partition.log, context.cluster.timers.now_ms
    if (
        partition.leader != context.broker.node_id
        or partition.topic.config.derived.get(AppendRules) is not rules
        or timestamp < 0
        or latest > now_ms + rules.after_ms
        or partition.held_offset is not None
        or (log.memory is not None and not log.memory.has_room(len(batch)))
        or batches.crc32c(batch[CRC_START:]) != crc
    ):
        return -1
    if producer_id < 0:
        base_offset = log.append_copy(batch, partition.leader_epoch, last_delta, latest)
    else:
        producers, last_sequence = partition.producers, sequence + last_delta
        if last_sequence > MAX_SEQUENCE or not producers.continues_at(producer_id, epoch, sequence, now_ms):
            return -1
        base_offset = log.append_copy(batch, partition.leader_epoch, last_delta, latest)
        producers.record(producer_id, epoch, sequence, last_sequence, base_offset, base_offset + last_delta, latest, now_ms)
    context.cluster.wake(partition)
    return base_offset


def _append_in_sequence(
    partition: Partition, validated: Validated, rules: AppendRules, transactional_id: str | None, context: Context
) -> Appended:
    """Appends a batch of an idempotent or transactional producer. For a duplicate, returns the values of the first append."""
    producers, now_ms = partition.producers, context.now_ms
    batch, header, latest, is_new = validated
    producer_id, epoch, base_sequence = header.producer_id, header.producer_epoch, header.base_sequence
    last_sequence = base_sequence + header.last_offset_delta & SEQUENCE_MASK
    transactional = header.attributes & TRANSACTIONAL_BIT != 0
    if transactional:
        _join(partition, header, transactional_id, context)
    # With transactions v2 (KIP-890) a transaction starts at sequence 0, so that no later batch can be appended before its first one.
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
    """Verifies with the transaction coordinator the first batch of a transaction in a partition.

    Raises NotInTransaction. COORDINATOR_NOT_AVAILABLE and, before transactions v2, CONCURRENT_TRANSACTIONS are replaced by
    NOT_ENOUGH_REPLICAS, because all clients retry after that error.
    """
    if transactional_id is None:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = Producer(header.producer_id, header.producer_epoch)
    if partition.producers.continues(*producer):
        return
    joining = TopicPartition(partition.topic.name, partition.index)
    adds, supports_abortable = context.version >= ADDS_PARTITIONS, context.version >= SUPPORTS_ABORTABLE
    try:
        partition.producers.check_epoch(*producer)
        join_transaction(context, transactional_id, producer, joining, adds=adds, supports_abortable=supports_abortable)
    except StaleProducerEpoch:
        raise NotInTransaction(ErrorCode.INVALID_PRODUCER_EPOCH) from None
    except NotInTransaction as error:
        partition.producers.refuse(*producer, header.base_sequence, context.now_ms)
        if error.code is ErrorCode.COORDINATOR_NOT_AVAILABLE or (error.code is ErrorCode.CONCURRENT_TRANSACTIONS and not adds):
            raise NotInTransaction(ErrorCode.NOT_ENOUGH_REPLICAS, f"the transaction coordinator answered {error.code.name}") from None
        text = "the partition is not part of the transaction" if error.code is ErrorCode.INVALID_TXN_STATE else None
        raise NotInTransaction(error.code, text) from None
