"""One transactional id: its producer, its state and the partitions of its transaction (Kafka's `TransactionMetadata`)."""

from __future__ import annotations

from enum import Enum
from typing import NamedTuple

NO_PRODUCER_ID = -1
NO_PRODUCER_EPOCH = -1
MAX_EPOCH = 2**15 - 1
TV_0, TV_2 = 0, 2  # levels of transaction.version: from 2 on each transaction has an epoch of its own


class TopicPartition(NamedTuple):
    """A partition by name, so that it may be gone when the transaction ends."""

    topic: str
    partition: int


class Producer(NamedTuple):
    """A producer's id and epoch."""

    id: int
    epoch: int


class TransactionState(Enum):
    """The states, spelled as DescribeTransactions and ListTransactions show them."""

    EMPTY = "Empty"
    """Nothing was done with the present producer epoch.
    Partitions are added -> ONGOING; aborted by a client of transactions v2 -> PREPARE_ABORT; idle for too long -> DEAD."""

    ONGOING = "Ongoing"
    """Partitions are written to, and the time runs.
    EndTxn -> PREPARE_COMMIT or PREPARE_ABORT; InitProducerId or the time is up -> PREPARE_EPOCH_FENCE."""

    PREPARE_COMMIT = "PrepareCommit"
    """It is decided, and markers are written. As all of it is one process this is over at once, unless a partition has no leader.
    All markers are written -> COMPLETE_COMMIT."""

    PREPARE_ABORT = "PrepareAbort"
    """As PREPARE_COMMIT. All markers are written -> COMPLETE_ABORT."""

    COMPLETE_COMMIT = "CompleteCommit"
    """The last transaction was committed, and nothing was done since. InitProducerId -> EMPTY; else as EMPTY."""

    COMPLETE_ABORT = "CompleteAbort"
    """The last transaction was aborted, and nothing was done since. InitProducerId -> EMPTY; else as EMPTY."""

    DEAD = "Dead"
    """Forgotten: never seen, as whoever comes next meets a new transactional id."""

    PREPARE_EPOCH_FENCE = "PrepareEpochFence"
    """The epoch is raised so that the producer can do no more. Goes on to PREPARE_ABORT within the same step, so it is never seen."""


PREPARED = (TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT)
IDLE = (TransactionState.EMPTY, TransactionState.COMPLETE_COMMIT, TransactionState.COMPLETE_ABORT)


class Transaction:
    """A transactional id. Whoever calls a method has checked that the state allows it; times are ms since the Unix epoch."""

    def __init__(self, transactional_id: str, producer_id: int) -> None:
        self.transactional_id = transactional_id
        self.state = TransactionState.EMPTY
        self.producer = Producer(producer_id, NO_PRODUCER_EPOCH)
        self.previous_producer_id = NO_PRODUCER_ID
        """The producer id before the last transition."""
        self.next_producer_id = NO_PRODUCER_ID
        """The one that follows when the markers are written, since the present one has no epochs left."""
        self.last_epoch = NO_PRODUCER_EPOCH
        """The epoch before the last bump that the producer itself asked for; -1 after somebody else came."""
        self.timeout_ms = 0
        self.start_ms = -1
        self.partitions: dict[TopicPartition, None] = {}
        """Those of the open transaction, in the order of their coming; of a prepared one, those that wait for their markers."""
        self.client_version = 0
        """Of transactions, as the client showed that it knows it: from 2 on the end of each transaction raises the epoch."""

    @property
    def raises_epoch(self) -> bool:
        """Whether the transaction that ends raised the epoch (transactions v2)."""
        return self.client_version >= 2

    @property
    def epoch_exhausted(self) -> bool:
        """Whether no producer may be given a higher epoch: the highest of all is left for fencing."""
        return self.producer.epoch >= MAX_EPOCH - 1

    def begin(self, producer: Producer, last_epoch: int, timeout_ms: int) -> None:
        """InitProducerId: a producer of that epoch may begin."""
        self._become(TransactionState.EMPTY, producer)
        self.last_epoch, self.timeout_ms, self.start_ms = last_epoch, timeout_ms, -1

    def add(self, partitions: list[TopicPartition], now_ms: int, client_version: int) -> None:
        """Partitions join the transaction; the first ones begin it."""
        if self.state is not TransactionState.ONGOING:
            self.start_ms = now_ms
        self.client_version = client_version
        self._become(TransactionState.ONGOING, self.producer)
        self.partitions.update(dict.fromkeys(partitions))

    def prepare(self, now_ms: int, *, commit: bool, client_version: int, next_producer_id: int) -> None:
        """Decides. In transactions v2 the transaction's end has an epoch of its own, in which the next one is written."""
        producer, self.client_version = self.producer, client_version
        if self.raises_epoch:
            self.last_epoch, producer = producer.epoch, self._next_epoch()
        if self.state in IDLE:
            self.start_ms = now_ms
        self.next_producer_id = next_producer_id
        self._become(TransactionState.PREPARE_COMMIT if commit else TransactionState.PREPARE_ABORT, producer)

    def complete(self) -> None:
        """All markers are written."""
        is_commit = self.state is TransactionState.PREPARE_COMMIT
        producer = self.producer if self.next_producer_id == NO_PRODUCER_ID else Producer(self.next_producer_id, 0)
        self._become(TransactionState.COMPLETE_COMMIT if is_commit else TransactionState.COMPLETE_ABORT, producer)
        self.next_producer_id = NO_PRODUCER_ID

    def fence(self) -> None:
        """Raises the epoch before the abort, so that the producer can do no more (up to transactions v1)."""
        self._become(TransactionState.PREPARE_EPOCH_FENCE, self._next_epoch())
        self.last_epoch = NO_PRODUCER_EPOCH

    def _next_epoch(self) -> Producer:
        return self.producer._replace(epoch=min(self.producer.epoch + 1, MAX_EPOCH))

    def _become(self, state: TransactionState, producer: Producer) -> None:
        self.previous_producer_id = self.producer.id
        self.state, self.producer = state, producer
