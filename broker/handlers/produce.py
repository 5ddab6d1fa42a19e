"""Produce: appends record batches. Not done: checks of single records, recompression.

A transactional batch needs a transaction: up to v11 one that the partition was added to (KIP-890), from v12 on it is added here.
"""

from __future__ import annotations

from struct import Struct

from ...protocol.compression import Compression
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.produce import (
    PRODUCE,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ...protocol.records import (
    HEADER,
    TIMESTAMP_TYPE_BIT,
    TRANSACTIONAL_BIT,
    BatchError,
    BatchHeader,
    read_header,
    validate_batch,
    write_crc,
)
from ...storage.producers import Duplicate, OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen
from ..context import Context
from ..topics import Partition
from ..transactions.transaction import Producer, TopicPartition
from .leadership import current_leader, find_led_partition, find_topic, node_endpoints
from .registry import CloseConnection, handles
from .verification import join_transaction

ADMIN_CLIENT_ID = "__admin_client"
ALL_REPLICAS = -1
SEQUENCE_MASK = 0x7FFFFFFF
KNOWS_ABORTABLE, ADDS_PARTITIONS = 11, 12  # the versions of KIP-890
_ATTRIBUTES = Struct(">h")
_TIMESTAMP = Struct(">q")

# Errors before a log was looked at; all others tell where it starts.
_WITHOUT_LOG_START = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)


@handles(PRODUCE)
def produce(request: ProduceRequest, context: Context) -> ProduceResponse | None:
    """Appends each partition's batch for itself; with acks=0 there is no answer, and any error ends the connection."""
    if request.transactional_id is not None:
        _check_one_producer(request)
    responses = [
        TopicProduceResponse(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[_append_or_refuse(topic, data, request, context) for data in topic.partition_data],
        )
        for topic in request.topic_data
    ]
    refused = [partition for topic in responses for partition in topic.partition_responses if partition.error_code]
    if request.acks == 0:
        if refused:
            raise CloseConnection(f"Produce with acks=0 failed with {ErrorCode(refused[0].error_code).name}")
        return None
    leaders = [partition.current_leader.leader_id for partition in refused if partition.current_leader]
    return ProduceResponse(responses=responses, node_endpoints=node_endpoints(context, leaders) if leaders else [])


def _append_or_refuse(
    topic: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    try:
        return _append(topic, data, request, context)
    except KafkaError as error:
        code, message = error.code, error.message
    except BatchError as error:
        code, message = error.error_code, str(error)
    except OutOfOrderSequence as error:
        code, message = ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, str(error)
    except StaleProducerEpoch as error:
        code, message = ErrorCode.INVALID_PRODUCER_EPOCH, str(error)
    except TransactionIsOpen as error:
        code, message = ErrorCode.INVALID_TXN_STATE, str(error)
    return _refusal(topic, data.index, code, message, context)


def _check_one_producer(request: ProduceRequest) -> None:
    """Refuses a request that carries the transactions of several producers."""
    views = [data.records for topic in request.topic_data for data in topic.partition_data]
    headers = [read_header(view) for view in views if isinstance(view, memoryview) and len(view) >= HEADER.size]
    if len({(header.producer_id, header.producer_epoch) for header in headers if header.is_transactional}) > 1:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID")


def _append(
    topic_data: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    """The checks in Kafka's order (ReplicaManager, UnifiedLog, ProducerAppendInfo), and the append."""
    broker, acks = context.broker, request.acks
    topic = find_topic(broker, topic_data.name, topic_data.topic_id)
    partition = find_led_partition(broker, topic, data.index)
    if acks not in (ALL_REPLICAS, 0, 1):
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.is_internal and context.connection.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    if acks == ALL_REPLICAS and len(partition.isr) < partition.min_isr:
        raise KafkaError(
            ErrorCode.NOT_ENOUGH_REPLICAS, f"{len(partition.isr)} in-sync replicas, min.insync.replicas is {partition.min_isr}"
        )
    batch = data.records
    if not isinstance(batch, memoryview):
        raise KafkaError(ErrorCode.INVALID_RECORD, "no record batch")
    header = validate_batch(batch, topic.config.integers["max.message.bytes"])
    batch = batch[: header.size]
    if header.attributes & 7 == Compression.ZSTD and context.version < 7:
        raise KafkaError(ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, "zstd needs Produce v7")
    timestamp_type = topic.config.texts["message.timestamp.type"]
    if header.producer_id >= 0:
        appended = _append_in_sequence(partition, batch, header, timestamp_type, request.transactional_id, context)
    else:
        append_time = _stamp(batch, header, timestamp_type, context.now_ms)
        appended = Duplicate(partition.log.append(batch, partition.leader_epoch, owned=context.owns_buffer), append_time)
    context.wake(partition)
    return _appended(partition, appended)


def _append_in_sequence(
    partition: Partition, batch: memoryview, header: BatchHeader, timestamp_type: str, transactional_id: str | None, context: Context
) -> Duplicate:
    """Appends a batch of an idempotent or transactional producer, unless it was before: where it is."""
    producers, now_ms = partition.producers, context.now_ms
    transactional = header.attributes & TRANSACTIONAL_BIT != 0
    if transactional:
        _join(partition, header, transactional_id, context)
    last_sequence = header.base_sequence + header.last_offset_delta & SEQUENCE_MASK
    numbers = (header.producer_id, header.producer_epoch, header.base_sequence, last_sequence)
    new_from_zero = transactional and context.version >= ADDS_PARTITIONS
    duplicate = producers.check(*numbers, now_ms, transactional=transactional, new_from_zero=new_from_zero)
    if duplicate:
        return duplicate
    append_time = _stamp(batch, header, timestamp_type, now_ms)
    base_offset = partition.log.append(batch, partition.leader_epoch, owned=context.owns_buffer)
    timestamp = header.max_timestamp if append_time == -1 else append_time
    producers.record(*numbers, base_offset, base_offset + header.last_offset_delta, timestamp, now_ms, transactional=transactional)
    return Duplicate(base_offset, append_time)


def _join(partition: Partition, header: BatchHeader, transactional_id: str | None, context: Context) -> None:
    """Has the coordinator's word for the first batch of a transaction in a partition."""
    if transactional_id is None:
        raise KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    producer = Producer(header.producer_id, header.producer_epoch)
    if not partition.producers.continues(*producer):
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


def _appended(partition: Partition, at: Duplicate) -> PartitionProduceResponse:
    return PartitionProduceResponse(
        index=partition.index,
        base_offset=at.base_offset,
        log_append_time_ms=at.timestamp,
        log_start_offset=partition.log.start_offset,
    )


def _refusal(topic_data: TopicProduceData, index: int, code: ErrorCode, message: str | None, context: Context) -> PartitionProduceResponse:
    cluster = context.broker.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id.get(topic_data.topic_id)
    partition = topic.partition(index) if topic else None
    return PartitionProduceResponse(
        index=index,
        error_code=code,
        base_offset=-1,
        log_start_offset=partition.log.start_offset if partition and code not in _WITHOUT_LOG_START else -1,
        error_message=message,
        current_leader=current_leader(partition) if code == ErrorCode.NOT_LEADER_OR_FOLLOWER else None,
    )
