"""Produce: appends the record batches of a request, each independently of the others.

Nearly every request contains one batch for one partition, without a transaction. The rules that concern several batches or transactions
(`_refuse_whole_request`, `_distinct_partitions`, `_check_one_producer`) are skipped for it.

A transactional batch needs an open transaction. Up to v11 the client adds the partition to the transaction beforehand; from v12 on, Produce
adds it (transactions v2, KIP-890). The coordinator may then still be completing the producer's previous transaction. In that case the batch
is refused at first and appended after a short delay (`_retry`), as in Kafka's ReplicaManager.handleProduceAppend.

With acks=all, a batch is acknowledged when all in-sync replicas have it. A request waits for that only if a replica lags (`_replicate`).
"""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct
from typing import cast

from ...protocol.batches.records import (
    HEADER,
    MAGIC_POSITION,
    PREFIX_SIZE,
    TRANSACTIONAL_BIT,
    BatchError,
    CorruptBatch,
    first_batch_size,
    read_header,
)
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
from ..api.context import NO_CHECKS, Context, current_leader, node_endpoints
from ..api.decoding import SLICED_BYTES
from ..api.registry import CloseConnection, handles
from ..appending.append import (
    ADDS_PARTITIONS,
    ALL_REPLICAS,
    ATTRIBUTES_POSITION,
    BATCHES_SINCE,
    NOTHING_APPENDED,
    append_to_topic,
)
from ..appending.batch_checks import is_large
from ..appending.error_codes import APPEND_REFUSALS, PartitionError, partition_error_of
from ..appending.produce_shortcut import learn
from ..appending.replication_wait import Unreplicated, wait_for_replicas
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition

MAX_BYTES = "max.message.bytes"
ITEM_BYTES = 1024
"""The bytes of records whose checks take as long as an item of `Slices`."""
_unpack_start = Struct(">8xi4xb4xh").unpack_from  # batch length, magic, attributes


@handles(PRODUCE)
def produce(request: ProduceRequest, context: Context) -> ProduceResponse | Generator[Wait, None, ProduceResponse | None] | None:
    """Appends the batches. With acks=0 there is no response, and any error closes the connection."""
    topics = request.topic_data
    if context.version < BATCHES_SINCE:
        topics = _distinct_partitions(topics)
    elif len(topics) != 1 or len(topics[0].partition_data) != 1 or not _is_one_plain_batch(topics[0].partition_data[0].records):
        _refuse_whole_request(request, context)
        topics = _distinct_partitions(topics)
        if request.transactional_id is not None:
            _check_one_producer(request)
    if any(is_large(data.records) for topic in topics for data in topic.partition_data):
        from ..appending.schema_ids import find_large_batches

        if large := find_large_batches(topics, context):
            return _append_checked(large, topics, request, context)
    return _append_all(topics, request, context)


def _append_checked(
    large: list[tuple[Partition, PartitionProduceData]], topics: list[TopicProduceData], request: ProduceRequest, context: Context
) -> Generator[Wait, None, ProduceResponse | None]:
    """Appends the batches after large ones have been checked for schemas in slices."""
    from ..appending.schema_ids import check_in_slices

    if not context.owns_buffer:
        context.frame, context.owns_buffer = memoryview(bytearray(context.frame)), True
        for data in [data for topic in topics for data in topic.partition_data if data.records is not None]:
            data.records = memoryview(bytearray(cast(memoryview, data.records)))
    try:
        context.schema_checks = yield from check_in_slices(large, context.cluster)
        answer = _append_all(topics, request, context)
        return (yield from answer) if isinstance(answer, Generator) else answer
    finally:
        context.schema_checks = NO_CHECKS


def _append_all(
    topics: list[TopicProduceData], request: ProduceRequest, context: Context
) -> ProduceResponse | Generator[Wait, None, ProduceResponse | None] | None:
    """Returns the response to a request whose batches are appended, or a generator that appends them in slices or waits."""
    late: list[Unreplicated] = []
    if len(context.frame) > SLICED_BYTES and context.owns_buffer and sum([len(topic.partition_data) for topic in topics]) > 1:
        return _append_in_slices(topics, late, request, context)
    responses = [
        TopicProduceResponse(
            name=topic.name,
            topic_id=topic.topic_id,
            partition_responses=[_append(topic, data, request, late, context) for data in topic.partition_data],
        )
        for topic in topics
    ]
    return _answer(topics, responses, late, request, context)


def _append_in_slices(
    topics: list[TopicProduceData], late: list[Unreplicated], request: ProduceRequest, context: Context
) -> Generator[Wait, None, ProduceResponse | None]:
    """Appends the batches of a request with many bytes or partitions, whose memory is not used for other requests meanwhile."""
    responses, slices, is_full = [], Slices(), False
    for topic in topics:
        response = TopicProduceResponse(name=topic.name, topic_id=topic.topic_id, partition_responses=[])
        responses.append(response)
        for data in topic.partition_data:
            if is_full:
                yield NEXT_TURN
            response.partition_responses.append(_append(topic, data, request, late, context))
            is_full = slices.full(4 + len(cast(memoryview, data.records or b"")) // ITEM_BYTES)
    answer = _answer(topics, responses, late, request, context)
    return (yield from answer) if isinstance(answer, Generator) else answer


def _answer(
    topics: list[TopicProduceData],
    responses: list[TopicProduceResponse],
    late: list[Unreplicated],
    request: ProduceRequest,
    context: Context,
) -> ProduceResponse | Generator[Wait, None, ProduceResponse | None] | None:
    """Returns the response, or a generator that waits for replicas or for the end of the previous transaction."""
    refused = _refused_partitions(responses)
    if refused and request.transactional_id is not None and _waits_for_previous_transaction(refused, context):
        return _retry(topics, responses, late, request, context)
    if late:
        return _replicate(responses, late, request, context)
    if not refused and context.cluster.shortcut_allowed and context.version >= BATCHES_SINCE:
        learn(request, context)
    return _response(request, responses, refused, context)


def _append(
    topic: TopicProduceData, data: PartitionProduceData, request: ProduceRequest, late: list[Unreplicated], context: Context
) -> PartitionProduceResponse:
    """Appends the batch of one partition. It is added to `late` if the response has to wait for its replicas."""
    try:
        partition, appended = append_to_topic(topic, data, request, context)
    except APPEND_REFUSALS as error:
        refusal = partition_error_of(error)
        if context.cluster.release is not None:
            refusal = refusal._replace(code=context.cluster.release.error_code(refusal.code))
        return _refusal(topic, data.index, refusal, context)
    response = PartitionProduceResponse(
        index=partition.index,
        base_offset=appended.base_offset,
        log_append_time_ms=appended.timestamp,
        log_start_offset=partition.log.start_offset,
    )
    if request.acks == ALL_REPLICAS and partition.held_offset is not None and appended is not NOTHING_APPENDED:
        header = read_header(cast(memoryview, data.records))
        late.append(Unreplicated(partition, appended.base_offset + header.last_offset_delta + 1, response))
    return response


def _replicate(
    responses: list[TopicProduceResponse], late: list[Unreplicated], request: ProduceRequest, context: Context
) -> Generator[Wait, None, ProduceResponse | None]:
    yield from wait_for_replicas(late, request.timeout_ms, context)
    return _response(request, responses, _refused_partitions(responses), context)


def _refusal(topic_data: TopicProduceData, index: int, refusal: PartitionError, context: Context) -> PartitionProduceResponse:
    cluster = context.cluster
    topic = cluster.topics.get(topic_data.name) or cluster.topics_by_id.get(topic_data.topic_id)
    partition = topic.partition(index) if topic else None
    return PartitionProduceResponse(
        index=index,
        error_code=refusal.code,
        error_message=refusal.message,
        base_offset=-1,
        log_start_offset=partition.log.start_offset if partition and refusal.has_log_start else -1,
        record_errors=[
            BatchIndexAndErrorMessage(batch_index=number, batch_index_error_message=text) for number, text in refusal.record_errors
        ],
        current_leader=current_leader(partition) if refusal.code == ErrorCode.NOT_LEADER_OR_FOLLOWER else None,
    )


def _refused_partitions(responses: list[TopicProduceResponse]) -> list[PartitionProduceResponse]:
    return [partition for topic in responses for partition in topic.partition_responses if partition.error_code]


def _response(
    request: ProduceRequest, responses: list[TopicProduceResponse], refused: list[PartitionProduceResponse], context: Context
) -> ProduceResponse | None:
    if request.acks == 0:
        if refused:
            raise CloseConnection(_reason_of_failure(responses, context))
        return None
    leaders = [partition.current_leader.leader_id for partition in refused if partition.current_leader]
    return ProduceResponse(responses=responses, node_endpoints=node_endpoints(context, leaders) if leaders else [])


def _reason_of_failure(responses: list[TopicProduceResponse], context: Context) -> str:
    """Returns why a request with acks=0 failed, for the log, because the client learns it only from the end of the connection."""
    topic, code = next(
        (topic, partition.error_code) for topic in responses for partition in topic.partition_responses if partition.error_code
    )
    reason = f"Produce with acks=0 failed with {ErrorCode(code).name}"
    found = context.cluster.topics.get(topic.name) or context.cluster.topics_by_id.get(topic.topic_id)
    if code != ErrorCode.MESSAGE_TOO_LARGE or found is None:
        return reason
    setting = f"{MAX_BYTES} of {found.name}" if MAX_BYTES in found.config.overrides else "message.max.bytes"
    return f"{reason}: {setting} is {found.config.integers[MAX_BYTES]}"


# Transactions v2: the previous transaction may not be complete yet


def _waits_for_previous_transaction(refused: list[PartitionProduceResponse], context: Context) -> bool:
    return context.version >= ADDS_PARTITIONS and any(partition.error_code == ErrorCode.CONCURRENT_TRANSACTIONS for partition in refused)


def _retry(
    topics: list[TopicProduceData],
    responses: list[TopicProduceResponse],
    late: list[Unreplicated],
    request: ProduceRequest,
    context: Context,
) -> Generator[Wait, None, ProduceResponse | None]:
    """Appends the batches that got CONCURRENT_TRANSACTIONS again, for at most add.partitions.to.txn.retry.backoff.max.ms."""
    integers, began_ms = context.broker.config.integers, context.now_ms
    early = [
        (topic, data, answers, number)
        for topic, answers in zip(topics, (response.partition_responses for response in responses), strict=True)
        for number, data in enumerate(topic.partition_data)
        if answers[number].error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    ]
    for _, data, _, _ in early:
        # The receive buffer is used for other requests while this one waits.
        data.records = memoryview(bytearray(cast(memoryview, data.records)))
    refused = _refused_partitions(responses)
    while (
        _waits_for_previous_transaction(refused, context)
        and context.now_ms - began_ms < integers["add.partitions.to.txn.retry.backoff.max.ms"]
    ):
        until_ms = context.now_ms + integers["add.partitions.to.txn.retry.backoff.ms"]
        yield Wait((), until_ms, what=f"the end of the previous transaction of {request.transactional_id}")
        for topic, data, answers, number in early:
            answers[number] = _append(topic, data, request, late, context)
        refused = _refused_partitions(responses)
    return (yield from _replicate(responses, late, request, context))


# Requests other than one plain batch


def _is_one_plain_batch(records: object) -> bool:
    """Returns whether the records are exactly one batch of format 2 that is not transactional."""
    if not isinstance(records, memoryview) or len(records) < HEADER.size:
        return False
    length, magic, attributes = _unpack_start(records)
    return length == len(records) - PREFIX_SIZE and magic == 2 and not attributes & TRANSACTIONAL_BIT


def _refuse_whole_request(request: ProduceRequest, context: Context) -> None:
    """Raises KafkaError, or CloseConnection for acks=0, if Kafka refuses the request before it processes single partitions.

    Kafka does so if the bytes of a partition contain no batch, or if a transactional batch comes without a transactional id for which
    the client has the WRITE permission.
    """
    for topic in request.topic_data:
        for data in topic.partition_data:
            if refusal := _request_error(data.records, request.transactional_id, context):
                if request.acks == 0:
                    raise CloseConnection(f"Produce with acks=0 failed with {refusal.code.name}")
                raise refusal


def _request_error(batch: object, transactional_id: str | None, context: Context) -> KafkaError | None:
    try:
        if not isinstance(batch, memoryview) or not first_batch_size(batch) or not _is_transactional(batch):
            return None
    except BatchError as error:
        return KafkaError(error.error_code, str(error) if isinstance(error, CorruptBatch) else None)
    if transactional_id is not None and context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, transactional_id):
        return None
    return KafkaError(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)


def _is_transactional(batch: memoryview) -> bool:
    return batch[MAGIC_POSITION] == 2 and bool(batch[ATTRIBUTES_POSITION] & TRANSACTIONAL_BIT)


def _distinct_partitions(topics: list[TopicProduceData]) -> list[TopicProduceData]:
    """Returns the topics that have partitions. If a partition is listed twice, the last entry counts, as in Kafka's map."""
    found: dict[tuple[str, bytes], dict[int, PartitionProduceData]] = {}
    for topic in topics:
        for data in topic.partition_data:
            found.setdefault((topic.name, topic.topic_id), {})[data.index] = data
    return [
        TopicProduceData(name=name, topic_id=topic_id, partition_data=list(partitions.values()))
        for (name, topic_id), partitions in found.items()
    ]


def _check_one_producer(request: ProduceRequest) -> None:
    """Raises KafkaError with INVALID_PRODUCER_ID_MAPPING if the request contains transactional batches of several producers."""
    views = [data.records for topic in request.topic_data for data in topic.partition_data]
    headers = [read_header(view) for view in views if isinstance(view, memoryview) and len(view) >= HEADER.size]
    if len({(header.producer_id, header.producer_epoch) for header in headers if header.is_transactional}) > 1:
        raise KafkaError(ErrorCode.INVALID_PRODUCER_ID_MAPPING, "Transactional records contained more than one producer ID")
