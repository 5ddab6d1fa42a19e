"""The APIs that producers use for transactions: InitProducerId, AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit and EndTxn (KIP-98).

Versions of these APIs differ in these ways:

    InitProducerId      v3 may contain the current producer id and epoch, to continue after an error (KIP-360)
    AddPartitionsToTxn  v4 is for brokers: a request has several transactions, and `verify_only` checks partitions without adding them
    TxnOffsetCommit     v3 contains the consumer's generation and member id, which are then checked (KIP-447); v4 returns
                        TRANSACTION_ABORTABLE instead of INVALID_TXN_STATE; v5 adds the group to the transaction (KIP-890)
    EndTxn              v5 raises the producer's epoch and returns it (KIP-890)

Clients of older versions do not support PRODUCER_FENCED and get INVALID_PRODUCER_EPOCH instead. The APIs that describe and repair
transactions are in `transaction_admin.py`.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from ...protocol.errors import ErrorCode
from ...protocol.messages.add_offsets_to_txn import ADD_OFFSETS_TO_TXN, AddOffsetsToTxnRequest, AddOffsetsToTxnResponse
from ...protocol.messages.add_partitions_to_txn import (
    ADD_PARTITIONS_TO_TXN,
    AddPartitionsToTxnPartitionResult,
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    AddPartitionsToTxnResult,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTopicResult,
    AddPartitionsToTxnTransaction,
)
from ...protocol.messages.end_txn import END_TXN, EndTxnRequest, EndTxnResponse
from ...protocol.messages.init_producer_id import INIT_PRODUCER_ID, InitProducerIdRequest, InitProducerIdResponse
from ...protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ...storage.producers import StaleProducerEpoch
from ..api.context import Context, Found, commit_in_turns, find_partitions
from ..api.registry import handles
from ..appending.transaction_check import NotInTransaction, join_transaction
from ..groups.offsets import CommittedOffset
from ..scheduling.slices import Slices, in_slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Background, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS, INTERNAL_TOPICS, TRANSACTION_STATE
from ..transactions.coordinator import NO_PRODUCER, ProducerResult
from ..transactions.transaction import TV_0, TV_2, Producer, TopicPartition

INIT_PRODUCER_ID_FENCED = 4
"""First version of InitProducerId that returns PRODUCER_FENCED."""
FENCED = 2
"""First version of AddPartitionsToTxn, AddOffsetsToTxn and EndTxn that returns PRODUCER_FENCED."""
BATCHED = 4
"""First version of AddPartitionsToTxn with several transactions."""
RAISES_EPOCH = 5
"""First version of EndTxn that raises the producer's epoch (transactions v2)."""
ABORTABLE, ADDS_PARTITIONS = 4, 5
"""First versions of TxnOffsetCommit that return TRANSACTION_ABORTABLE, and that add the group to the transaction."""


Located: TypeAlias = Sequence[Found[TxnOffsetCommitRequestPartition]]


def check_coordinator(transactional_id: str, context: Context) -> ErrorCode:
    """Returns NONE if this broker coordinates the transactional id, and otherwise INVALID_REQUEST (for an empty id) or NOT_COORDINATOR."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE if context.is_coordinator(transactional_id, TRANSACTION_STATE) else ErrorCode.NOT_COORDINATOR


@handles(INIT_PRODUCER_ID)
def init_producer_id(request: InitProducerIdRequest, context: Context) -> InitProducerIdResponse:
    """Returns the producer id and epoch of a transactional id. An idempotent producer without one gets a new id in each request."""
    if (request.producer_id == -1) != (request.producer_epoch == -1) or request.transactional_id == "":
        result = ProducerResult(ErrorCode.INVALID_REQUEST)
    elif request.transactional_id and not context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
        result = ProducerResult(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif not request.transactional_id and not (
        context.may(Operation.IDEMPOTENT_WRITE, ResourceType.CLUSTER) or context.may_somewhere(Operation.WRITE, ResourceType.TOPIC)
    ):
        result = ProducerResult(ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    elif request.transactional_id is None:
        result = ProducerResult(ErrorCode.NONE, Producer(context.cluster.producer_ids.generate(), 0))
    else:
        result = _init(request.transactional_id, request, context)
    error = result.error
    if error is ErrorCode.PRODUCER_FENCED and context.version < INIT_PRODUCER_ID_FENCED:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    return InitProducerIdResponse(error_code=error, producer_id=result.producer.id, producer_epoch=result.producer.epoch)


def _init(transactional_id: str, request: InitProducerIdRequest, context: Context) -> ProducerResult:
    transactions = context.cluster.transactions
    if not transactions.allows_timeout(request.transaction_timeout_ms):
        return ProducerResult(ErrorCode.INVALID_TRANSACTION_TIMEOUT)
    if not context.is_coordinator(transactional_id, TRANSACTION_STATE):
        return ProducerResult(ErrorCode.NOT_COORDINATOR)
    expected = Producer(request.producer_id, request.producer_epoch)
    return transactions.init_producer_id(transactional_id, request.transaction_timeout_ms, None if expected == NO_PRODUCER else expected)


@handles(ADD_PARTITIONS_TO_TXN)
def add_partitions_to_txn(request: AddPartitionsToTxnRequest, context: Context) -> Generator[Wait, None, AddPartitionsToTxnResponse]:
    """Adds partitions to one transaction (up to v3) or to several (from v4 on)."""
    if context.version < BATCHED:
        context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.v3_and_below_transactional_id)
        producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = request.v3_and_below_topics
        errors = _add(request.v3_and_below_transactional_id, producer, _partitions(topics), False, context)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=(yield from _results(topics, errors, Slices())))
    if not context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    slices = Slices()
    yield from _add_by_transaction(request.transactions, slices, context)
    results = []
    for each in request.transactions:
        results.append((yield from _result(each, slices, context)))
        if slices.full(6):
            yield NEXT_TURN
    return AddPartitionsToTxnResponse(results_by_transaction=results)


def _result(each: AddPartitionsToTxnTransaction, slices: Slices, context: Context) -> Generator[Wait, None, AddPartitionsToTxnResult]:
    producer = Producer(each.producer_id, each.producer_epoch)
    errors = _add(each.transactional_id, producer, _partitions(each.topics), each.verify_only, context)
    results = yield from _results(each.topics, errors, slices)
    return AddPartitionsToTxnResult(transactional_id=each.transactional_id, topic_results=results)


def _partitions(topics: Sequence[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, index) for topic in topics for index in topic.partitions]


def _results(
    topics: Sequence[AddPartitionsToTxnTopic], errors: Mapping[TopicPartition, ErrorCode], slices: Slices
) -> Generator[Wait, None, list[AddPartitionsToTxnTopicResult]]:
    """Returns the results in the order of the request, without repeating topics and partitions that it contains twice."""
    indexes: dict[str, dict[int, None]] = {}
    for topic in topics:
        indexes.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions))
    results = []
    for name, named in indexes.items():
        partitions = yield from in_slices(partial(_partition_result, name, errors), named, slices)
        results.append(AddPartitionsToTxnTopicResult(name=name, results_by_partition=partitions))
        if slices.full():
            yield NEXT_TURN
    return results


def _partition_result(name: str, errors: Mapping[TopicPartition, ErrorCode], index: int) -> AddPartitionsToTxnPartitionResult:
    return AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=errors[TopicPartition(name, index)])


def _add_by_transaction(transactions: Sequence[AddPartitionsToTxnTransaction], slices: Slices, context: Context) -> Background:
    """Adds the partitions of all entries of a transaction at once.

    Each addition writes a record with all partitions of the transaction, so adding them one entry at a time would take quadratic time.
    """
    by_transaction: dict[tuple[str, Producer], list[TopicPartition]] = {}
    for each in transactions:
        partitions = _partitions(each.topics)
        if not (each.verify_only or any(_partition_error(partition, context) for partition in partitions)):
            key = each.transactional_id, Producer(each.producer_id, each.producer_epoch)
            by_transaction.setdefault(key, []).extend(partitions)
        if slices.full(2 + weight_of(each.transactional_id)):
            yield NEXT_TURN
    for (transactional_id, producer), partitions in by_transaction.items():
        _add(transactional_id, producer, partitions, False, context)
        if slices.full(6 + weight_of(transactional_id)):
            yield NEXT_TURN


def _add(
    transactional_id: str, producer: Producer, partitions: list[TopicPartition], verify_only: bool, context: Context
) -> dict[TopicPartition, ErrorCode]:
    """Adds all partitions or none. If one cannot be added, the others get OPERATION_NOT_ATTEMPTED."""
    refused = {each: error for each in partitions if (error := _partition_error(each, context))}
    if refused:
        return refused | {each: ErrorCode.OPERATION_NOT_ATTEMPTED for each in partitions if each not in refused}
    if error := check_coordinator(transactional_id, context):
        return dict.fromkeys(partitions, error)
    transactions = context.cluster.transactions
    if verify_only:
        return transactions.verify(transactional_id, producer, partitions)
    client_version = TV_2 if context.version >= BATCHED else TV_0
    error = transactions.add_partitions(transactional_id, producer, partitions, client_version)
    return dict.fromkeys(partitions, _for_version(error, context))


def _partition_error(partition: TopicPartition, context: Context) -> ErrorCode:
    """Returns the error of a partition that cannot be added, or NONE. Only brokers, which use v4 or later, may add internal topics."""
    name = partition.topic
    if context.version < BATCHED and (name in INTERNAL_TOPICS or not context.may(Operation.WRITE, ResourceType.TOPIC, name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    found = context.cluster.topics.find_partition(name, partition.partition)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if found is None else ErrorCode.NONE


def _for_version(error: ErrorCode, context: Context) -> ErrorCode:
    fenced = error is ErrorCode.PRODUCER_FENCED and context.version < FENCED
    return ErrorCode.INVALID_PRODUCER_EPOCH if fenced else error


@handles(ADD_OFFSETS_TO_TXN)
def add_offsets_to_txn(request: AddOffsetsToTxnRequest, context: Context) -> AddOffsetsToTxnResponse:
    """Adds the group's partition of __consumer_offsets to the transaction."""
    cluster = context.cluster
    context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    error = check_coordinator(request.transactional_id, context)
    if not error:
        cluster.topics.ensure_internal(CONSUMER_OFFSETS)
        partition = cluster.coordinator_log.partition(request.group_id, CONSUMER_OFFSETS)
        added = [TopicPartition(CONSUMER_OFFSETS, partition.index)] if partition else []
        producer = Producer(request.producer_id, request.producer_epoch)
        error = cluster.transactions.add_partitions(request.transactional_id, producer, added)
    return AddOffsetsToTxnResponse(error_code=_for_version(error, context))


@handles(TXN_OFFSET_COMMIT)
def txn_offset_commit(request: TxnOffsetCommitRequest, context: Context) -> Generator[Wait, None, TxnOffsetCommitResponse]:
    """Stores offsets that become visible when the transaction is committed.

    Each unknown partition gets its own error. An error of the group, transaction or member applies to all other partitions.
    """
    context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    named, slices = [((topic.name, ZERO_UUID), topic.partitions) for topic in request.topics], Slices()
    found, refused = yield from find_partitions(named, context, slices)
    errors = iter((yield from commit_in_turns(found, lambda some: _commit(request, some, context))))
    if refused:
        # In this case Kafka merges topics that the request contains twice.
        for (key, _, wanted), error in zip(found, errors, strict=True):
            refused.setdefault(key, []).append((wanted.partition_index, error))
        topics = [(name, partitions) for (name, _), partitions in refused.items()]
    else:
        topics = [(topic.name, [(each.partition_index, next(errors)) for each in topic.partitions]) for topic in request.topics]
    answered = [(name, partitions) for name, partitions in topics if partitions]
    return TxnOffsetCommitResponse(topics=(yield from in_slices(lambda each: _topic_response(*each), answered, slices, 2)))


def _topic_response(name: str, partitions: list[tuple[int, ErrorCode]]) -> TxnOffsetCommitResponseTopic:
    results = [TxnOffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in partitions]
    return TxnOffsetCommitResponseTopic(name=name, partitions=results)


def _check_commit(request: TxnOffsetCommitRequest, located: Located, context: Context) -> ErrorCode:
    """Returns the error of the group, the transaction or the member, which are checked in this order, or NONE."""
    cluster = context.cluster
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    partition = cluster.coordinator_log.partition(request.group_id, CONSUMER_OFFSETS)
    if partition is None or partition.leader != context.broker.node_id:
        return ErrorCode.NOT_COORDINATOR
    try:
        join_transaction(
            context,
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            TopicPartition(CONSUMER_OFFSETS, partition.index),
            adds=context.version >= ADDS_PARTITIONS,
            supports_abortable=context.version >= ABORTABLE,
        )
    except NotInTransaction as error:
        return error.code
    slots = [(topic.id, each.partition_index) for _, topic, each in located]
    return cluster.groups.offsets.check_transactional_commit(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id, slots
    )


def _commit(request: TxnOffsetCommitRequest, located: Located, context: Context) -> list[ErrorCode]:
    """Stores the offsets that pass all checks, and returns one error code per partition."""
    groups = context.cluster.groups
    if error := _check_commit(request, located, context):
        return [error] * len(located)
    accepted: dict[tuple[str, int], CommittedOffset] = {}
    errors = []
    for _, topic, each in located:
        metadata = each.committed_metadata or ""
        error = groups.offsets.check_metadata(metadata)
        if not error:
            committed = CommittedOffset(each.committed_offset, each.committed_leader_epoch, metadata, context.now_ms)
            accepted[topic.name, each.partition_index] = committed
        errors.append(error)
    try:
        if accepted:
            groups.offsets.commit_in_transaction(request.group_id, Producer(request.producer_id, request.producer_epoch), accepted)
    except StaleProducerEpoch:  # a marker that a client has sent itself may have a newer epoch than the transactional id
        return [ErrorCode.INVALID_PRODUCER_EPOCH] * len(located)
    return errors


@handles(END_TXN)
def end_txn(request: EndTxnRequest, context: Context) -> EndTxnResponse:
    """Commits or aborts a transaction. The response does not wait for markers of partitions without a leader."""
    if not context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
        result = ProducerResult(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif error := check_coordinator(request.transactional_id, context):
        result = ProducerResult(error)
    else:
        producer = Producer(request.producer_id, request.producer_epoch)
        result = context.cluster.transactions.end(
            request.transactional_id, producer, commit=request.committed, raise_epoch=context.version >= RAISES_EPOCH
        )
    return EndTxnResponse(
        error_code=_for_version(result.error, context), producer_id=result.producer.id, producer_epoch=result.producer.epoch
    )
