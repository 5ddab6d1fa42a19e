"""The state machine of one transactional id: its producer, and the partitions of its transaction (Kafka's TransactionMetadata).

A producer is identified by an id and an epoch. A higher epoch fences all requests with a lower one. Up to transactions v1 the epoch is
raised by InitProducerId, and when the coordinator aborts a transaction itself. In transactions v2 (KIP-890) the end of each transaction
raises it too, and the markers have the raised epoch, so that a delayed request of one transaction cannot become part of the next one.

Epochs end at 32767, which is reserved for fencing. A producer that has used 32766 gets a new id, with epoch 0.
"""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
MAX_EPOCH = 2**15 - 1
TV_0, TV_2 = 0, 2
"""Levels of the feature transaction.version. From 2 on, each transaction has a different epoch."""


class TopicPartition(NamedTuple):
    """A partition by name. It may have been deleted when the transaction ends."""

    topic: str
    partition: int


class Producer(NamedTuple):
    """A producer's id and epoch."""

    id: int
    epoch: int


class Marker(NamedTuple):
    """A control batch that ends a transaction in one of its partitions.

    With `raises_epoch` the marker's epoch is higher than that of the transaction's records (transactions v2).
    """

    producer: Producer
    coordinator_epoch: int
    committed: bool
    raises_epoch: bool


class TransactionState(Enum):
    """The states, with the names that DescribeTransactions and ListTransactions return."""

    EMPTY = "Empty"
    """The current epoch has not been used.
    Partitions are added -> ONGOING; abort by a client of transactions v2 -> PREPARE_ABORT; expiry -> DEAD."""

    ONGOING = "Ongoing"
    """The transaction has partitions, and its timeout is running.
    EndTxn -> PREPARE_COMMIT or PREPARE_ABORT; InitProducerId or timeout -> PREPARE_EPOCH_FENCE."""

    PREPARE_COMMIT = "PrepareCommit"
    """The commit is decided, and markers are being written. This takes no time unless a partition has no leader.
    All markers are written -> COMPLETE_COMMIT."""

    PREPARE_ABORT = "PrepareAbort"
    """The same as PREPARE_COMMIT, for an abort. All markers are written -> COMPLETE_ABORT."""

    COMPLETE_COMMIT = "CompleteCommit"
    """The last transaction was committed, and no other has started. InitProducerId -> EMPTY; otherwise as EMPTY."""

    COMPLETE_ABORT = "CompleteAbort"
    """The last transaction was aborted, and no other has started. InitProducerId -> EMPTY; otherwise as EMPTY."""

    DEAD = "Dead"
    """The id has expired. The state is never returned to clients, because the next request creates a new transactional id."""

    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """The epoch is raised to fence the producer. The state is never returned to clients, because PREPARE_ABORT follows immediately."""


PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
IDLE = (TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


class Transaction:
    """The state of one transactional id.

    Callers of its methods must check that the state allows the transition. Times are ms since the Unix epoch.
    """

    def __init__(self, transactional_id: str, producer_id: int) -> None:
        self.transactional_id = transactional_id
        self.state = TransactionState.EMPTY
        self.producer = Producer(producer_id, NO_PRODUCER_EPOCH)
        self.previous_producer_id = NO_PRODUCER_ID
        """The producer id before the last transition."""
        self.next_producer_id = NO_PRODUCER_ID
        """The producer id to use once the markers are written, if the epochs of the current id are exhausted; otherwise -1."""
        self.last_epoch = NO_PRODUCER_EPOCH
        """The epoch before the last one that the producer itself requested; -1 after a takeover by another producer or a fencing."""
        self.timeout_ms = 0
        self.start_ms = -1
        self.partitions: dict[TopicPartition, None] = {}
        """The partitions of the open transaction, in the order in which they were added; of a prepared one, those without a marker."""
        self.client_version = 0
        """The version of transactions that the client uses. From 2 on, the end of each transaction raises the epoch."""

    @property
    def raises_epoch(self) -> bool:
        """Whether the end of the transaction raises the epoch (transactions v2)."""
        return self.client_version >= 2

    @property
    def epoch_exhausted(self) -> bool:
        """Whether the producer cannot get a higher epoch, because the highest one is reserved for fencing."""
        return self.producer.epoch >= MAX_EPOCH - 1

    def replace_producer(self, producer_id: int) -> None:
        """Replaces the producer id by a new one, which the former producer gets too when it recovers (KIP-360)."""
        self.previous_producer_id = self.next_producer_id = NO_PRODUCER_ID
        self.producer, self.last_epoch = Producer(producer_id, NO_PRODUCER_EPOCH), NO_PRODUCER_EPOCH

    def begin(self, producer: Producer, last_epoch: int, timeout_ms: int) -> None:
        """Makes `producer` the current one, for InitProducerId."""
        self._become(TransactionState.EMPTY, producer)
        self.last_epoch, self.timeout_ms, self.start_ms = last_epoch, timeout_ms, -1

    def add(self, partitions: list[TopicPartition], now_ms: int, client_version: int) -> None:
        """Adds partitions to the transaction, which starts with the first ones."""
        if self.state is not TransactionState.ONGOING:
            self.start_ms = now_ms
        self.client_version = client_version
        self._become(TransactionState.ONGOING, self.producer)
        self.partitions.update(dict.fromkeys(partitions))

    def prepare(self, now_ms: int, *, commit: bool, client_version: int, next_producer_id: int) -> None:
        """Decides to commit or abort. In transactions v2 it raises the epoch, which the markers and the next transaction use."""
        producer, self.client_version = self.producer, client_version
        if self.raises_epoch:
            self.last_epoch, producer = producer.epoch, self._next_epoch()
        if self.state in IDLE:
            self.start_ms = now_ms
        self.next_producer_id = next_producer_id
        self._become(TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT, producer)

    def complete(self) -> None:
        """Completes the transaction after its last marker."""
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        producer = self.producer if self.next_producer_id == NO_PRODUCER_ID else Producer(self.next_producer_id, 0)
        self._become(TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT, producer)
        self.next_producer_id = NO_PRODUCER_ID

    def fence(self) -> None:
        """Raises the epoch before an abort without the producer (up to transactions v1)."""
        self._become(TransactionState.PREPARE_EPOCH_FENCE, self._next_epoch())
        self.last_epoch = NO_PRODUCER_EPOCH

    def _next_epoch(self) -> Producer:
        return self.producer._replace(epoch=min(self.producer.epoch + 1, MAX_EPOCH))

    def _become(self, state: TransactionState, producer: Producer) -> None:
        self.previous_producer_id = self.producer.id
        self.state, self.producer = state, producer
