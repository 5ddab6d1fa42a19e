"""The APIs with which administrators find and end hanging transactions (KIP-664).

DescribeTransactions, ListTransactions and DescribeProducers return the state of coordinators and partitions. WriteTxnMarkers, which brokers
otherwise send to each other, ends a transaction in single partitions.
"""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_producers import (
    DESCRIBE_PRODUCERS,
    DescribeProducersRequest,
    DescribeProducersResponse,
    PartitionResponse,
    ProducerState,
    TopicResponse,
)
from ...protocol.messages.describe_transactions import (
    DESCRIBE_TRANSACTIONS,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    TopicData,
)
from ...protocol.messages.describe_transactions import TransactionState as DescribedTransaction
from ...protocol.messages.list_transactions import LIST_TRANSACTIONS, ListTransactionsRequest, ListTransactionsResponse
from ...protocol.messages.list_transactions import TransactionState as ListedTransaction
from ...protocol.messages.write_txn_markers import (
    WRITE_TXN_MARKERS,
    WritableTxnMarker,
    WritableTxnMarkerPartitionResult,
    WritableTxnMarkerResult,
    WritableTxnMarkerTopicResult,
    WriteTxnMarkersRequest,
    WriteTxnMarkersResponse,
)
from ...storage.producers import StaleCoordinatorEpoch, StaleProducerEpoch
from ..api.context import Context, find_led_partition, find_topic
from ..api.registry import handles
from ..kafka_quirks.re2 import InvalidRegularExpression, Regex
from ..scheduling.slices import Slices, chunks, in_slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import TRANSACTION_STATE
from ..topics.topics import illegal_name
from ..transactions.transaction import NO_PRODUCER_EPOCH, Marker, Producer, TransactionState
from .transactions import check_coordinator


@handles(DESCRIBE_TRANSACTIONS)
def describe_transactions(request: DescribeTransactionsRequest, context: Context) -> Generator[Wait, None, DescribeTransactionsResponse]:
    """Describes each transactional id, or returns an error for it."""
    states = yield from in_slices(lambda each: _describe(each, context), request.transactional_ids, Slices(), 2)
    return DescribeTransactionsResponse(transaction_states=states)


def _describe(transactional_id: str, context: Context) -> DescribedTransaction:
    may_describe = context.may(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, transactional_id)
    error = check_coordinator(transactional_id, context) if may_describe else ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    transaction = context.cluster.transactions.get(transactional_id)
    if error or transaction is None:
        return DescribedTransaction(
            error_code=error or ErrorCode.TRANSACTIONAL_ID_NOT_FOUND,
            transactional_id=transactional_id,
            transaction_state="",
            transaction_timeout_ms=0,
            transaction_start_time_ms=0,
            producer_id=0,
            producer_epoch=0,
            topics=[],
        )
    topics: dict[str, list[int]] = {}
    for each in transaction.partitions:
        if context.may(Operation.DESCRIBE, ResourceType.TOPIC, each.topic):
            topics.setdefault(each.topic, []).append(each.partition)
    return DescribedTransaction(
        transactional_id=transactional_id,
        transaction_state=transaction.state.value,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_start_time_ms=transaction.start_ms,
        producer_id=transaction.producer.id,
        producer_epoch=transaction.producer.epoch,
        topics=[TopicData(topic=topic, partitions=partitions) for topic, partitions in topics.items()],
    )


@handles(LIST_TRANSACTIONS)
def list_transactions(request: ListTransactionsRequest, context: Context) -> Generator[Wait, None, ListTransactionsResponse]:
    """Returns the transactions that this broker coordinates and that match all filters. An empty filter matches everything."""
    known, states = {state.value for state in TransactionState}, dict.fromkeys(request.state_filters)
    unknown = [name for name in states if name not in known]
    response = ListTransactionsResponse(unknown_state_filters=unknown, transaction_states=[])
    try:
        pattern = Regex(request.transactional_id_pattern) if request.transactional_id_pattern else None
    except InvalidRegularExpression:
        response.error_code, response.unknown_state_filters = ErrorCode.INVALID_REGULAR_EXPRESSION, []
        return response
    producer_ids, slices = frozenset(request.producer_id_filters), Slices()
    for each in list(context.cluster.transactions):
        if (
            context.is_coordinator(each.transactional_id, TRANSACTION_STATE)
            and (not states or each.state.value in states)
            and (not producer_ids or each.producer.id in producer_ids)
            and (request.duration_filter < 0 or context.now_ms - each.start_ms > request.duration_filter)
            and context.may(Operation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, each.transactional_id)
            and (pattern is None or (yield from _matches(pattern, each.transactional_id, slices)))
        ):
            response.transaction_states.append(
                ListedTransaction(transactional_id=each.transactional_id, producer_id=each.producer.id, transaction_state=each.state.value)
            )
        if slices.full():
            yield NEXT_TURN
    return response


def _matches(pattern: Regex, transactional_id: str, slices: Slices) -> Generator[Wait, None, bool]:
    """Returns whether the id matches. The match runs in slices, because it may take long for a long transactional id."""
    matching = pattern.match(transactional_id)
    while True:
        try:
            visits = next(matching)
        except StopIteration as done:
            return bool(done.value)
        if slices.full(1 + visits // 10):
            yield NEXT_TURN


@handles(DESCRIBE_PRODUCERS)
def describe_producers(request: DescribeProducersRequest, context: Context) -> Generator[Wait, None, DescribeProducersResponse]:
    """Returns the producer states of each partition that this broker has a replica of."""
    response, slices = DescribeProducersResponse(topics=[]), Slices()
    for topic in request.topics:
        described = TopicResponse(name=topic.name, partitions=[])
        response.topics.append(described)
        for index in topic.partition_indexes:
            described.partitions.append((yield from _producers(topic.name, index, slices, context)))
            if slices.full(3):
                yield NEXT_TURN
        if slices.full(3):
            yield NEXT_TURN
    return response


def _producers(name: str, index: int, slices: Slices, context: Context) -> Generator[Wait, None, PartitionResponse]:
    response = PartitionResponse(partition_index=index, active_producers=[])
    try:
        if reason := illegal_name(name):
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
        context.demand(Operation.READ, ResourceType.TOPIC, name)
        if name not in context.cluster.topics:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "This server does not host this topic-partition.")
        producers = find_led_partition(context.broker, find_topic(context, None, name), index, or_followed=True).producers
    except KafkaError as error:
        response.error_code, response.error_message = error.code, error.message
        return response
    for some in chunks(list(producers)):
        response.active_producers += [
            ProducerState(
                producer_id=producer_id,
                producer_epoch=state.epoch,
                last_sequence=state.last_batch.last_sequence if state.last_batch else -1,
                last_timestamp=state.timestamp,
                coordinator_epoch=state.coordinator_epoch,
                current_txn_start_offset=producers.open_since(producer_id),
            )
            for producer_id, state in some
        ]
        if slices.full(1 + len(some)):
            yield NEXT_TURN
    return response


@handles(WRITE_TXN_MARKERS)
def write_txn_markers(request: WriteTxnMarkersRequest, context: Context) -> Generator[Wait, None, WriteTxnMarkersResponse]:
    """Writes each marker to each of its partitions."""
    if not context.may(Operation.ALTER, ResourceType.CLUSTER):
        context.demand(Operation.CLUSTER_ACTION)
    response, slices = WriteTxnMarkersResponse(markers=[]), Slices()
    for marker in request.markers:
        written = WritableTxnMarkerResult(producer_id=marker.producer_id, topics=[])
        response.markers.append(written)
        for topic in marker.topics:
            write = partial(_marker_result, marker, topic.name, context)
            partitions = yield from in_slices(write, topic.partition_indexes, slices, 2)
            written.topics.append(WritableTxnMarkerTopicResult(name=topic.name, partitions=partitions))
            if slices.full(2):
                yield NEXT_TURN
        if slices.full():
            yield NEXT_TURN
    return response


def _marker_result(marker: WritableTxnMarker, name: str, context: Context, index: int) -> WritableTxnMarkerPartitionResult:
    return WritableTxnMarkerPartitionResult(partition_index=index, error_code=_write(marker, name, index, context))


def _write(request: WritableTxnMarker, name: str, index: int, context: Context) -> ErrorCode:
    producer = Producer(request.producer_id, request.producer_epoch)
    marker = Marker(producer, request.coordinator_epoch, request.transaction_result, raises_epoch=request.transaction_version >= 2)
    try:
        topic = find_topic(context, None, name)
        replicas = found.replicas if (found := topic.partition(index)) else ()
        if context.broker.node_id not in replicas:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if producer.epoch == NO_PRODUCER_EPOCH:
            return ErrorCode.UNKNOWN_SERVER_ERROR  # Kafka's MemoryRecordsBuilder throws an IllegalArgumentException.
        context.cluster.transaction_log.end_transaction(find_led_partition(context.broker, topic, index), marker)
    except KafkaError as error:
        return error.code
    except StaleProducerEpoch:
        return ErrorCode.INVALID_PRODUCER_EPOCH
    except StaleCoordinatorEpoch:
        return ErrorCode.TRANSACTION_COORDINATOR_FENCED
    return ErrorCode.NONE
