"""The producers of one partition: checks of their sequence numbers, epochs and markers (KIP-98, KIP-360; Kafka's ProducerStateManager)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from math import inf
from typing import NamedTuple

from .producer_state import CachedBatch, ProducerState
from .transaction_index import EndedTransaction, TransactionIndex

NO_EPOCH = -1  # also the epoch in batches of a producer that has none


class OutOfOrderSequence(Exception):
    """A batch does not begin with the sequence number that follows the last one."""

    def __init__(self, producer_id: int, epoch: int, base_sequence: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}, epoch {epoch}: the batch begins at sequence {base_sequence}, expected was {expected}")


class StaleProducerEpoch(Exception):
    """A batch or a marker has an older epoch than its producer."""

    def __init__(self, producer_id: int, epoch: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}: epoch {epoch} is older than the current epoch {expected}")


class StaleCoordinatorEpoch(Exception):
    """A marker comes from a coordinator that has been replaced."""

    def __init__(self, producer_id: int, coordinator_epoch: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}: coordinator epoch {coordinator_epoch} is older than the known epoch {expected}")


class TransactionIsOpen(Exception):
    """A producer with an open transaction sends a batch that is not part of it."""

    def __init__(self, producer_id: int) -> None:
        super().__init__(f"producer {producer_id} has an open transaction, and the batch is not part of it")


class Appended(NamedTuple):
    """The base offset of a batch in the log, and its timestamp (ms)."""

    base_offset: int
    timestamp: int


class LastRecord(NamedTuple):
    """The offset of the last record that a producer wrote in its current epoch, -1 if there is none."""

    offset: int
    epoch: int


class Refused(NamedTuple):
    """The lowest sequence number of the batches that were refused because their transaction was not yet known to the coordinator."""

    epoch: int
    base_sequence: int
    refused_ms: int


class Producers:
    """The states of the producers of one partition by producer id, and their transactions.

    A state is removed after `expiration_ms` without use and without an open transaction (producer.id.expiration.ms). Deleting
    records does not remove it (KIP-360). `open` has the first offsets of open transactions by producer id, in ascending order.
    """

    __slots__ = ("_refused", "_states", "_transactions", "expiration_ms", "open")

    def __init__(self, expiration_ms: int) -> None:
        self.expiration_ms = expiration_ms
        self._states: dict[int, ProducerState] = {}
        self._transactions = TransactionIndex()
        self.open = self._transactions.open  # also stored here, because each `check` and each Fetch reads it
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
    ) -> Appended | None:
        """Returns None if a batch may be appended, or its base offset and timestamp if it has been appended before.

        An unknown producer may begin at any sequence number, but only at 0 with `new_from_zero`.
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
        if state is None or (now_ms - state.used_ms >= self.expiration_ms and producer_id not in self.open):
            if epoch < NO_EPOCH:
                raise StaleProducerEpoch(producer_id, epoch, NO_EPOCH)
            if new_from_zero and base_sequence != 0:
                raise OutOfOrderSequence(producer_id, epoch, base_sequence, 0)
            return None
        if epoch == state.epoch:
            # A batch that is sent again is found among the last five, because an idempotent producer has at most five in flight.
            if base_sequence != state.next_sequence:
                for batch in state.batches:
                    if (batch.epoch, batch.base_sequence, batch.last_sequence) == (epoch, base_sequence, last_sequence):
                        return Appended(batch.base_offset, batch.timestamp)
                raise OutOfOrderSequence(producer_id, epoch, base_sequence, state.next_sequence)
        elif epoch < state.epoch:
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)
        elif base_sequence != 0 and state.epoch != NO_EPOCH:
            raise OutOfOrderSequence(producer_id, epoch, base_sequence, 0)
        if producer_id in self.open and not transactional:
            raise TransactionIsOpen(producer_id)
        return None

    def continues_at(self, producer_id: int, epoch: int, base_sequence: int, now_ms: int) -> bool:
        """Returns whether a batch without a transaction follows the last one of its producer, so that `check` would accept it."""
        state = self._states.get(producer_id)
        return (
            state is not None
            and state.epoch == epoch
            and state.next_sequence == base_sequence
            and now_ms - state.used_ms < self.expiration_ms
            and producer_id not in self.open
        )

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
        """Updates the state for a batch that `check` accepted and that was appended. A transactional one may open a transaction."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            state = self._renew(producer_id)
        state.used_ms = now_ms
        state.add(CachedBatch(epoch, base_sequence, last_sequence, base_offset, last_offset, timestamp))
        if transactional:
            self.open.setdefault(producer_id, base_offset)
            self._refused.pop(producer_id, None)

    def _renew(self, producer_id: int) -> ProducerState:
        """Returns a new state for a producer whose state is missing or has expired. With an open transaction, it keeps its state."""
        if producer_id not in self.open:
            self._states[producer_id] = ProducerState()
        return self._states[producer_id]

    # Transactions

    def refuse(self, producer_id: int, epoch: int, base_sequence: int, now_ms: int) -> None:
        """Records a refused batch that the producer will send again, so that `check` refuses the batches in flight behind it."""
        refused = self._refused.get(producer_id)
        if refused is None or epoch > refused.epoch or (epoch == refused.epoch and base_sequence < refused.base_sequence):
            self._refused[producer_id] = Refused(epoch, base_sequence, now_ms)

    def open_since(self, producer_id: int) -> int:
        """Returns the first offset of a producer's open transaction, -1 if it has none."""
        return self.open.get(producer_id, -1)

    def continues(self, producer_id: int, epoch: int) -> bool:
        """Returns whether a transactional batch of this epoch belongs to a transaction that is open in this partition."""
        return producer_id in self.open and self._states[producer_id].epoch == epoch

    def first_undecided_before(self, end_offset: int) -> int | None:
        """Returns the first offset of the earliest transaction that is open in the log up to `end_offset`; None if none is open there."""
        return self._transactions.first_undecided_before(end_offset)

    def check_epoch(self, producer_id: int, epoch: int) -> None:
        """Raises StaleProducerEpoch if a newer epoch of the producer is known."""
        state = self._states.get(producer_id)
        if state is not None and epoch < state.epoch:
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)

    def check_marker(self, producer_id: int, epoch: int, coordinator_epoch: int, *, raises_epoch: bool) -> None:
        """Checks whether a marker may be appended. With `raises_epoch`, as in transactions v2 (KIP-890), it must have a new epoch.

        Raises StaleProducerEpoch, StaleCoordinatorEpoch.
        """
        state = self._states.get(producer_id)
        if state is None:
            return
        if epoch < state.epoch or (raises_epoch and epoch == state.epoch and producer_id in self.open):
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)
        if coordinator_epoch < state.coordinator_epoch:
            raise StaleCoordinatorEpoch(producer_id, coordinator_epoch, state.coordinator_epoch)

    def end_transaction(self, producer_id: int, epoch: int, coordinator_epoch: int, offset: int, now_ms: int, *, committed: bool) -> None:
        """Updates the state for a marker that was appended at `offset`."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            state = self._renew(producer_id)
        state.used_ms = now_ms
        state.end_transaction(epoch, coordinator_epoch, offset, now_ms)
        self._refused.pop(producer_id, None)
        self._transactions.end(producer_id, offset, committed=committed)

    def aborted(self, start_offset: int, end_offset: int) -> list[EndedTransaction]:
        """Returns the aborted transactions that a reader of these offsets has to leave out."""
        return self._transactions.aborted(start_offset, end_offset)

    def is_committed(self, producer_id: int, offset: int) -> bool | None:
        """Returns whether the transaction of a record was committed; None while it is open."""
        return self._transactions.is_committed(producer_id, offset)

    def forget_ended(self, marker_offsets: Collection[int]) -> None:
        """Removes the transactions with these markers, because compaction has removed all their records."""
        self._transactions.forget_ended(marker_offsets)

    # Loading

    def load(self, states: Mapping[int, ProducerState], open_since: Mapping[int, int], ended: Iterable[EndedTransaction]) -> None:
        """Makes stored states, the first offsets of open transactions by producer id, and ended transactions the contents."""
        self._states = dict(states)
        self._transactions.load(open_since, ended)

    # Removal

    def last_records(self) -> dict[int, LastRecord]:
        """Returns the last records by producer id. Compaction keeps their batches, because they hold the last sequence numbers."""
        last = {producer_id: (state.last_batch, state.epoch) for producer_id, state in self._states.items()}
        return {producer_id: LastRecord(batch.last_offset if batch else -1, epoch) for producer_id, (batch, epoch) in last.items()}

    def expire(self, now_ms: int) -> None:
        """Removes the states that have not been used for too long."""
        oldest_ms = now_ms - self.expiration_ms
        self._states = {key: state for key, state in self._states.items() if state.used_ms > oldest_ms or key in self.open}
        self._refused = {key: refused for key, refused in self._refused.items() if refused.refused_ms > oldest_ms}

    def forget_if_changed(self, others: Producers | None) -> None:
        """Removes the states that differ from those of `others`, except those with open transactions.

        The producers have written since these states were theirs, so that their next sequence numbers are unknown.
        """
        present = {} if others is None else others._states
        self._states = {
            key: state for key, state in self._states.items() if key in self.open or (key in present and state.agrees(present[key]))
        }

    def next_expiry_ms(self) -> float:
        """Returns the time from which `expire` removes something, `inf` if there is nothing to remove."""
        idle_ms = min((state.used_ms for key, state in self._states.items() if key not in self.open), default=inf)
        return min([idle_ms, *(refused.refused_ms for refused in self._refused.values())]) + self.expiration_ms

    def delete_before(self, offset: int) -> None:
        """Removes the transactions that ended before `offset`, because their records are deleted."""
        self._transactions.delete_before(offset)

    def truncate_to(self, offset: int) -> None:
        """Restores the state before `offset` (an unclean leader election). Transactions that lose their markers are open again."""
        self._transactions.truncate_to(offset)
        self._states = {key: state for key, state in self._states.items() if state.truncate_to(offset) or key in self.open}
