"""The course of a transaction: AddPartitionsToTxn, AddOffsetsToTxn, EndTxn.

AddPartitionsToTxn from v4 on is for brokers: several transactions, `verify_only` asks without adding. Before v2 PRODUCER_FENCED is
said as INVALID_PRODUCER_EPOCH. EndTxn v5 raises the producer's epoch and tells it (KIP-890), before that the epoch stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

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
from ..context import Context
from ..registry import handles
from ..security.acls import Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS, INTERNAL_TOPICS, TRANSACTION_STATE
from ..transactions.coordinator import Answer
from ..transactions.transaction import TV_0, TV_2, Producer, TopicPartition

BATCHED = 4
KNOWS_FENCED = 2
RAISES_EPOCH = 5


def check_coordinator(transactional_id: str, context: Context) -> ErrorCode:
    """NONE if this broker answers for the transactional id."""
    if not transactional_id:
        return ErrorCode.INVALID_REQUEST
    return ErrorCode.NONE if context.broker.is_coordinator(transactional_id, TRANSACTION_STATE) else ErrorCode.NOT_COORDINATOR


@handles(ADD_PARTITIONS_TO_TXN)
def add_partitions_to_txn(request: AddPartitionsToTxnRequest, context: Context) -> AddPartitionsToTxnResponse:
    """One transaction up to v3, a list of them from v4 on."""
    if context.version < BATCHED:
        context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.v3_and_below_transactional_id)
        producer = Producer(request.v3_and_below_producer_id, request.v3_and_below_producer_epoch)
        topics = request.v3_and_below_topics
        errors = _add(request.v3_and_below_transactional_id, producer, _partitions(topics), False, context)
        return AddPartitionsToTxnResponse(results_by_topic_v3_and_below=_results(topics, errors))
    if not context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
        return AddPartitionsToTxnResponse(error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
    _add_together(request.transactions, context)
    return AddPartitionsToTxnResponse(
        results_by_transaction=[
            AddPartitionsToTxnResult(
                transactional_id=each.transactional_id,
                topic_results=_results(
                    each.topics,
                    _add(
                        each.transactional_id,
                        Producer(each.producer_id, each.producer_epoch),
                        _partitions(each.topics),
                        each.verify_only,
                        context,
                    ),
                ),
            )
            for each in request.transactions
        ]
    )


def _partitions(topics: Sequence[AddPartitionsToTxnTopic]) -> list[TopicPartition]:
    return [TopicPartition(topic.name, index) for topic in topics for index in topic.partitions]


def _results(topics: Sequence[AddPartitionsToTxnTopic], errors: Mapping[TopicPartition, ErrorCode]) -> list[AddPartitionsToTxnTopicResult]:
    """In the order of the request; what is named twice is answered once, a topic without partitions too."""
    indexes: dict[str, dict[int, None]] = {}
    for topic in topics:
        indexes.setdefault(topic.name, {}).update(dict.fromkeys(topic.partitions))
    return [
        AddPartitionsToTxnTopicResult(
            name=name,
            results_by_partition=[
                AddPartitionsToTxnPartitionResult(partition_index=index, partition_error_code=errors[TopicPartition(name, index)])
                for index in named
            ],
        )
        for name, named in indexes.items()
    ]


def _add_together(transactions: Sequence[AddPartitionsToTxnTransaction], context: Context) -> None:
    """Adds at once what several entries name for one transaction, because each addition writes all partitions of the transaction."""
    together: dict[tuple[str, Producer], list[TopicPartition]] = {}
    for each in transactions:
        partitions = _partitions(each.topics)
        if not (each.verify_only or any(_refusal(partition, context) for partition in partitions)):
            key = each.transactional_id, Producer(each.producer_id, each.producer_epoch)
            together.setdefault(key, []).extend(partitions)
    for (transactional_id, producer), partitions in together.items():
        _add(transactional_id, producer, partitions, False, context)


def _add(
    transactional_id: str, producer: Producer, partitions: list[TopicPartition], verify_only: bool, context: Context
) -> dict[TopicPartition, ErrorCode]:
    """Adds all or none: with one that is not there, the others are not attempted."""
    refused = {each: error for each in partitions if (error := _refusal(each, context))}
    if refused:
        return refused | {each: ErrorCode.OPERATION_NOT_ATTEMPTED for each in partitions if each not in refused}
    if error := check_coordinator(transactional_id, context):
        return dict.fromkeys(partitions, error)
    transactions = context.broker.transactions
    if verify_only:
        return transactions.verify(transactional_id, producer, partitions)
    client_version = TV_2 if context.version >= BATCHED else TV_0
    error = transactions.add_partitions(transactional_id, producer, partitions, client_version)
    return dict.fromkeys(partitions, _as_known(error, context))


def _refusal(partition: TopicPartition, context: Context) -> ErrorCode:
    """Only brokers, whose versions are the batched ones, may add partitions of internal topics."""
    name = partition.topic
    if context.version < BATCHED and (name in INTERNAL_TOPICS or not context.may(Operation.WRITE, ResourceType.TOPIC, name)):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    found = context.cluster.find_partition(name, partition.partition)
    return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if found is None else ErrorCode.NONE


def _as_known(error: ErrorCode, context: Context) -> ErrorCode:
    fenced = error is ErrorCode.PRODUCER_FENCED and context.version < KNOWS_FENCED
    return ErrorCode.INVALID_PRODUCER_EPOCH if fenced else error


@handles(ADD_OFFSETS_TO_TXN)
def add_offsets_to_txn(request: AddOffsetsToTxnRequest, context: Context) -> AddOffsetsToTxnResponse:
    """Adds the partition of __consumer_offsets that the group belongs to."""
    cluster = context.cluster
    context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    error = check_coordinator(request.transactional_id, context)
    if not error:
        cluster.ensure_internal(CONSUMER_OFFSETS)
        partition = cluster.coordinator(request.group_id, CONSUMER_OFFSETS)
        added = [TopicPartition(CONSUMER_OFFSETS, partition.index)] if partition else []
        producer = Producer(request.producer_id, request.producer_epoch)
        error = cluster.transactions.add_partitions(request.transactional_id, producer, added)
    return AddOffsetsToTxnResponse(error_code=_as_known(error, context))


@handles(END_TXN)
def end_txn(request: EndTxnRequest, context: Context) -> EndTxnResponse:
    """Answers when it is decided; with all leaders there, the markers are written by then."""
    if not context.may(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id):
        answer = Answer(ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    elif error := check_coordinator(request.transactional_id, context):
        answer = Answer(error)
    else:
        producer = Producer(request.producer_id, request.producer_epoch)
        answer = context.broker.transactions.end(
            request.transactional_id, producer, commit=request.committed, raise_epoch=context.version >= RAISES_EPOCH
        )
    return EndTxnResponse(error_code=_as_known(answer.error, context), producer_id=answer.producer.id, producer_epoch=answer.producer.epoch)
