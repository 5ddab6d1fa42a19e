"""Encoding of transactional ids as records of `__transaction_state`, as in Kafka's TransactionLog."""

from __future__ import annotations

from ...protocol.schema import ProtocolError
from ...protocol.stored.coordinator_records import (
    CoordinatorRecord,
    TransactionLogKey,
    TransactionLogValue,
    TransactionPartitions,
    write_key,
    write_value,
)
from .transaction import Producer, TopicPartition, Transaction, TransactionState

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


def read_transaction(record: CoordinatorRecord) -> tuple[str, Transaction | None]:
    """Returns the transactional id of a record, and its state, None after a tombstone. Raises ProtocolError for other bytes."""
    transactional_id = TransactionLogKey.decode(0, record.key[2:]).transactional_id
    if record.value is None:
        return transactional_id, None
    value = TransactionLogValue.decode(min(int.from_bytes(record.value[:2], "big"), 1), record.value[2:])
    transaction = Transaction(transactional_id, value.producer_id)
    transaction.producer = Producer(value.producer_id, value.producer_epoch)
    transaction.previous_producer_id, transaction.next_producer_id = value.previous_producer_id, value.next_producer_id
    transaction.timeout_ms, transaction.start_ms = value.transaction_timeout_ms, value.transaction_start_timestamp_ms
    transaction.client_version = value.client_transaction_version
    states = {number: state for state, number in _STATUS.items()}
    if value.transaction_status not in states:
        raise ProtocolError(f"the transactional id {transactional_id} has the unknown status {value.transaction_status}")
    transaction.state = states[value.transaction_status]
    topics = value.transaction_partitions or ()
    transaction.partitions = {TopicPartition(each.topic, index): None for each in topics for index in each.partition_ids}
    return transactional_id, transaction


def tombstone(transaction: Transaction) -> CoordinatorRecord:
    """Returns a record that removes a transactional id."""
    return CoordinatorRecord(_key(transaction), None)


def _key(transaction: Transaction) -> bytes:
    return write_key(_KIND, TransactionLogKey(transactional_id=transaction.transactional_id))
