"""Whether a write belongs to a transaction that its coordinator knows (KIP-890; Kafka's `AddPartitionsToTxnManager`)."""

from __future__ import annotations

from ...protocol.errors import ErrorCode, KafkaError
from ..cluster.broker import Broker
from ..transactions.transaction import TV_2, Producer, TopicPartition


class NotInTransaction(KafkaError):
    """A write belongs to no transaction that may go on."""


def join_transaction(
    broker: Broker, transactional_id: str, producer: Producer, partition: TopicPartition, *, adds: bool, knows_abortable: bool
) -> None:
    """Adds the partition to the transaction if the client leaves that to us (transactions v2), else sees that it was added.

    Raises NotInTransaction as a client of that version is told. COORDINATOR_NOT_AVAILABLE: nobody can say now.
    """
    error = _ask(broker, transactional_id, producer, partition, adds)
    if error is ErrorCode.PRODUCER_FENCED:
        error = ErrorCode.INVALID_PRODUCER_EPOCH
    elif error is ErrorCode.TRANSACTION_ABORTABLE and not knows_abortable:
        error = ErrorCode.INVALID_TXN_STATE
    if error:
        raise NotInTransaction(error)


def _ask(broker: Broker, transactional_id: str, producer: Producer, partition: TopicPartition, adds: bool) -> ErrorCode:
    if broker.cluster.transaction_log.coordinator_epoch(transactional_id) is None:
        return ErrorCode.COORDINATOR_NOT_AVAILABLE
    if adds:
        return broker.transactions.add_partitions(transactional_id, producer, [partition], TV_2)
    if not broker.config.booleans["transaction.partition.verification.enable"]:
        return ErrorCode.NONE
    return broker.transactions.verify(transactional_id, producer, [partition])[partition]
