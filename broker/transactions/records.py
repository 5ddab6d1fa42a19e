"""Encoding of transactional ids as records of `__transaction_state`, as in Kafka's TransactionLog."""

from __future__ import annotations

from ...protocol.stored.coordinator_records import (
    CoordinatorRecord,
    TransactionLogKey,
    TransactionLogValue,
    TransactionPartitions,
    write_key,
    write_value,
)
from .transaction import Transaction, TransactionState

_KIND = 0
_STATUS = {
    TransactionState.EMPTY: 0,
    TransactionState.ONGOING: 1,
    TransactionState.PREPARE_COMMIT: 2,
    TransactionState.PREPARE_ABORT: 3,
    TransactionState.COMPLETE_COMMIT: 4,
    TransactionState.COMPLETE_ABORT: 5,
}


def transaction_record(transaction: Transaction, now_ms: int, transaction_version: int) -> CoordinatorRecord:
    """Returns a record of the current state. `transaction_version` is the finalized level of the feature transaction.version."""
    topics: dict[str, list[int]] = {}
    for topic, partition in transaction.partitions:
        topics.setdefault(topic, []).append(partition)
    partitions = [TransactionPartitions(topic=topic, partition_ids=indexes) for topic, indexes in topics.items()]
    value = TransactionLogValue(
        producer_id=transaction.producer.id,
        previous_producer_id=transaction.previous_producer_id,
        next_producer_id=transaction.next_producer_id,
        producer_epoch=transaction.producer.epoch,
        transaction_timeout_ms=transaction.timeout_ms,
        transaction_status=_STATUS[transaction.state],
        transaction_partitions=None if transaction.state is TransactionState.EMPTY else partitions,
        transaction_last_update_timestamp_ms=now_ms,
        transaction_start_timestamp_ms=transaction.start_ms,
        client_transaction_version=transaction.client_version,
    )
    return CoordinatorRecord(_key(transaction), write_value(min(transaction_version, 1), value))


def tombstone(transaction: Transaction) -> CoordinatorRecord:
    """Returns a record that removes a transactional id."""
    return CoordinatorRecord(_key(transaction), None)


def _key(transaction: Transaction) -> bytes:
    return write_key(_KIND, TransactionLogKey(transactional_id=transaction.transactional_id))
