"""Checks of a request's producer against the state of its transactional id (Kafka's TransactionCoordinator).

A producer that is not the current one of its transactional id has been fenced by another producer, or its request is a retry.
"""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from .transaction import IDLE, MAX_EPOCH, NO_PRODUCER_EPOCH, PREPARED, Producer, Transaction, TransactionState


def may_continue(transaction: Transaction, expected: Producer) -> bool:
    """Returns whether InitProducerId may continue as `expected` (KIP-360). The epoch is compared later.

    The previous producer id is accepted too, because it may have been replaced after it had run out of epochs.
    """
    return (
        transaction.producer.epoch == NO_PRODUCER_EPOCH
        or expected.id == transaction.producer.id
        or (expected.id == transaction.previous_producer_id and expected.epoch >= MAX_EPOCH - 1)
    )


def check_producer(transaction: Transaction, producer: Producer) -> ErrorCode:
    """Returns NONE if `producer` is the current one, and otherwise INVALID_PRODUCER_ID_MAPPING or PRODUCER_FENCED."""
    if transaction.producer.id != producer.id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if transaction.producer.epoch == producer.epoch else ErrorCode.PRODUCER_FENCED


def check_end_v1(transaction: Transaction, producer: Producer, commit: bool) -> ErrorCode | None:
    """Checks EndTxn of a client up to transactions v1.

    Returns None if the transaction must be ended, NONE if it has already ended in the same way, and otherwise the error.
    """
    if error := check_producer(transaction, producer):
        return error
    if transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    match transaction.state, commit:
        case TransactionState.ONGOING, _:
            return None
        case (TransactionState.COMPLETE_COMMIT, True) | (TransactionState.COMPLETE_ABORT, False):
            return ErrorCode.NONE
        case _:
            return ErrorCode.INVALID_TXN_STATE


def check_end_v2(transaction: Transaction, producer: Producer, commit: bool) -> ErrorCode | None:
    """Checks EndTxn of a client of transactions v2. Returns the same as `check_end_v1`.

    In v2 the end of a transaction raises the epoch, so a request with the epoch before the current one is a retry.
    """
    if transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    now = transaction.producer
    overflowed = producer == (transaction.previous_producer_id, MAX_EPOCH - 1) and now.epoch == 0
    is_retry = overflowed or producer.epoch == now.epoch - 1
    if now.id != producer.id and not overflowed:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if not _is_valid_epoch(transaction, producer.epoch, is_retry=is_retry):
        return ErrorCode.PRODUCER_FENCED
    match transaction.state, commit:
        case TransactionState.ONGOING, _:
            return None
        case (TransactionState.COMPLETE_COMMIT, True) | (TransactionState.COMPLETE_ABORT, False) if is_retry:
            return ErrorCode.NONE
        case state, False if state in IDLE and not is_retry:
            # Aborting an empty transaction raises the epoch, so that requests still in flight are fenced (KIP-890).
            return None
        case _:
            return ErrorCode.INVALID_TXN_STATE


def _is_valid_epoch(transaction: Transaction, epoch: int, *, is_retry: bool) -> bool:
    if transaction.state in (TransactionState.EMPTY, TransactionState.ONGOING):
        return epoch == transaction.producer.epoch
    return is_retry or epoch == transaction.producer.epoch
