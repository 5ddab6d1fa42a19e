"""The transaction coordinator: all transactional ids of a cluster (Kafka's TransactionCoordinator and TransactionStateManager).

A transaction ends in two steps. First the decision to commit or abort is written to `__transaction_state`, which moves the id to
PREPARE_COMMIT or PREPARE_ABORT and cannot be undone. Then a marker is written to each partition of the transaction, and the id moves to
COMPLETE_COMMIT or COMPLETE_ABORT. Because all partitions are in this process, both steps usually happen within one request. The transaction
stays prepared only while one of its partitions, or the id's own partition of `__transaction_state`, has no leader;
`write_missing_markers` is called when that may have changed.

Three timers per id, named by a tuple, act without a request:

    ("transaction", id)         aborts a transaction that exceeds its timeout
    ("transactional id", id)    removes an id that has been idle for transactional.id.expiration.ms
    ("markers", id)             retries markers that could not be written because of an internal error
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from functools import partial
from typing import NamedTuple

from ...protocol.errors import ErrorCode
from ..scheduling.savepoint import reverted_on_failure
from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig
from .cluster_view import ClusterView
from .producer_checks import check_end_v1, check_end_v2, check_producer, may_continue
from .records import tombstone, transaction_record
from .transaction import (
    IDLE,
    NO_PRODUCER_EPOCH,
    NO_PRODUCER_ID,
    PREPARED,
    TV_0,
    TV_2,
    Marker,
    Producer,
    TopicPartition,
    Transaction,
    TransactionState,
)

FORMER_PRODUCERS_KEPT = 100_000
NO_PRODUCER = Producer(NO_PRODUCER_ID, NO_PRODUCER_EPOCH)

log = logging.getLogger("kafka.coordinator.transaction.TransactionCoordinator")


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionSettings:
    """The broker settings of the coordinator, under Kafka's names, with `_` for `.`. The defaults are Kafka's."""

    transaction_max_timeout_ms: int = 900_000
    transactional_id_expiration_ms: int = 604_800_000
    transaction_abort_timed_out_transaction_cleanup_interval_ms: int = 10_000

    @classmethod
    def of(cls, config: BrokerConfig) -> TransactionSettings:
        """Returns the settings of a broker."""
        return cls(**{field.name: config.integers[field.name.replace("_", ".")] for field in fields(cls)})


class ProducerResult(NamedTuple):
    """Result of InitProducerId and EndTxn: an error, or the id and epoch that the producer must use from now on."""

    error: ErrorCode
    producer: Producer = NO_PRODUCER


class Transactions:
    """All transactional ids of a cluster. Iteration yields them in the order of their creation."""

    def __init__(self, timers: Timers, settings: TransactionSettings, cluster: ClusterView) -> None:
        self._timers, self._settings, self._cluster = timers, settings, cluster
        self._transactions: dict[str, Transaction] = {}
        self._former: dict[str, Transaction] = {}
        """Idle transactional ids that a restored state lacks. Their producers may still be connected."""
        self._unfinished: dict[str, Transaction] = {}
        """Prepared transactions whose markers are not all written, because a partition has no leader or because of an internal error."""

    def __iter__(self) -> Iterator[Transaction]:
        return iter(self._transactions.values())

    def get(self, transactional_id: str) -> Transaction | None:
        """Returns the state of a transactional id, or None if the id is unknown."""
        return self._transactions.get(transactional_id)

    def continue_from(self, former: Transactions) -> None:
        """Continues the producers of the transactional ids in a cluster of which an earlier state was restored.

        A producer that lives on goes on with its id and epoch, and another one with the same transactional id gets the next epoch, so that
        they never share one. The restored state has lost the open transaction of a producer; it gets another id when it recovers. A
        transaction that is open in the restored state remains as it is.
        """
        for present in (*former._former.values(), *former):
            restored, is_idle = self._transactions.get(present.transactional_id), present.state in IDLE
            if restored is None and is_idle:
                self._former[present.transactional_id] = present
            elif restored is None:
                self._former.pop(present.transactional_id, None)
            elif restored.state in IDLE and is_idle:
                restored.follow(present)
            elif restored.state in IDLE:
                restored.replace_producer(self._cluster.next_producer_id())
        self._former = dict(list(self._former.items())[-FORMER_PRODUCERS_KEPT:])

    def is_former(self, transactional_id: str) -> bool:
        """Returns whether the transactional id is missing in a restored state and its producer may be connected."""
        return transactional_id in self._former

    def _find(self, transactional_id: str) -> Transaction | None:
        """Returns the state of a transactional id for a request of its producer. A former one returns to the table."""
        if (former := self._former.pop(transactional_id, None)) is not None:
            self._transactions[transactional_id] = former
            self._set_expiry(former)
        return self._transactions.get(transactional_id)

    def load(self, transaction: Transaction, *, restarts_timeout: bool) -> None:
        """Adds a transactional id that was read from `__transaction_state`. A prepared transaction gets all its markers again, as in Kafka.

        The timeout of an open transaction counts from its start, as Kafka's, or begins again with `restarts_timeout`.
        """
        self._transactions[transaction.transactional_id] = transaction
        if transaction.state is TransactionState.ONGOING:
            lasted_ms = 0 if restarts_timeout else self._timers.now_ms - transaction.start_ms
            self._set_timeout(transaction, transaction.timeout_ms - min(max(0, lasted_ms), transaction.timeout_ms))
        elif transaction.state in PREPARED:
            self._write_markers(transaction)
        else:
            self._set_expiry(transaction)

    # Requests of producers.

    def allows_timeout(self, timeout_ms: int) -> bool:
        """Returns whether InitProducerId may request a transaction timeout."""
        return 0 < timeout_ms <= self._settings.transaction_max_timeout_ms

    def init_producer_id(self, transactional_id: str, timeout_ms: int, expected: Producer | None = None) -> ProducerResult:
        """Handles InitProducerId. `expected` is the id and epoch that the producer had before an error (KIP-360).

        The result has CONCURRENT_TRANSACTIONS while an open transaction is being aborted, after which the client must retry,
        and PRODUCER_FENCED if another producer has taken over the transactional id.
        """
        transaction = self._find(transactional_id)
        if transaction is None:
            transaction = Transaction(transactional_id, self._cluster.next_producer_id())
        elif transaction.state in PREPARED:
            return ProducerResult(ErrorCode.CONCURRENT_TRANSACTIONS)
        elif expected and not may_continue(transaction, expected):
            return ProducerResult(ErrorCode.PRODUCER_FENCED)
        if transaction.state is TransactionState.ONGOING:
            self._abort_and_fence(transaction)
            return ProducerResult(ErrorCode.CONCURRENT_TRANSACTIONS)
        return self._begin(transaction, timeout_ms, expected)

    def add_partitions(
        self, transactional_id: str, producer: Producer, partitions: list[TopicPartition], client_version: int = 0
    ) -> ErrorCode:
        """Handles AddPartitionsToTxn and AddOffsetsToTxn. For clients of transactions v2, Produce and TxnOffsetCommit call it too."""
        transaction = self._find(transactional_id)
        if transaction is not None and transaction.state in PREPARED:
            return ErrorCode.CONCURRENT_TRANSACTIONS
        if transaction is None or (error := check_producer(transaction, producer)):
            return error if transaction else ErrorCode.INVALID_PRODUCER_ID_MAPPING
        if transaction.state is not TransactionState.ONGOING or not transaction.partitions.keys() >= set(partitions):
            with reverted_on_failure(self._timers, transaction):
                transaction.add(partitions, self._timers.now_ms, client_version)
                self._write(transaction)
            self._timers.cancel(("transactional id", transactional_id))
            if ("transaction", transactional_id) not in self._timers:
                self._set_timeout(transaction, transaction.timeout_ms)
        return ErrorCode.NONE

    def verify(self, transactional_id: str, producer: Producer, partitions: Iterable[TopicPartition]) -> dict[TopicPartition, ErrorCode]:
        """Returns for each partition NONE if it is part of the open transaction, and otherwise an error (KIP-890).

        The error is TRANSACTION_ABORTABLE for a partition that has not been added.
        """
        transaction = self._find(transactional_id)
        if transaction is None or (error := check_producer(transaction, producer)):
            return dict.fromkeys(partitions, error if transaction else ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        if transaction.state in PREPARED:
            return dict.fromkeys(partitions, ErrorCode.CONCURRENT_TRANSACTIONS)
        return {each: ErrorCode.NONE if each in transaction.partitions else ErrorCode.TRANSACTION_ABORTABLE for each in partitions}

    def end(self, transactional_id: str, producer: Producer, *, commit: bool, raise_epoch: bool) -> ProducerResult:
        """Handles EndTxn. With `raise_epoch` (transactions v2) the result contains the producer's id and epoch for its next transaction."""
        transaction = self._find(transactional_id)
        if transaction is None:
            return ProducerResult(ErrorCode.INVALID_PRODUCER_ID_MAPPING)
        check = check_end_v2 if raise_epoch else check_end_v1
        error = check(transaction, producer, commit)
        if error is None:
            self._end(transaction, commit=commit, client_version=TV_2 if raise_epoch else TV_0)
            error = ErrorCode.NONE
        if error:
            return ProducerResult(error)
        next_producer_id = transaction.next_producer_id
        return ProducerResult(error, transaction.producer if next_producer_id == NO_PRODUCER_ID else Producer(next_producer_id, 0))

    # Actions without a request.

    def write_missing_markers(self) -> None:
        """Retries the markers of all prepared transactions. It is called after leaders were elected or partitions were deleted."""
        for transaction in list(self._unfinished.values()):
            self._write_markers(transaction)

    def _on_timeout(self, transaction: Transaction) -> None:
        """Aborts the transaction, or retries later if it currently has no coordinator or its record cannot be written."""
        self._set_timeout(transaction, self._settings.transaction_abort_timed_out_transaction_cleanup_interval_ms)
        if self._cluster.coordinator_epoch(transaction.transactional_id) is None:
            return
        log.info("Aborting the transaction of %s because it timed out", transaction.transactional_id)
        self._abort_and_fence(transaction)

    def _expire(self, transaction: Transaction) -> None:
        log.info("Removing the transactional id %s because it expired", transaction.transactional_id)
        # If the record cannot be written, the timer set here retries later.
        self._set_expiry(transaction)
        self._cluster.write_transaction(transaction.transactional_id, tombstone(transaction))
        self._timers.cancel(("transactional id", transaction.transactional_id))
        transaction.state = TransactionState.DEAD
        del self._transactions[transaction.transactional_id]

    # State transitions.

    def _begin(self, transaction: Transaction, timeout_ms: int, expected: Producer | None) -> ProducerResult:
        with reverted_on_failure(self._timers, transaction):
            if not self._renew(transaction, timeout_ms, expected):
                return ProducerResult(ErrorCode.PRODUCER_FENCED)
            self._write(transaction)
        self._transactions[transaction.transactional_id] = transaction
        self._set_expiry(transaction)
        log.info("Transactional id %s has producer id %d and epoch %d", transaction.transactional_id, *transaction.producer)
        return ProducerResult(ErrorCode.NONE, transaction.producer)

    def _renew(self, transaction: Transaction, timeout_ms: int, expected: Producer | None) -> bool:
        """Starts a new epoch. Returns False, and changes nothing, if `expected` is neither the current producer nor a retry of it."""
        now = transaction.producer
        if transaction.epoch_exhausted and (expected is None or expected.epoch == now.epoch):
            fresh = Producer(self._cluster.next_producer_id(), 0)
            transaction.begin(fresh, now.epoch if expected else NO_PRODUCER_EPOCH, timeout_ms)
        elif expected is None:
            transaction.begin(now._replace(epoch=now.epoch + 1), NO_PRODUCER_EPOCH, timeout_ms)
        elif now.epoch in (NO_PRODUCER_EPOCH, expected.epoch):
            transaction.begin(now._replace(epoch=now.epoch + 1), now.epoch, timeout_ms)
        elif expected.epoch == transaction.last_epoch:
            # The producer did not receive the response to its previous InitProducerId, and gets the same epoch again.
            transaction.begin(now, transaction.last_epoch, timeout_ms)
        else:
            return False
        return True

    def _abort_and_fence(self, transaction: Transaction) -> None:
        """Aborts a transaction without its producer, and raises the epoch so that the producer's next request fails."""
        client_version = self._cluster.transaction_version
        self._decide(transaction, commit=False, client_version=client_version, fences=client_version < TV_2)

    def _end(self, transaction: Transaction, *, commit: bool, client_version: int) -> None:
        """Ends a transaction at the request of its producer, which gets a new id if its epochs are exhausted (transactions v2)."""
        exhausted = client_version >= TV_2 and transaction.epoch_exhausted
        next_producer_id = self._cluster.next_producer_id() if exhausted else NO_PRODUCER_ID
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
        """Writes the decision to commit or abort, which is final, and then the markers."""
        with reverted_on_failure(self._timers, transaction):
            if fences:
                transaction.fence()
            transaction.prepare(self._timers.now_ms, commit=commit, client_version=client_version, next_producer_id=next_producer_id)
            self._write(transaction)
        self._timers.cancel(("transaction", transaction.transactional_id))
        self._write_markers(transaction)

    def _write_markers(self, transaction: Transaction) -> None:
        """Writes the missing markers. After an internal error a timer retries the rest, because the decision is final."""
        try:
            self._try_to_write_markers(transaction)
        except Exception:
            log.exception("Failed to write the transaction markers of %s; retrying later", transaction.transactional_id)
            delay_ms = self._settings.transaction_abort_timed_out_transaction_cleanup_interval_ms
            self._set_timer("markers", transaction, delay_ms)

    def _try_to_write_markers(self, transaction: Transaction) -> None:
        if transaction.state not in PREPARED:
            return
        self._unfinished[transaction.transactional_id] = transaction
        coordinator_epoch = self._cluster.coordinator_epoch(transaction.transactional_id)
        if coordinator_epoch is None:
            return
        committed = transaction.state is TransactionState.PREPARE_COMMIT
        marker = Marker(transaction.producer, coordinator_epoch, committed, transaction.raises_epoch)
        for partition in list(transaction.partitions):
            if self._cluster.write_marker(partition, marker):
                del transaction.partitions[partition]
        if not transaction.partitions:
            with reverted_on_failure(self._timers, transaction):
                transaction.complete()
                self._write(transaction)
            del self._unfinished[transaction.transactional_id]
            self._set_expiry(transaction)

    def _write(self, transaction: Transaction) -> None:
        """Writes the current state to __transaction_state."""
        record = transaction_record(transaction, self._timers.now_ms, self._cluster.transaction_version)
        self._cluster.write_transaction(transaction.transactional_id, record)

    def _set_expiry(self, transaction: Transaction) -> None:
        """Sets the timer after which the id expires. The id must not have an open transaction."""
        self._set_timer("transactional id", transaction, self._settings.transactional_id_expiration_ms)

    def _set_timeout(self, transaction: Transaction, delay_ms: int) -> None:
        self._set_timer("transaction", transaction, delay_ms)

    def _set_timer(self, kind: str, transaction: Transaction, delay_ms: int) -> None:
        self._timers.set((kind, transaction.transactional_id), delay_ms, self.timer_action(kind, transaction))

    def timer_action(self, kind: str, transaction: Transaction) -> Callable[[], None]:
        """Returns the action of the timer (kind, id) of a transactional id."""
        actions = {"transaction": self._on_timeout, "transactional id": self._expire, "markers": self._write_markers}
        return partial(actions[kind], transaction)
