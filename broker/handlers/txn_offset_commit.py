"""TxnOffsetCommit: offsets of a group that count when the transaction is committed (KIP-98, KIP-447).

v3 names the consumer's generation and member, which are checked only then. Up to v3 a missing transaction is INVALID_TXN_STATE, in v4
TRANSACTION_ABORTABLE; from v5 on the group is added to the transaction here (KIP-890).
"""

from __future__ import annotations

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
from ...protocol.schema import ZERO_UUID
from ..appending.transaction_check import NotInTransaction, join_transaction
from ..context import Context
from ..groups.offsets import CommittedOffset
from ..registry import handles
from ..security.acls import Operation, ResourceType
from ..sorting import Found, sort_partitions
from ..topics.topic import CONSUMER_OFFSETS
from ..transactions.transaction import Producer, TopicPartition

KNOWS_ABORTABLE, ADDS_PARTITIONS = 4, 5

Named: TypeAlias = list[Found[TxnOffsetCommitRequestPartition]]


@handles(TXN_OFFSET_COMMIT)
def txn_offset_commit(request: TxnOffsetCommitRequest, context: Context) -> TxnOffsetCommitResponse:
    """Unknown partitions are refused each for itself; what is wrong with the transaction or the member refuses all others."""
    context.demand(Operation.WRITE, ResourceType.TRANSACTIONAL_ID, request.transactional_id)
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    found, refused = sort_partitions([((topic.name, ZERO_UUID), topic.partitions) for topic in request.topics], context)
    errors = iter(_commit(request, found, context) if found else [])
    if refused:  # then Kafka answers a topic that is named twice at once
        for (key, _, wanted), error in zip(found, errors, strict=True):
            refused.setdefault(key, []).append((wanted.partition_index, error))
        answers = [(name, partitions) for (name, _), partitions in refused.items()]
    else:
        answers = [(topic.name, [(each.partition_index, next(errors)) for each in topic.partitions]) for topic in request.topics]
    return TxnOffsetCommitResponse(topics=[_answer(name, partitions) for name, partitions in answers if partitions])


def _answer(name: str, partitions: list[tuple[int, ErrorCode]]) -> TxnOffsetCommitResponseTopic:
    answers = [TxnOffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in partitions]
    return TxnOffsetCommitResponseTopic(name=name, partitions=answers)


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
    slots = [(topic.id, each.partition_index) for _, topic, each in known]
    return broker.groups.offsets.check_transactional_commit(
        request.group_id, request.member_id, request.group_instance_id, request.generation_id, slots
    )


def _commit(request: TxnOffsetCommitRequest, known: Named, context: Context) -> list[ErrorCode]:
    """An error for each partition, most often the same for all."""
    groups = context.broker.groups
    if error := _check(request, known, context):
        return [error] * len(known)
    accepted: dict[tuple[str, int], CommittedOffset] = {}
    errors = []
    for _, topic, each in known:
        metadata = each.committed_metadata or ""
        error = groups.offsets.check_metadata(metadata)
        if not error:
            committed = CommittedOffset(each.committed_offset, each.committed_leader_epoch, metadata, context.now_ms)
            accepted[topic.name, each.partition_index] = committed
        errors.append(error)
    if accepted:
        groups.offsets.commit_in_transaction(request.group_id, Producer(request.producer_id, request.producer_epoch), accepted)
    return errors
