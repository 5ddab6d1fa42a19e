"""The state of one share partition in the share coordinator (Kafka's ShareGroupOffset), as ranges of offsets with their delivery state.

The result of `combine` is that of Kafka's PersisterStateBatchCombiner. Of two ranges that overlap, the one that was delivered more often
wins and, at the same number of deliveries, the one with the higher state. Ranges that touch and have the same state become one.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import NamedTuple

from ...protocol.stored.coordinator_records import ShareSnapshotValue, ShareStateBatch, ShareUpdateValue


class StateBatch(NamedTuple):
    """The state of the offsets from `first` to `last` (inclusive). `state` is the number of a `RecordState`."""

    first: int
    last: int
    state: int
    delivery_count: int

    @property
    def rank(self) -> tuple[int, int]:
        """The batch of the higher rank wins."""
        return self.delivery_count, self.state


def combine(batches: Iterable[StateBatch], start_offset: int) -> list[StateBatch]:
    """Returns the state of each offset from `start_offset` on as ranges in ascending order. -1 means that there is no start offset."""
    kept = [batch if batch.first >= start_offset else batch._replace(first=start_offset) for batch in batches if batch.last >= start_offset]
    if all(before.last < after.first for before, after in pairwise(kept)):
        return _join(kept)
    return _resolve(kept)


def _join(batches: Iterable[StateBatch]) -> list[StateBatch]:
    """Joins ranges that do not overlap and are in ascending order."""
    joined: list[StateBatch] = []
    for batch in batches:
        if joined and joined[-1].last + 1 == batch.first and joined[-1][2:] == batch[2:]:
            joined[-1] = joined[-1]._replace(last=batch.last)
        else:
            joined.append(batch)
    return joined


def _resolve(batches: list[StateBatch]) -> list[StateBatch]:
    """Resolves overlaps from the lowest offset on. Each step replaces the two lowest ranges that overlap by up to three that do not."""
    heapify(batches)
    resolved: list[StateBatch] = []
    while batches:
        low = heappop(batches)
        if not batches or batches[0].first > low.last:
            resolved.append(low)
            continue
        for part in _parts(low, heappop(batches)):
            heappush(batches, part)
    return _join(resolved)


def _parts(low: StateBatch, high: StateBatch) -> list[StateBatch]:
    """Returns the ranges that replace two that overlap, of which `low` begins first."""
    if low.rank == high.rank:
        return [low._replace(last=max(low.last, high.last))]
    if high.rank < low.rank:
        return [low, high._replace(first=low.last + 1)] if high.last > low.last else [low]
    before = [low._replace(last=high.first - 1)] if low.first < high.first else []
    after = [low._replace(first=high.last + 1)] if low.last > high.last else []
    return [*before, high, *after]


def write_batches(batches: Iterable[StateBatch]) -> list[ShareStateBatch]:
    return [ShareStateBatch(first_offset=a, last_offset=b, delivery_state=state, delivery_count=count) for a, b, state, count in batches]


def read_batches(batches: Iterable[ShareStateBatch]) -> list[StateBatch]:
    return [StateBatch(each.first_offset, each.last_offset, each.delivery_state, each.delivery_count) for each in batches]


class StoredState:
    """The result of a snapshot and the updates after it.

    Updates are combine_with with the state when it is needed, at the latest by the next snapshot, because each combination takes as long as
    the state has ranges. `newest_leader_epoch` and `newest_state_epoch` are the highest that were ever stored: lower ones are fenced.
    `snapshot_offset` is the position of the last snapshot in the log, and `updates` counts towards the next one.
    """

    def __init__(self) -> None:
        self.snapshot_epoch = self.state_epoch = self.leader_epoch = 0
        self.start_offset = self.delivery_complete_count = -1
        self.created_ms = self.written_ms = 0
        self.newest_leader_epoch = self.newest_state_epoch = -1
        self.snapshot_offset = -1
        self.updates = 0
        self._batches: list[StateBatch] = []
        self._uncombined: list[StateBatch] = []

    @property
    def batches(self) -> list[StateBatch]:
        """The states of the offsets from the start offset on, without those that are available and were never delivered."""
        if self._uncombined:
            self._batches, self._uncombined = self.combine_with(()), []
        return self._batches

    def combine_with(self, batches: Iterable[StateBatch], start_offset: int = -1) -> list[StateBatch]:
        """Returns the states with further ones, from a start offset on that is by default the present one."""
        from_offset = self.start_offset if start_offset == -1 else start_offset
        return combine([*self._batches, *self._uncombined, *batches], from_offset)

    def snapshot(self, value: ShareSnapshotValue, offset: int, updates_per_snapshot: int) -> None:
        """Replaces the state by the snapshot at this offset of the log."""
        self.snapshot_epoch, self.state_epoch, self.leader_epoch = value.snapshot_epoch, value.state_epoch, value.leader_epoch
        self.start_offset, self.delivery_complete_count = value.start_offset, value.delivery_complete_count
        self.created_ms, self.written_ms = value.create_timestamp, value.write_timestamp
        self._batches, self._uncombined = read_batches(value.state_batches), []
        self.newest_leader_epoch = max(self.newest_leader_epoch, value.leader_epoch)
        self.newest_state_epoch = max(self.newest_state_epoch, value.state_epoch)
        self.snapshot_offset = offset
        if self.updates >= updates_per_snapshot:
            self.updates = 0

    def update(self, value: ShareUpdateValue) -> None:
        """Adds an update to the state."""
        if value.start_offset != -1:
            self.start_offset = value.start_offset
        if value.leader_epoch != -1:
            self.leader_epoch = value.leader_epoch
        self.delivery_complete_count = value.delivery_complete_count
        self.newest_leader_epoch = max(self.newest_leader_epoch, value.leader_epoch)
        self._uncombined += read_batches(value.state_batches)
        self.updates += 1

    def as_snapshot(self, now_ms: int) -> ShareSnapshotValue:
        """Returns the next snapshot, without a change of the state."""
        return ShareSnapshotValue(
            snapshot_epoch=self.snapshot_epoch + 1,
            state_epoch=self.state_epoch,
            leader_epoch=self.leader_epoch,
            start_offset=self.start_offset,
            delivery_complete_count=self.delivery_complete_count,
            create_timestamp=self.created_ms,
            write_timestamp=now_ms,
            state_batches=write_batches(self.batches),
        )
