"""Produce: appends record batches. Not done: checks of single records, recompression.

A transactional batch needs a transaction: up to v11 one that the partition was added to (KIP-890), from v12 on it is added here.
"""

from __future__ import annotations

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
from ...protocol.records import HEADER, BatchError, read_header
from ...storage.producers import OutOfOrderSequence, TransactionIsOpen
from ..context import Context
from .append import ALL_REPLICAS, REFUSALS, append
from .leadership import current_leader, find_led_partition, find_topic, node_endpoints
from .registry import CloseConnection, handles
from .repeated_produce import recognise

ADMIN_CLIENT_ID = "__admin_client"

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
    if not refused:
        recognise(request, context)
    leaders = [partition.current_leader.leader_id for partition in refused if partition.current_leader]
    return ProduceResponse(responses=responses, node_endpoints=node_endpoints(context, leaders) if leaders else [])


def _append_or_refuse(
    topic: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    try:
        return _append(topic, data, request, context)
    except REFUSALS as error:
        code = _error_code(error)
        message = error.message if isinstance(error, KafkaError) else str(error)
    return _refusal(topic, data.index, code, message, context)


def _error_code(error: Exception) -> ErrorCode:
    if isinstance(error, KafkaError):
        return error.code
    if isinstance(error, BatchError):
        return error.error_code
    if isinstance(error, TransactionIsOpen):
        return ErrorCode.INVALID_TXN_STATE
    return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER if isinstance(error, OutOfOrderSequence) else ErrorCode.INVALID_PRODUCER_EPOCH


def _check_one_producer(request: ProduceRequest) -> None:
    """Refuses a request that carries the transactions of several producers."""
    views = [data.records for topic in request.topic_data for data in topic.partition_data]
    headers = [read_header(view) for view in views if isinstance(view, memoryview) and len(view) >= HEADER.size]
    if len({(header.producer_id, header.producer_epoch) for header in headers if header.is_transactional}) > 1:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID")


def _append(
    topic_data: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    topic = find_topic(context.broker, topic_data.name, topic_data.topic_id)
    partition = find_led_partition(context.broker, topic, data.index)
    if request.acks not in (ALL_REPLICAS, 0, 1):
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.is_internal and context.connection.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    appended = append(partition, data.records, request.acks, request.transactional_id, context)
    return PartitionProduceResponse(
        index=partition.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.timestamp,
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
