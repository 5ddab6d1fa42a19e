"""The state of one share partition in the share coordinator (Kafka's ShareGroupOffset)."""

from __future__ import annotations

from collections.abc import Iterable

from ...protocol.stored.coordinator_records import ShareSnapshotValue, ShareUpdateValue
from .records import read, written
from .state_batches import StateBatch, combine


class StoredState:
    """The result of a snapshot and the updates after it.

    Updates are combined with the state when it is needed, at the latest by the next snapshot, because each combination takes as long as
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
            self._batches, self._uncombined = self.combined(()), []
        return self._batches

    def combined(self, batches: Iterable[StateBatch], start_offset: int = -1) -> list[StateBatch]:
        """Returns the states with further ones, from a start offset on that is by default the present one."""
        from_offset = self.start_offset if start_offset == -1 else start_offset
        return combine([*self._batches, *self._uncombined, *batches], from_offset)

    def snapshot(self, value: ShareSnapshotValue, offset: int, updates_per_snapshot: int) -> None:
        """Replaces the state by the snapshot at this offset of the log."""
        self.snapshot_epoch, self.state_epoch, self.leader_epoch = value.snapshot_epoch, value.state_epoch, value.leader_epoch
        self.start_offset, self.delivery_complete_count = value.start_offset, value.delivery_complete_count
        self.created_ms, self.written_ms = value.create_timestamp, value.write_timestamp
        self._batches, self._uncombined = read(value.state_batches), []
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
        self._uncombined += read(value.state_batches)
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
            state_batches=written(self.batches),
        )
