"""All transactional ids of a cluster: what Kafka's `TransactionCoordinator` answers, and when it acts by itself."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple, Protocol

from ...protocol.coordinator_records import CoordinatorRecord
from ...protocol.errors import ErrorCode
from ..scheduling.savepoint import taken_back_on_failure
from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig
from .records import tombstone, transaction_record
from .transaction import (
    IDLE,
    MAX_EPOCH,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    TV_0,
    TV_2,
    Producer,
    TopicPartition,
    Transaction,
    TransactionState,
)

NO_PRODUCER = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)

log = logging.getLogger("kafka.coordinator.transaction.TransactionCoordinator")


class Marker(NamedTuple):
    """The end of a transaction as it is written into each of its partitions.

    `raises_epoch` says that the producer wrote with a lower epoch than the marker has (transactions v2).
    """

    producer: Producer
    coordinator_epoch: int
    committed: bool
    raises_epoch: bool


class Partitions(Protocol):
    """What the coordinator needs of its cluster."""

    @property
    def transaction_version(self) -> int:
        """The finalized level of the feature: from 2 on, a transaction that is ended from outside raises the epoch too."""

    def next_producer_id(self) -> int:
        """A producer id that nobody had before."""

    def coordinator_epoch(self, transactional_id: str) -> int | None:
        """The leader epoch of the partition of __transaction_state that the id belongs to; None while it has no leader."""

    def write_transaction(self, transactional_id: str, record: CoordinatorRecord) -> None:
        """Appends to the transactional id's partition of __transaction_state."""

    def write_marker(self, partition: TopicPartition, marker: Marker) -> bool:
        """Writes a marker; False if that must wait because the partition has no leader. One that is gone needs none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """The broker settings that transactions obey: Kafka's names, with `_` for `.`, and its defaults."""

    transaction_max_timeout_ms: int = 900_000
    transactional_id_expiration_ms: int = 604_800_000
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = 10_000

    @classmethod
    def of(cls, config: BrokerConfig) -> TransactionSettings:
        """Those of a broker."""
        return cls(**{field.name: config.integers[field.name.replace("_", ".")] for field in fields(cls)})


class Answer(NamedTuple):
    """What a producer is told: an error, or what it is from now on."""

    error: ErrorCode
    producer: Producer = NO_PRODUCER


class Transactions:
    """The transactional ids. Timers: ("transaction", id), when its time is up, ("transactional id", id), when it is forgotten,
    and ("markers", id), when markers that could not be written are tried again."""

    def __init__(self, timers: Timers, settings: TransactionSettings, partitions: Partitions) -> None:
        self._timers, self._settings, self._partitions = timers, settings, partitions
        self._transactions: dict[str, Transaction] = {}
        self._unfinished: dict[str, Transaction] = {}
        """Those that are decided and wait for a leader to write their markers."""

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._transactions.values())

    def get(self, transactional_id: str) -> Transaction | None:
        """The transaction of that id."""
        return self._transactions.get(transactional_id)

    # What producers ask for.

    def allows_timeout(self, timeout_ms: int) -> bool:
        """Whether a transaction may take so long."""
        return 0 < timeout_ms <= self._settings.transaction_max_timeout_ms

    def init_producer_id(self, transactional_id: str, timeout_ms: int, expected: Producer | None = None) -> Answer:
        """InitProducerId: the producer to go on as. `expected` is what a producer believes that it is (KIP-360).

        CONCURRENT_TRANSACTIONS: a transaction is aborted first, ask again. PRODUCER_FENCED: somebody else came.
        """
        transaction = self._transactions.get(transactional_id)
        if transaction is None:
            transaction = Transaction(transactional_id, self._partitions.next_producer_id())
        elif transaction.state in PREPARED:
            return Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
        elif expected and not _may_continue(transaction, expected):
            return Answer(ErrorCode.PRODUCER_FENCED)
        if transaction.state is TransactionState.ONGOING:
            self._fence(transaction)
            return Answer(ErrorCode.CONCURRENT_TRANSACTIONS)
        return self._begin(transaction, timeout_ms, expected)

    def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: list[TopicPartition], client_version: int = 0
    ) -> ErrorCode:
        """AddPartitionsToTxn, and what adds partitions without being asked for clients of transactions v2."""
        transaction = self._transactions.get(transactional_id)
        if transaction is not None and transaction.state in PREPARED:
            return ErrorCode.CONCURRENT_TRANSACTIONS
        if transaction is None or (error := _check_producer(transaction, producer)):
            return error if transaction else ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if transaction.state is not TransactionState.ONGOING or not transaction.partitions.keys() >= set(partitions):
            with taken_back_on_failure(self._timers, transaction):
                transaction.add(partitions, self._timers.now_ms, client_version)
                self._write(transaction)
            self._timers.cancel(("transactional id", transactional_id))
            if ("transaction", transactional_id) not in self._timers:
                self._set_timeout(transaction, transaction.timeout_ms)
        return ErrorCode.NONE

    def verify(self, transactional_id: str, producer: Producer, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, ErrorCode]:
        """Whether partitions are part of the transaction (KIP-890): TRANSACTION_ABORTABLE for those that are not."""
        transaction = self._transactions.get(transactional_id)
        if transaction is None or (error := _check_producer(transaction, producer)):
            return dict.fromkeys(partitions, error if transaction else ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if transaction.state in PREPARED:
            return dict.fromkeys(partitions, ErrorCode.CONCURRENT_TRANSACTIONS)
        return {each: ErrorCode.NONE if each in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE for each in partitions}

    def end(self, transactional_id: str, producer: Producer, *, commit: bool, raise_epoch: bool) -> Answer:
        """EndTxn. With `raise_epoch` (transactions v2) the answer tells the producer of the next transaction."""
        transaction = self._transactions.get(transactional_id)
        if transaction is None:
            return Answer(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        check = _check_end_v2 if raise_epoch else _check_end_v1
        error = check(transaction, producer, commit)
        if error is None:
            self._end(transaction, commit=commit, client_version=TV_2 if raise_epoch else TV_0)
            error = ErrorCode.NONE
        if error:
            return Answer(error)
        follows = transaction.next_producer_id
        return Answer(error, transaction.producer if follows == NO_PRODUCER_ID else Producer(follows, 0))

    # What happens without being asked for.

    def write_missing_markers(self) -> None:
        """Partitions have a leader again, or are gone: goes on with the transactions that waited for it."""
        for transaction in list(self._unfinished.values()):
            self._write_markers(transaction)

    def _time_is_up(self, transaction: Transaction) -> None:
        """Aborts the transaction, or tries again later if it has no coordinator now or its record cannot be written."""
        self._set_timeout(transaction, self._settings.transaction_abort_timed_out_transaction_cleanup_interval_ms)
        if self._partitions.coordinator_epoch(transaction.transactional_id) is None:
            return
        log.info("The transaction of %s is aborted, its time is up", transaction.transactional_id)
        self._fence(transaction)

    def _forget(self, transaction: Transaction) -> None:
        log.info("The transactional id %s was idle for too long and is forgotten", transaction.transactional_id)
        self._rest(transaction)  # which is cancelled when its record is written
        self._partitions.write_transaction(transaction.transactional_id, tombstone(transaction))
        self._timers.cancel(("transactional id", transaction.transactional_id))
        transaction.state = TransactionState.DEAD
        del self._transactions[transaction.transactional_id]

    # Steps.

    def _begin(self, transaction: Transaction, timeout_ms: int, expected: Producer | None) -> Answer:
        with taken_back_on_failure(self._timers, transaction):
            if not self._renew(transaction, timeout_ms, expected):
                return Answer(ErrorCode.PRODUCER_FENCED)
            self._write(transaction)
        self._transactions[transaction.transactional_id] = transaction
        self._rest(transaction)
        log.info("%s is producer %d with epoch %d", transaction.transactional_id, *transaction.producer)
        return Answer(ErrorCode.NONE, transaction.producer)

    def _renew(self, transaction: Transaction, timeout_ms: int, expected: Producer | None) -> bool:
        """Begins with a producer of a higher epoch; False if the one who asks is not the present one."""
        now = transaction.producer
        if transaction.epoch_exhausted and (expected is None or expected.epoch == now.epoch):
            fresh = Producer(self._partitions.next_producer_id(), 0)
            transaction.begin(fresh, now.epoch if expected else NO_PRODUCER_EPOCH, timeout_ms)
        elif expected is None:
            transaction.begin(now._replace(epoch=now.epoch + 1), NO_PRODUCER_EPOCH, timeout_ms)
        elif now.epoch in (NO_PRODUCER_EPOCH, expected.epoch):
            transaction.begin(now._replace(epoch=now.epoch + 1), now.epoch, timeout_ms)
        elif expected.epoch == transaction.last_epoch:
            transaction.begin(now, transaction.last_epoch, timeout_ms)  # the answer before got lost
        else:
            return False
        return True

    def _fence(self, transaction: Transaction) -> None:
        """Aborts a transaction from outside, with a higher epoch: its producer finds out when it asks for anything."""
        client_version = self._partitions.transaction_version
        self._decide(transaction, commit=False, client_version=client_version, fences=client_version < TV_2)

    def _end(self, transaction: Transaction, *, commit: bool, client_version: int) -> None:
        """As the producer asked for; one without epochs left gets a new id for the next transaction."""
        exhausted = client_version >= TV_2 and transaction.epoch_exhausted
        next_producer_id = self._partitions.next_producer_id() if exhausted else NO_PRODUCER_ID
        self._decide(transaction, commit=commit, client_version=client_version, next_producer_id=next_producer_id)

    def _decide(
        self,
        transaction: Transaction,
        *,
        commit: bool,
        client_version: int,
        next_producer_id: int = NO_PRODUCER_ID,
        fences: bool = False,
    ) -> None:
        """Once this is written the transaction ends so, whatever happens to its markers."""
        with taken_back_on_failure(self._timers, transaction):
            if fences:
                transaction.fence()
            transaction.prepare(self._timers.now_ms, commit=commit, client_version=client_version, next_producer_id=next_producer_id)
            self._write(transaction)
        self._timers.cancel(("transaction", transaction.transactional_id))
        self._write_markers(transaction)

    def _write_markers(self, transaction: Transaction) -> None:
        """Markers that cannot be written now, by a failure of ours, are tried again until they can: the decision stands."""
        try:
            self._try_to_write_markers(transaction)
        except Exception:
            log.exception("The markers of %s could not be written, and will be tried again", transaction.transactional_id)
            delay_ms = self._settings.transaction_abort_timed_out_transaction_cleanup_interval_ms
            self._timers.set(("markers", transaction.transactional_id), delay_ms, lambda: self._write_markers(transaction))

    def _try_to_write_markers(self, transaction: Transaction) -> None:
        if transaction.state not in PREPARED:
            return
        self._unfinished[transaction.transactional_id] = transaction
        coordinator_epoch = self._partitions.coordinator_epoch(transaction.transactional_id)
        if coordinator_epoch is None:
            return
        committed = transaction.state is TransactionState.PREPARE_COMMIT
        marker = Marker(transaction.producer, coordinator_epoch, committed, transaction.raises_epoch)
        for partition in list(transaction.partitions):
            if self._partitions.write_marker(partition, marker):
                del transaction.partitions[partition]
        if not transaction.partitions:
            with taken_back_on_failure(self._timers, transaction):
                transaction.complete()
                self._write(transaction)
            del self._unfinished[transaction.transactional_id]
            self._rest(transaction)

    def _write(self, transaction: Transaction) -> None:
        """Has the state as it is now written."""
        record = transaction_record(transaction, self._timers.now_ms, self._partitions.transaction_version)
        self._partitions.write_transaction(transaction.transactional_id, record)

    def _rest(self, transaction: Transaction) -> None:
        """Nothing is open: from now on the id may become too old."""
        delay_ms = self._settings.transactional_id_expiration_ms
        self._timers.set(("transactional id", transaction.transactional_id), delay_ms, lambda: self._forget(transaction))

    def _set_timeout(self, transaction: Transaction, delay_ms: int) -> None:
        self._timers.set(("transaction", transaction.transactional_id), delay_ms, lambda: self._time_is_up(transaction))


def _may_continue(transaction: Transaction, expected: Producer) -> bool:
    """Whether a producer may be the present one; its epoch is looked at later. The id before is right after it ran out of epochs."""
    return (
        transaction.producer.epoch == NO_PRODUCER_EPOCH
        or expected.id == transaction.producer.id
        or (expected.id == transaction.previous_producer_id and expected.epoch >= MAX_EPOCH - 1)
    )


def _check_producer(transaction: Transaction, producer: Producer) -> ErrorCode:
    """Whether a producer is the present one."""
    if transaction.producer.id != producer.id:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    return ErrorCode.NONE if transaction.producer.epoch == producer.epoch else ErrorCode.PRODUCER_FENCED


def _check_end_v1(transaction: Transaction, producer: Producer, commit: bool) -> ErrorCode | None:
    """None: end the transaction. NONE: it has ended so already."""
    if error := _check_producer(transaction, producer):
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


def _check_end_v2(transaction: Transaction, producer: Producer, commit: bool) -> ErrorCode | None:
    """As for v1. An epoch below the present one is a request that was sent again: its transaction has ended."""
    if transaction.state in PREPARED:
        return ErrorCode.CONCURRENT_TRANSACTIONS
    now = transaction.producer
    overflowed = producer == (transaction.previous_producer_id, MAX_EPOCH - 1) and now.epoch == 0
    again = overflowed or producer.epoch == now.epoch - 1
    if now.id != producer.id and not overflowed:
        return ErrorCode.INVALID_PRODUCER_ID_MAPPING
    if not _is_valid_epoch(transaction, producer.epoch, again=again):
        return ErrorCode.PRODUCER_FENCED
    match transaction.state, commit:
        case TransactionState.ONGOING, _:
            return None
        case (TransactionState.COMPLETE_COMMIT, True) | (TransactionState.COMPLETE_ABORT, False) if again:
            return ErrorCode.NONE
        case state, False if state in IDLE and not again:
            return None  # an abort of nothing raises the epoch, which rids the producer of what is on its way
        case _:
            return ErrorCode.INVALID_TXN_STATE


def _is_valid_epoch(transaction: Transaction, epoch: int, *, again: bool) -> bool:
    if transaction.state in (TransactionState.EMPTY, TransactionState.ONGOING):
        return epoch == transaction.producer.epoch
    return again or epoch == transaction.producer.epoch
