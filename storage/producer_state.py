"""The state of one producer id in one partition: epoch, next sequence number and last batches (Kafka's ProducerStateEntry)."""

from __future__ import annotations

from typing import NamedTuple

MAX_SEQUENCE = 2**31 - 1
CACHED_BATCHES = 5
"""The number of batches that are recognised when they are sent again, because a producer may have as many in flight."""


class CachedBatch(NamedTuple):
    """One of a producer's last batches. Sequence numbers and offsets are inclusive."""

    epoch: int
    base_sequence: int
    last_sequence: int
    base_offset: int
    last_offset: int
    timestamp: int


class ProducerState:
    """The state that follows from the batches and markers of a producer.

    `used_ms` is the broker's time of the last write, and `timestamp` (ms) that of the last batch or marker, -1 if there is none.
    `coordinator_epoch` and `marker_offset` are those of the last marker, -1 if there is none.
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
        """The last batch of the current epoch."""
        return self.batches[-1] if self.batches and self.batches[-1].epoch == self.epoch else None

    def agrees(self, other: ProducerState) -> bool:
        """Returns whether both states follow from the same batches and markers."""
        return (self.epoch, self.batches, self.marker_offset) == (other.epoch, other.batches, other.marker_offset)

    def add(self, batch: CachedBatch) -> None:
        """Updates the state for a batch that was appended."""
        self.batches.append(batch)
        if len(self.batches) > CACHED_BATCHES:
            del self.batches[0]
        self._follow(batch)

    def end_transaction(self, epoch: int, coordinator_epoch: int, offset: int, timestamp: int) -> None:
        """Updates the state for a marker that was appended. In a new epoch, sequence numbers begin at 0 again."""
        if epoch != self.epoch:
            self.epoch, self.next_sequence = epoch, 0
        self.coordinator_epoch, self.marker_offset, self.timestamp = coordinator_epoch, offset, timestamp

    def truncate_to(self, offset: int) -> bool:
        """Restores the state before `offset`. Returns False if no batch or marker of it is left.

        If all batches of a full cache are removed, the ones before them, which are not in the cache any more, are left.
        """
        removed, was_full = None, len(self.batches) == CACHED_BATCHES
        ends_with_marker = not self.batches or self.batches[-1].last_offset < self.marker_offset
        if ends_with_marker and self.marker_offset < offset:
            return True
        while self.batches and self.batches[-1].last_offset >= offset:
            removed = self.batches.pop()
        if self.batches:
            self._follow(self.batches[-1])
        elif removed:
            self.epoch, self.next_sequence = removed.epoch, removed.base_sequence
        return bool(self.batches) or (was_full and self.next_sequence > 0)

    def _follow(self, batch: CachedBatch) -> None:
        self.epoch = batch.epoch
        self.next_sequence = 0 if batch.last_sequence == MAX_SEQUENCE else batch.last_sequence + 1
        self.timestamp = batch.timestamp
