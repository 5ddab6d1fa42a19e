"""TxnOffsetCommit: offsets of a group that count when the transaction is committed (KIP-98, KIP-447).

v3 names the consumer's generation and member, which are checked only then. Up to v3 a missing transaction is INVALID_TXN_STATE, in v4
TRANSACTION_ABORTABLE; from v5 on the group is added to the transaction here (KIP-890).
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import TypeAlias

from ...protocol.errors import ErrorCode
from ...protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ..context import Context
from ..groups.offsets import CommittedOffset
from ..topics import CONSUMER_OFFSETS, Partition
from ..transactions.transaction import Producer, TopicPartition
from .registry import handles
from .verification import NotInTransaction, join_transaction

KNOWS_ABORTABLE, ADDS_PARTITIONS = 4, 5


Named: TypeAlias = list[tuple[str, TxnOffsetCommitRequestPartition]]
Results: TypeAlias = list[tuple[str, int, ErrorCode]]


@handles(TXN_OFFSET_COMMIT)
def txn_offset_commit(request: TxnOffsetCommitRequest, context: Context) -> TxnOffsetCommitResponse:
    """Unknown partitions are refused each for itself; what is wrong with the transaction or the member refuses all others."""
    named = [(topic.name, partition) for topic in request.topics for partition in topic.partitions]
    known = [each for each in named if _find(*each, context)]
    unknown = [each for each in named if not _find(*each, context)]
    refused = [(name, each.partition_index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION) for name, each in unknown]
    results = refused + (_commit(request, known, context) if known else [])
    if unknown:
        return TxnOffsetCommitResponse(topics=_merged(results))
    left = iter(results)
    return TxnOffsetCommitResponse(topics=[topic for each in request.topics for topic in _merged(islice(left, len(each.partitions)))])


def _merged(results: Iterable[tuple[str, int, ErrorCode]]) -> list[TxnOffsetCommitResponseTopic]:
    """What is answered for a topic that is named twice, at once."""
    topics: dict[str, list[TxnOffsetCommitResponsePartition]] = {}
    for name, index, error in results:
        topics.setdefault(name, []).append(TxnOffsetCommitResponsePartition(partition_index=index, error_code=error))
    return [TxnOffsetCommitResponseTopic(name=name, partitions=partitions) for name, partitions in topics.items()]


def _find(name: str, partition: TxnOffsetCommitRequestPartition, context: Context) -> Partition | None:
    return context.broker.cluster.find_partition(name, partition.partition_index)


def _check(request: TxnOffsetCommitRequest, known: Named, context: Context) -> ErrorCode:
    """What is wrong with the group, the transaction or the member, in this order."""
    broker = context.broker
    if not request.group_id:
        return ErrorCode.INVALID_GROUP_ID
    partition = broker.cluster.coordinator(request.group_id, CONSUMER_OFFSETS)
    if partition is None or partition.leader != broker.node_id:
        return ErrorCode.NOT_COORDINATOR
    try:
        join_transaction(
            broker,
            request.transactional_id,
            Producer(request.producer_id, request.producer_epoch),
            TopicPartition(CONSUMER_OFFSETS, partition.index),
            adds=context.version >= ADDS_PARTITIONS,
            knows_abortable=context.version >= KNOWS_ABORTABLE,
        )
    except NotInTransaction as error:
        return error.code
    slots = [(broker.cluster.topics[name].id, each.partition_index) for name, each in known]
    return broker.groups.check_transactional_commit(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id, slots
    )


def _commit(request: TxnOffsetCommitRequest, known: Named, context: Context) -> Results:
    """An error for each partition, most often the same for all."""
    groups = context.broker.groups
    error = _check(request, known, context)
    if error:
        return [(name, each.partition_index, error) for name, each in known]
    accepted: dict[tuple[str, int], CommittedOffset] = {}
    errors = []
    for name, each in known:
        metadata = each.committed_metadata or ""
        error = groups.check_metadata(metadata)
        if not error:
            committed = CommittedOffset(each.committed_offset, each.committed_leader_epoch, metadata, context.now_ms)
            accepted[name, each.partition_index] = committed
        errors.append((name, each.partition_index, error))
    if accepted:
        groups.commit_in_transaction(request.group_id, Producer(request.producer_id, request.producer_epoch), accepted)
    return errors
