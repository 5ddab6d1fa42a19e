"""What one partition remembers of its producers: sequence numbers and transactions (KIP-98, KIP-360; Kafka's `ProducerStateManager`)."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterator
from operator import attrgetter
from typing import NamedTuple

MAX_SEQUENCE = 2**31 - 1
NO_EPOCH = -1  # also what a producer without one writes
CACHED_BATCHES = 5  # as many as a producer may have in flight


class OutOfOrderSequence(Exception):
    """A batch does not begin with the sequence number that follows the last one."""

    def __init__(self, producer_id: int, epoch: int, base_sequence: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}, epoch {epoch}: the batch begins at sequence {base_sequence}, expected was {expected}")


class StaleProducerEpoch(Exception):
    """A batch or a marker comes from an older incarnation of its producer."""

    def __init__(self, producer_id: int, epoch: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}: epoch {epoch} is older than the current epoch {expected}")


class StaleCoordinatorEpoch(Exception):
    """A marker comes from a coordinator that has been replaced."""

    def __init__(self, producer_id: int, coordinator_epoch: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}: coordinator epoch {coordinator_epoch} is older than the known epoch {expected}")


class TransactionIsOpen(Exception):
    """A batch outside of transactions comes from a producer that is within one."""

    def __init__(self, producer_id: int) -> None:
        super().__init__(f"producer {producer_id} has an open transaction, and the batch is not part of it")


class Duplicate(NamedTuple):
    """The batch was appended before: where, and with which timestamp (ms)."""

    base_offset: int
    timestamp: int


class CachedBatch(NamedTuple):
    """One of a producer's last batches. Sequences and offsets are inclusive."""

    epoch: int
    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


class EndedTransaction(NamedTuple):
    """A transaction from its first batch to its marker (`last_offset`), and where the last stable offset stood behind the marker."""

    producer_id: int
    first_offset: int
    last_offset: int
    last_stable_offset: int
    committed: bool


class LastRecord(NamedTuple):
    """The last record that a producer wrote in its present epoch, -1 if it has written none."""

    offset: int
    epoch: int


class Refused(NamedTuple):
    """The lowest sequence number of the batches that were refused because their transaction was not known yet."""

    epoch: int
    base_sequence: int
    refused_ms: int


_last_offset = attrgetter("last_offset")


class ProducerState:
    """One producer id: its epoch, the sequence number that comes next, its last batches, when it wrote last.

    `timestamp` (ms) is that of its last batch or marker, `coordinator_epoch` and `marker_offset` those of its last marker; -1 for none.
    """

    __slots__ = ("batches", "coordinator_epoch", "epoch", "marker_offset", "next_sequence", "timestamp", "used_ms")

    def __init__(self) -> None:
        self.batches: list[CachedBatch] = []
        self.epoch = -1
        self.next_sequence = 0
        self.used_ms = 0
        self.timestamp = -1
        self.coordinator_epoch = -1
        self.marker_offset = -1

    @property
    def last_batch(self) -> CachedBatch | None:
        """The last batch in the present epoch."""
        return self.batches[-1] if self.batches and self.batches[-1].epoch == self.epoch else None

    def add(self, batch: CachedBatch) -> None:
        """Takes in what was appended."""
        self.batches.append(batch)
        if len(self.batches) > CACHED_BATCHES:
            del self.batches[0]
        self._follow(batch)

    def end_transaction(self, epoch: int, coordinator_epoch: int, offset: int, timestamp: int) -> None:
        """Takes in a marker, which tells the epoch: in a new one, sequences begin at 0."""
        if epoch != self.epoch:
            self.epoch, self.next_sequence = epoch, 0
        self.coordinator_epoch, self.marker_offset, self.timestamp = coordinator_epoch, offset, timestamp

    def truncate_to(self, offset: int) -> bool:
        """Forgets what was appended at or behind `offset`; False if nothing known is left."""
        forgotten = None
        is_last = not self.batches or self.batches[-1].last_offset < self.marker_offset
        if is_last and self.marker_offset < offset:
            return True
        while self.batches and self.batches[-1].last_offset >= offset:
            forgotten = self.batches.pop()
        if self.batches:
            self._follow(self.batches[-1])
        elif forgotten:
            self.epoch, self.next_sequence = forgotten.epoch, forgotten.base_sequence
        return bool(self.batches)

    def _follow(self, batch: CachedBatch) -> None:
        self.epoch = batch.epoch
        self.next_sequence = 0 if batch.last_sequence == MAX_SEQUENCE else batch.last_sequence + 1
        self.timestamp = batch.timestamp


class Producers:
    """The producers of one partition by id, their open transactions and those that ended within the log.

    A state goes when it was idle for `expiration_ms` and has no open transaction, never because records were deleted.
    """

    __slots__ = ("_ended", "_open", "_refused", "_states", "expiration_ms")

    def __init__(self, expiration_ms: int) -> None:
        self.expiration_ms = expiration_ms
        self._states: dict[int, ProducerState] = {}
        self._open: dict[int, int] = {}  # producer id -> first offset, ascending: what is appended later begins later
        self._ended: list[EndedTransaction] = []  # ascending by last offset
        self._refused: dict[int, Refused] = {}

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[tuple[int, ProducerState]]:
        return iter(self._states.items())

    # Appending

    def check(
        self,
        producer_id: int,
        epoch: int,
        base_sequence: int,
        last_sequence: int,
        now_ms: int,
        transactional: bool = False,
        new_from_zero: bool = False,
    ) -> Duplicate | None:
        """None: append the batch. Otherwise it is here already, or the reason is raised why it may not be.

        With `new_from_zero` a producer that is not known must begin at sequence 0, else it may begin anywhere.
        Raises OutOfOrderSequence, StaleProducerEpoch, TransactionIsOpen.
        """
        if (
            transactional
            and (refused := self._refused.get(producer_id))
            and refused.epoch == epoch
            and base_sequence > refused.base_sequence
        ):
            raise OutOfOrderSequence(producer_id, epoch, base_sequence, refused.base_sequence)
        state = self._states.get(producer_id)
        if state is None or (now_ms - state.used_ms >= self.expiration_ms and producer_id not in self._open):
            if epoch < NO_EPOCH:
                raise StaleProducerEpoch(producer_id, epoch, NO_EPOCH)
            if new_from_zero and base_sequence != 0:
                raise OutOfOrderSequence(producer_id, epoch, base_sequence, 0)
            return None
        if epoch == state.epoch:
            if base_sequence != state.next_sequence:
                for batch in state.batches:
                    if (batch.epoch, batch.base_sequence, batch.last_sequence) == (epoch, base_sequence, last_sequence):
                        return Duplicate(batch.base_offset, batch.timestamp)
                raise OutOfOrderSequence(producer_id, epoch, base_sequence, state.next_sequence)
        elif epoch < state.epoch:
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)
        elif base_sequence != 0 and state.epoch != NO_EPOCH:
            raise OutOfOrderSequence(producer_id, epoch, base_sequence, 0)
        if producer_id in self._open and not transactional:
            raise TransactionIsOpen(producer_id)
        return None

    def record(
        self,
        producer_id: int,
        epoch: int,
        base_sequence: int,
        last_sequence: int,
        base_offset: int,
        last_offset: int,
        timestamp: int,
        now_ms: int,
        transactional: bool = False,
    ) -> None:
        """Remembers a batch that `check` let pass and that was appended; a transactional one may open a transaction."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            state = self._renew(producer_id)
        state.used_ms = now_ms
        state.add(CachedBatch(epoch, base_sequence, last_sequence, base_offset, last_offset, timestamp))
        if transactional:
            self._open.setdefault(producer_id, base_offset)
            self._refused.pop(producer_id, None)

    # Transactions

    def refuse(self, producer_id: int, epoch: int, base_sequence: int, now_ms: int) -> None:
        """The batch waits for its transaction to be known: those behind it, which are on their way, must not overtake it."""
        refused = self._refused.get(producer_id)
        if refused is None or epoch > refused.epoch or (epoch == refused.epoch and base_sequence < refused.base_sequence):
            self._refused[producer_id] = Refused(epoch, base_sequence, now_ms)

    def open_since(self, producer_id: int) -> int:
        """The first offset of a producer's open transaction, -1 if it has none."""
        return self._open.get(producer_id, -1)

    def continues(self, producer_id: int, epoch: int) -> bool:
        """Whether a transactional batch of this epoch belongs to a transaction that is open here already."""
        return producer_id in self._open and self._states[producer_id].epoch == epoch

    @property
    def first_open_offset(self) -> int | None:
        """Where the earliest open transaction began; None if none is open."""
        return next(iter(self._open.values())) if self._open else None

    def check_epoch(self, producer_id: int, epoch: int) -> None:
        """Raises StaleProducerEpoch if a newer incarnation of the producer is known."""
        state = self._states.get(producer_id)
        if state is not None and epoch < state.epoch:
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)

    def check_marker(self, producer_id: int, epoch: int, coordinator_epoch: int, *, raises_epoch: bool) -> None:
        """Whether a marker may be appended. `raises_epoch`: it has a new epoch, so that the present one is not enough (KIP-890).

        Raises StaleProducerEpoch, StaleCoordinatorEpoch.
        """
        state = self._states.get(producer_id)
        if state is None:
            return
        if epoch < state.epoch or (raises_epoch and epoch == state.epoch and producer_id in self._open):
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)
        if coordinator_epoch < state.coordinator_epoch:
            raise StaleCoordinatorEpoch(producer_id, coordinator_epoch, state.coordinator_epoch)

    def end_transaction(self, producer_id: int, epoch: int, coordinator_epoch: int, offset: int, now_ms: int, *, committed: bool) -> None:
        """Remembers a marker that was appended at `offset`. A transaction that wrote nothing here leaves no trace."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            state = self._renew(producer_id)
        state.used_ms = now_ms
        state.end_transaction(epoch, coordinator_epoch, offset, now_ms)
        self._refused.pop(producer_id, None)
        first_offset = self._open.pop(producer_id, None)
        if first_offset is not None:
            still_open = self.first_open_offset
            stable = offset + 1 if still_open is None else still_open
            self._ended.append(EndedTransaction(producer_id, first_offset, offset, stable, committed))

    def aborted(self, start_offset: int, end_offset: int) -> list[EndedTransaction]:
        """The aborted transactions that a reader of these offsets must know (Kafka's `TransactionIndex.collectAbortedTxns`)."""
        found = []
        for position in range(bisect_left(self._ended, start_offset, key=_last_offset), len(self._ended)):
            ended = self._ended[position]
            if not ended.committed and ended.first_offset < end_offset:
                found.append(ended)
            if ended.last_stable_offset >= end_offset:
                break  # all that follow begin behind it
        return found

    # Forgetting

    def last_records(self) -> dict[int, LastRecord]:
        """What tells each producer's last sequence number, or at least its epoch, by producer id."""
        last = {producer_id: (state.last_batch, state.epoch) for producer_id, state in self._states.items()}
        return {producer_id: LastRecord(batch.last_offset if batch else -1, epoch) for producer_id, (batch, epoch) in last.items()}

    def forget_ended(self, markers: Collection[int]) -> None:
        """Nothing is left of the transactions that ended at these offsets: no reader need know of them."""
        if markers:
            self._ended = [ended for ended in self._ended if ended.last_offset not in markers]

    def expire(self, now_ms: int) -> None:
        """Frees the states that were idle for too long."""
        oldest_ms = now_ms - self.expiration_ms
        self._states = {key: state for key, state in self._states.items() if state.used_ms > oldest_ms or key in self._open}
        self._refused = {key: each for key, each in self._refused.items() if each.refused_ms > oldest_ms}

    def delete_before(self, offset: int) -> None:
        """Forgets the transactions that ended before `offset`: their records are gone."""
        del self._ended[: bisect_left(self._ended, offset, key=_last_offset)]

    def truncate_to(self, offset: int) -> None:
        """Forgets what was appended at or behind `offset` (an unclean election); transactions whose markers go are open again."""
        reopened = bisect_left(self._ended, offset, key=_last_offset)
        first_offsets = [*self._open.items(), *((ended.producer_id, ended.first_offset) for ended in self._ended[reopened:])]
        del self._ended[reopened:]
        still_open = sorted((first, producer_id) for producer_id, first in first_offsets if first < offset)
        self._open = {producer_id: first for first, producer_id in still_open}
        self._states = {key: state for key, state in self._states.items() if state.truncate_to(offset) or key in self._open}

    def _renew(self, producer_id: int) -> ProducerState:
        """A new state for a producer that has none, or an idle one; an open transaction keeps what it has."""
        if producer_id not in self._open:
            self._states[producer_id] = ProducerState()
        return self._states[producer_id]
