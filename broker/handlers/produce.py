"""Produce: appends record batches.

A transactional batch needs a transaction: up to v11 one that the partition was added to (KIP-890), from v12 on it is added here.
"""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct
from typing import cast

from ...protocol.batch_validation import NotOneBatch
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.produce import (
    PRODUCE,
    BatchIndexAndErrorMessage,
    PartitionProduceData,
    PartitionProduceResponse,
    ProduceRequest,
    ProduceResponse,
    TopicProduceData,
    TopicProduceResponse,
)
from ...protocol.record_checks import RejectedRecords
from ...protocol.records import (
    HEADER,
    MAGIC_POSITION,
    PREFIX_SIZE,
    TRANSACTIONAL_BIT,
    BatchError,
    CorruptBatch,
    InvalidRecords,
    first_batch_size,
    read_header,
)
from ...protocol.schema import ZERO_UUID
from ...storage.producers import OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen
from ..appending.append import ADDS_PARTITIONS, ALL_REPLICAS, ATTRIBUTES_POSITION, append, one_batch
from ..appending.produce_shortcut import recognise
from ..appending.transaction_check import NotInTransaction
from ..context import Context
from ..lookup import current_leader, find_led_partition, find_topic, node_endpoints
from ..registry import CloseConnection, handles
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType

ADMIN_CLIENT_ID = "__admin_client"
_unpack_start = Struct(">8xi4xb4xh").unpack_from  # batch length, magic, attributes

# Errors that are answered without saying where the log starts.
_WITHOUT_LOG_START = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.MESSAGE_TOO_LARGE,
        ErrorCode.CORRUPT_MESSAGE,
        ErrorCode.INVALID_REQUIRED_ACKS,
        ErrorCode.INVALID_PRODUCER_ID_MAPPING,
        ErrorCode.INVALID_TOPIC_EXCEPTION,
        ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
        ErrorCode.UNSUPPORTED_COMPRESSION_TYPE,
    }
)


@handles(PRODUCE)
def produce(request: ProduceRequest, context: Context) -> ProduceResponse | Generator[Wait, None, ProduceResponse | None] | None:
    """Appends each partition's batch for itself; with acks=0 there is no answer, and any error ends the connection."""
    topics = request.topic_data
    if len(topics) != 1 or len(topics[0].partition_data) != 1 or not _is_one_batch(topics[0].partition_data[0].records):
        if refusal := _refusal_of_all(request, context):
            if request.acks == 0:
                raise CloseConnection(f"Produce with acks=0 failed with {refusal.code.name}")
            raise refusal
        topics = _each_once(topics)
        if request.transactional_id is not None:
            _check_one_producer(request)
    responses = [
        TopicProduceResponse(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[_append_or_refuse(topic, data, request, context) for data in topic.partition_data],
        )
        for topic in topics
    ]
    if request.transactional_id is not None and _is_too_early(responses, context):
        return _try_again(topics, responses, request, context)
    answer = _answer(request, responses, context)
    # With an authorizer, what a client may do now it may be denied at any time.
    if answer is not None and not _refused(responses) and context.cluster.authorizer is None:
        recognise(request, context)
    return answer


def _is_too_early(responses: list[TopicProduceResponse], context: Context) -> bool:
    """Whether the transaction before has not quite ended, for a client that leaves it to us to begin the next one."""
    errors = (partition.error_code for partition in _refused(responses))
    return context.version >= ADDS_PARTITIONS and ErrorCode.CONCURRENT_TRANSACTIONS in errors


def _refused(responses: list[TopicProduceResponse]) -> list[PartitionProduceResponse]:
    return [partition for topic in responses for partition in topic.partition_responses if partition.error_code]


def _try_again(
    topics: list[TopicProduceData], responses: list[TopicProduceResponse], request: ProduceRequest, context: Context
) -> Generator[Wait, None, ProduceResponse | None]:
    """Tries for a short time, which is most often enough, what was too early (ReplicaManager.handleProduceAppend)."""
    integers, began_ms = context.broker.config.integers, context.now_ms
    early = [
        (topic, data, answers, number)
        for topic, answers in zip(topics, (response.partition_responses for response in responses), strict=True)
        for number, data in enumerate(topic.partition_data)
        if answers[number].error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    ]
    for _, data, _, _ in early:
        data.records = memoryview(bytearray(cast(memoryview, data.records)))  # other requests are received where it stands
    while _is_too_early(responses, context) and context.now_ms - began_ms < integers["add.partitions.to.txn.retry.backoff.max.ms"]:
        yield Wait((), context.now_ms + integers["add.partitions.to.txn.retry.backoff.ms"])
        for topic, data, answers, number in early:
            answers[number] = _append_or_refuse(topic, data, request, context)
    return _answer(request, responses, context)


def _answer(request: ProduceRequest, responses: list[TopicProduceResponse], context: Context) -> ProduceResponse | None:
    refused = _refused(responses)
    if request.acks == 0:
        if refused:
            raise CloseConnection(f"Produce with acks=0 failed with {ErrorCode(refused[0].error_code).name}")
        return None
    leaders = [partition.current_leader.leader_id for partition in refused if partition.current_leader]
    return ProduceResponse(responses=responses, node_endpoints=node_endpoints(context, leaders))


def _is_one_batch(records: object) -> bool:
    """Whether there is nothing but a batch of format 2 that belongs to no transaction: what nearly every request has."""
    if not isinstance(records, memoryview) or len(records) < HEADER.size:
        return False
    length, magic, attributes = _unpack_start(records)
    return length == len(records) - PREFIX_SIZE and magic == 2 and not attributes & TRANSACTIONAL_BIT


def _refusal_of_all(request: ProduceRequest, context: Context) -> KafkaError | None:
    """Why no partition gets anything: bytes in which no batch can be found, or one of a transaction that is not the client's."""
    for topic in request.topic_data:
        for data in topic.partition_data:
            batch = data.records
            try:
                if (
                    isinstance(batch, memoryview)
                    and first_batch_size(batch)
                    and _is_transactional(batch)
                    and (
                        request.transactional_id is None
                        or not context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
                    )
                ):
                    return KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
            except BatchError as error:
                return KafkaError(error.error_code, str(error) if isinstance(error, CorruptBatch) else None)
    return None


def _is_transactional(batch: memoryview) -> bool:
    return batch[MAGIC_POSITION] == 2 and bool(batch[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT)


def _each_once(topics: list[TopicProduceData]) -> list[TopicProduceData]:
    """The topics without those that have no partitions; of what is named twice the last counts, as in Kafka's map."""
    found: dict[tuple[str, bytes], dict[int, PartitionProduceData]] = {}
    for topic in topics:
        for data in topic.partition_data:
            found.setdefault((topic.name, topic.topic_id), {})[data.index] = data
    return [
        TopicProduceData(name=name, topic_id=topic_id, partition_data=list(partitions.values()))
        for (name, topic_id), partitions in found.items()
    ]


def _append_or_refuse(
    topic: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    try:
        return _append(topic, data, request, context)
    except KafkaError as error:
        without = isinstance(error, NotInTransaction) or error.code in (ErrorCode.UNKNOWN_SERVER_ERROR, *_WITHOUT_LOG_START)
        refusal = _refusal(topic, data.index, error.code, context, log_start=not without)
        refusal.error_message = error.message
        return refusal
    except NotOneBatch as error:
        return _refusal(topic, data.index, error.error_code, context, log_start=False)
    except RejectedRecords as error:
        refusal = _refusal(topic, data.index, error.error_code, context)
        refusal.error_message = str(error)
        refusal.record_errors = [
            BatchIndexAndErrorMessage(batch_index=number, batch_index_error_message=text) for number, text in error.record_errors
        ]
        return refusal
    except BatchError as error:
        return _refusal(topic, data.index, error.error_code, context, log_start=error.error_code not in _WITHOUT_LOG_START)
    except InvalidRecords:
        return _refusal(topic, data.index, ErrorCode.INVALID_RECORD, context)
    except OutOfOrderSequence:
        return _refusal(topic, data.index, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, context)
    except TransactionIsOpen:
        return _refusal(topic, data.index, ErrorCode.INVALID_TXN_STATE, context)
    except StaleProducerEpoch:
        return _refusal(topic, data.index, ErrorCode.INVALID_PRODUCER_EPOCH, context)


def _check_one_producer(request: ProduceRequest) -> None:
    """Refuses a request that carries the transactions of several producers."""
    views = [data.records for topic in request.topic_data for data in topic.partition_data]
    headers = [read_header(view) for view in views if isinstance(view, memoryview) and len(view) >= HEADER.size]
    if len({(header.producer_id, header.producer_epoch) for header in headers if header.is_transactional}) > 1:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID")


def _append(
    topic_data: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, context: Context
) -> PartitionProduceResponse:
    """The checks of KafkaApis and ReplicaManager in their order, and the append."""
    if context.version >= 13 and topic_data.topic_id == ZERO_UUID:
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
    topic = find_topic(context, Operation.WRITE, topic_data.name, topic_data.topic_id)
    if not 0 <= data.index < len(topic.partitions):
        raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    batch = one_batch(data.records, context.version)
    if request.acks not in (ALL_REPLICAS, 0, 1):
        raise KafkaError(ErrorCode.INVALID_REQUIRED_ACKS)
    if topic.is_internal and context.client.client_id != ADMIN_CLIENT_ID:
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
    partition = find_led_partition(context.broker, topic, data.index)
    appended = append(partition, batch, request.acks, request.transactional_id, context)
    return PartitionProduceResponse(
        index=partition.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.timestamp,
        log_start_offset=partition.log.start_offset,
    )


def _refusal(
    topic_data: TopicProduceData, index: int, code: ErrorCode, context: Context, *, log_start: bool = True
) -> PartitionProduceResponse:
    """Without a text, as Kafka gives none for these errors."""
    cluster = context.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id.get(topic_data.topic_id)
    partition = topic.partition(index) if topic else None
    return PartitionProduceResponse(
        index=index,
        error_code=code,
        base_offset=-1,
        log_start_offset=partition.log.start_offset if partition and log_start else -1,
        current_leader=current_leader(partition) if code == ErrorCode.NOT_LEADER_OR_FOLLOWER else None,
    )
