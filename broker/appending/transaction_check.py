"""Verifies with the transaction coordinator that a write belongs to an open transaction (KIP-890; Kafka's AddPartitionsToTxnManager).

With transactions v1 a client adds each partition with AddPartitionsToTxn, and the write is verified here. With transactions v2 the
client sends the write only, and the partition is added here.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ..api.context import Context
from ..topics.names import TRANSACTION_STATE
from ..transactions.transaction import TV_2, Producer, TopicPartition


class NotInTransaction(KafkaError):
    """Raised for a write that belongs to no open transaction; its code is one that the client's version supports."""


def join_transaction(
    context: Context, transactional_id: str, producer: Producer, partition: TopicPartition, *, adds: bool, supports_abortable: bool
) -> None:
    """Adds the partition to the transaction if `adds` (transactions v2); otherwise checks that the client has added it.

    Raises NotInTransaction, with COORDINATOR_NOT_AVAILABLE while the coordinator's partition has no leader. TRANSACTION_ABORTABLE is
    replaced by INVALID_TXN_STATE unless `supports_abortable`, because older clients do not support it.
    """
    error = _verify(context, transactional_id, producer, partition, adds)
    if error is ErrorCode.PRODUCER_FENCED:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    elif error is ErrorCode.TRANSACTION_ABORTABLE and not supports_abortable:
        error = ErrorCode.INVALID_TXN_STATE
    if error:
        raise NotInTransaction(error)


def _verify(context: Context, transactional_id: str, producer: Producer, partition: TopicPartition, adds: bool) -> ErrorCode:
    cluster = context.cluster
    if cluster.transactions.is_former(transactional_id):
        # A restored state may lack the topic, and the producer does not look for its coordinator again.
        cluster.topics.ensure_internal(TRANSACTION_STATE)
    if cluster.transaction_log.coordinator_epoch(transactional_id) is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if adds:
        return cluster.transactions.add_partitions(transactional_id, producer, [partition], TV_2)
    if not context.broker.config.booleans["transaction.partition.verification.enable"]:
        return ErrorCode.NONE
    return cluster.transactions.verify(transactional_id, producer, [partition])[partition]
