"""TxnOffsetCommit: offsets of a group that count when the transaction is committed (KIP-98, KIP-447).

v3 names the consumer's generation and member, which are checked only then. Up to v3 a missing transaction is INVALID_TXN_STATE, in v4
TRANSACTION_ABORTABLE; from v5 on the group is added to the transaction here (KIP-890).
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.txn_offset_commit import (
    TXN_OFFSET_COMMIT,
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitResponse,
    TxnOffsetCommitResponsePartition,
    TxnOffsetCommitResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..acls import GROUP, READ, TRANSACTIONAL_ID, WRITE
from ..context import Context
from ..topics import CONSUMER_OFFSETS
from ..transactions.transaction import Producer, TopicPartition
from .registry import handles
from .sorting import sort_partitions
from .verification import join_transaction

KNOWS_ABORTABLE, ADDS_PARTITIONS = 4, 5


@handles(TXN_OFFSET_COMMIT)
def txn_offset_commit(request: TxnOffsetCommitRequest, context: Context) -> TxnOffsetCommitResponse:
    """Unknown partitions are refused each for itself; what is wrong with the transaction or the member refuses all others."""
    context.demand(WRITE, TRANSACTIONAL_ID, request.transactional_id)
    context.demand(READ, GROUP, request.group_id)
    found, answers = sort_partitions([((topic.name, ZERO_UUID), topic.partitions) for topic in request.topics], context)
    error = _check(request, context) if found else ErrorCode.NONE
    for key, topic, wanted in found:
        answers.setdefault(key, []).append((wanted.partition_index, error or _commit(request, topic.name, wanted, context)))
    return TxnOffsetCommitResponse(
        topics=[
            TxnOffsetCommitResponseTopic(
                name=name,
                partitions=[TxnOffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in partitions],
            )
            for (name, _), partitions in answers.items()
        ]
    )


def _check(request: TxnOffsetCommitRequest, context: Context) -> ErrorCode:
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
    except KafkaError as error:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE if error.code is ErrorCode.NOT_ENOUGH_REPLICAS else error.code
    return broker.groups.check_transactional_commit(request.group_id, request.member_id, request.group_instance_id, request.generation_id)


def _commit(request: TxnOffsetCommitRequest, topic: str, partition: TxnOffsetCommitRequestPartition, context: Context) -> ErrorCode:
    return context.broker.groups.commit_in_transaction(
        request.group_id,
        request.producer_id,
        topic,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
    )
