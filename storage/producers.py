"""What one partition remembers of its idempotent producers (KIP-98, KIP-360; Kafka's `ProducerStateManager`)."""

from __future__ import annotations

from typing import NamedTuple

MAX_SEQUENCE = 2**31 - 1
CACHED_BATCHES = 5  # as many as a producer may have in flight


class OutOfOrderSequence(Exception):
    """A batch does not begin with the sequence number that follows the last one."""

    def __init__(self, producer_id: int, epoch: int, base_sequence: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}, epoch {epoch}: the batch begins at sequence {base_sequence}, expected was {expected}")


class StaleProducerEpoch(Exception):
    """A batch comes from an older incarnation of its producer."""

    def __init__(self, producer_id: int, epoch: int, expected: int) -> None:
        self.expected = expected
        super().__init__(f"producer {producer_id}: epoch {epoch} is older than the current epoch {expected}")


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


class ProducerState:
    """One producer id: its epoch, the sequence number that comes next, its last batches, when it wrote last."""

    __slots__ = ("batches", "epoch", "next_sequence", "used_ms")

    def __init__(self) -> None:
        self.batches: list[CachedBatch] = []
        self.epoch = -1
        self.next_sequence = 0
        self.used_ms = 0

    def add(self, batch: CachedBatch) -> None:
        """Takes in what was appended."""
        self.batches.append(batch)
        if len(self.batches) > CACHED_BATCHES:
            del self.batches[0]
        self._follow(batch)

    def truncate_to(self, offset: int) -> bool:
        """Forgets what was appended at or behind `offset`; False if nothing known is left."""
        while self.batches and self.batches[-1].last_offset >= offset:
            self.batches.pop()
        if self.batches:
            self._follow(self.batches[-1])
        return bool(self.batches)

    def _follow(self, batch: CachedBatch) -> None:
        self.epoch = batch.epoch
        self.next_sequence = 0 if batch.last_sequence == MAX_SEQUENCE else batch.last_sequence + 1


class Producers:
    """The producers of one partition by id. A state goes when it was idle for `expiration_ms`, never because records were deleted."""

    __slots__ = ("_states", "expiration_ms")

    def __init__(self, expiration_ms: int) -> None:
        self.expiration_ms = expiration_ms
        self._states: dict[int, ProducerState] = {}

    def __len__(self) -> int:
        return len(self._states)

    def check(self, producer_id: int, epoch: int, base_sequence: int, last_sequence: int, now_ms: int) -> Duplicate | None:
        """None: append the batch. Otherwise it is here already, or OutOfOrderSequence or StaleProducerEpoch is raised."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            return None
        if epoch == state.epoch:
            if base_sequence == state.next_sequence:
                return None
            for batch in state.batches:
                if (batch.epoch, batch.base_sequence, batch.last_sequence) == (epoch, base_sequence, last_sequence):
                    return Duplicate(batch.base_offset, batch.timestamp)
            raise OutOfOrderSequence(producer_id, epoch, base_sequence, state.next_sequence)
        if epoch < state.epoch:
            raise StaleProducerEpoch(producer_id, epoch, state.epoch)
        if base_sequence != 0:
            raise OutOfOrderSequence(producer_id, epoch, base_sequence, 0)
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
    ) -> None:
        """Remembers a batch that `check` let pass and that was appended."""
        state = self._states.get(producer_id)
        if state is None or now_ms - state.used_ms >= self.expiration_ms:
            state = self._states[producer_id] = ProducerState()
        state.add(CachedBatch(epoch, base_sequence, last_sequence, base_offset, last_offset, timestamp))
        state.used_ms = now_ms

    def last_offsets(self) -> dict[int, int]:
        """Where each producer's last batch ends, by producer id."""
        return {producer_id: state.batches[-1].last_offset for producer_id, state in self._states.items() if state.batches}

    def expire(self, now_ms: int) -> None:
        """Frees the states that were idle for too long."""
        self._states = {key: state for key, state in self._states.items() if now_ms - state.used_ms < self.expiration_ms}

    def truncate_to(self, offset: int) -> None:
        """Forgets what was appended at or behind `offset` (an unclean election)."""
        self._states = {key: state for key, state in self._states.items() if state.truncate_to(offset)}
