"""The stored states of all share partitions: what Kafka's share coordinator (ShareCoordinatorShard) keeps and writes.

Each change is a record in `__share_group_state` before it takes effect: a snapshot with the whole state, or an update with its changed
ranges. After `share.coordinator.snapshot.update.records.per.snapshot` updates a snapshot follows. A share partition that is not written for
`share.coordinator.cold.partition.snapshot.interval.ms` gets a snapshot too, so that the records before all last snapshots can be deleted
every `share.coordinator.state.topic.prune.interval.ms`. Of a partition of the log without states, only the last deletion is kept. When the
object is created, it reads the log back.

Epochs: the leader of a partition writes with its leader epoch, and in the state epoch in which the group coordinator has initialized the
share partition. Older ones are fenced.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import NamedTuple

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.schema import ProtocolError
from ...protocol.stored.coordinator_records import CoordinatorRecord, ShareSnapshotValue, ShareUpdateValue
from ..groups.cluster_view import UNINITIALIZED_START_OFFSET, ShareStateSummary
from ..scheduling.timers import Check
from .cluster_view import ClusterView, StateLog
from .records import SharePartitionKey, read_record, snapshot_record, update_record
from .stored_state import StateBatch, StoredState, combine, write_batches

log = logging.getLogger("org.apache.kafka.coordinator.share.ShareCoordinatorShard")

UPDATES_PER_SNAPSHOT = "share.coordinator.snapshot.update.records.per.snapshot"
COLD_SNAPSHOT_INTERVAL_MS = "share.coordinator.cold.partition.snapshot.interval.ms"
PRUNE_INTERVAL_MS = "share.coordinator.state.topic.prune.interval.ms"
NO_EPOCH = -1
"""An epoch that is not compared."""
COLD_SNAPSHOTS_TIMER, PRUNING_TIMER = "cold share snapshots", "share state pruning"


class ReadState(NamedTuple):
    """The state with which the leader of a partition begins."""

    state_epoch: int
    start_offset: int
    batches: Sequence[StateBatch]


class ShareCoordinator:
    """Implements `SharePartitionsView` for the group coordinator, and reads and writes for the leaders of partitions.

    All methods raise KafkaError, with COORDINATOR_NOT_AVAILABLE if the log has no leader, and change nothing in that case.
    """

    def __init__(self, cluster: ClusterView, state_log: StateLog) -> None:
        self._cluster, self._log = cluster, state_log
        self._states: dict[SharePartitionKey, StoredState] = {}
        self._locations: dict[SharePartitionKey, int] = {}
        """The partition of the log in which each state is."""
        self._deletions: dict[int, int] = {}
        """The offset of the last deletion of a state in each partition of the log."""
        self._pruned: dict[int, int] = {}
        """The offset before which the records of each partition of the log have been deleted."""
        self.cold_snapshots = Check(
            self.snapshot_cold_partitions, lambda: self._settings[COLD_SNAPSHOT_INTERVAL_MS], self._next_cold_snapshot_ms
        )
        self.pruning = Check(self.prune, lambda: self._settings[PRUNE_INTERVAL_MS], self._next_pruning_ms)
        for partition, offset, record in state_log.records():
            self._replay(partition, offset, record)

    def __len__(self) -> int:
        return len(self._states)

    def __iter__(self) -> Iterator[SharePartitionKey]:
        return iter(self._states)

    @property
    def _settings(self) -> Mapping[str, int]:
        return self._cluster.config.integers

    # The group coordinator

    def initialize(self, group_id: str, topic_id: bytes, partition: int, start_offset: int, state_epoch: int) -> None:
        """Stores a new state. Raises KafkaError with FENCED_STATE_EPOCH, UNKNOWN_TOPIC_OR_PARTITION or INVALID_REQUEST."""
        key = _key(group_id, topic_id, partition)
        state = self._states.get(key)
        if state is not None and NO_EPOCH != state_epoch < state.newest_state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(key)
        now_ms = self._cluster.timers.now_ms
        value = ShareSnapshotValue(
            snapshot_epoch=0 if state is None else state.snapshot_epoch + 1,
            state_epoch=state_epoch,
            leader_epoch=0,
            start_offset=start_offset,
            delivery_complete_count=-1 if start_offset == UNINITIALIZED_START_OFFSET else 0,
            create_timestamp=now_ms,
            write_timestamp=now_ms,
            state_batches=[],
        )
        self._write(key, value)

    set_start_offset = initialize

    def delete(self, group_id: str, topic_id: bytes, partition: int) -> None:
        """Removes a state if it exists. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION or INVALID_REQUEST."""
        key = _key(group_id, topic_id, partition)
        self._check_exists(key)
        if key in self._states:
            self._write(key, None)

    def summary(self, group_id: str, topic_id: bytes, partition: int) -> ShareStateSummary | None:
        """Returns the epochs and offsets of a share partition; None if it is not initialized. Raises KafkaError as `delete` does."""
        key = _key(group_id, topic_id, partition)
        self._check_exists(key)
        state = self._states.get(key)
        if state is None:
            return None
        return ShareStateSummary(state.state_epoch, state.leader_epoch, state.start_offset, state.delivery_complete_count)

    def topic_deleted(self, topic_id: bytes) -> None:
        """Removes the states of the partitions of a deleted topic."""
        for key in [key for key in self._states if key.topic_id == topic_id]:
            self._write_if_led(key, None)

    # The leaders of partitions

    def read(self, key: SharePartitionKey, leader_epoch: int) -> ReadState:
        """Returns a state for the leader of the partition in this epoch, which fences earlier leaders.

        Raises KafkaError with INVALID_REQUEST if it is not initialized, FENCED_LEADER_EPOCH or UNKNOWN_TOPIC_OR_PARTITION.
        """
        state = self._find_state(key, "Read", leader_epoch)
        self._check_exists(key)
        found = ReadState(state.state_epoch, state.start_offset, state.batches)
        if leader_epoch not in (NO_EPOCH, state.newest_leader_epoch):
            self._write_change(key, state, leader_epoch, state.start_offset, state.delivery_complete_count, ())
        return found

    def write(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
    ) -> None:
        """Stores changed ranges. A start offset of -1 means that it has not changed.

        Raises KafkaError with INVALID_REQUEST if the state is not initialized, FENCED_LEADER_EPOCH, FENCED_STATE_EPOCH or
        UNKNOWN_TOPIC_OR_PARTITION.
        """
        state = self._find_state(key, "Write", leader_epoch)
        if NO_EPOCH != state_epoch < state.newest_state_epoch:
            raise KafkaError(ErrorCode.FENCED_STATE_EPOCH)
        self._check_exists(key)
        self._write_change(key, state, state.leader_epoch, start_offset, delivery_complete_count, batches)

    def _find_state(self, key: SharePartitionKey, operation: str, leader_epoch: int) -> StoredState:
        _check(key)
        state = self._states.get(key)
        if state is None:
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{operation} operation on a share partition that is not initialized.")
        if NO_EPOCH != leader_epoch < state.newest_leader_epoch:
            raise KafkaError(ErrorCode.FENCED_LEADER_EPOCH)
        return state

    def _check_exists(self, key: SharePartitionKey) -> None:
        topic = self._cluster.topics_by_id.get(key.topic_id)
        if topic is None or topic.partition(key.partition) is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)

    # Records

    def _write_change(
        self,
        key: SharePartitionKey,
        state: StoredState,
        leader_epoch: int,
        start_offset: int,
        delivery_complete_count: int,
        batches: Sequence[StateBatch],
    ) -> None:
        if state.updates < self._settings[UPDATES_PER_SNAPSHOT]:
            update = ShareUpdateValue(
                snapshot_epoch=state.snapshot_epoch,
                leader_epoch=leader_epoch,
                start_offset=start_offset,
                delivery_complete_count=delivery_complete_count,
                state_batches=write_batches(combine(batches, start_offset)),
            )
            return self._write(key, update)
        value = state.as_snapshot(self._cluster.timers.now_ms)
        value.leader_epoch, value.delivery_complete_count = leader_epoch, delivery_complete_count
        value.start_offset = state.start_offset if start_offset == -1 else start_offset
        value.create_timestamp = value.write_timestamp
        value.state_batches = write_batches(state.combine_with(batches, start_offset))
        self._write(key, value)

    def _write(self, key: SharePartitionKey, value: ShareSnapshotValue | ShareUpdateValue | None) -> None:
        record = update_record(key, value) if isinstance(value, ShareUpdateValue) else snapshot_record(key, value)
        self._apply(key, value, *self._log.append(key.text, [record]))

    def _replay(self, partition: int, offset: int, record: CoordinatorRecord) -> None:
        try:
            key, value = read_record(record)
        except (ProtocolError, ValueError) as error:
            log.warning("ignored the record at offset %d of __share_group_state-%d: %s", offset, partition, error)
            return
        self._apply(key, value, partition, offset)

    def _apply(self, key: SharePartitionKey, value: ShareSnapshotValue | ShareUpdateValue | None, partition: int, offset: int) -> None:
        if value is None:
            self._states.pop(key, None)
            self._locations.pop(key, None)
            self._deletions[partition] = offset
            return
        state = self._states.get(key)
        if state is None:
            state = self._states[key] = StoredState()
            self._locations[key] = partition
            self._set_timers()
        if isinstance(value, ShareUpdateValue):
            state.update(value)
        else:
            state.snapshot(value, offset, self._settings[UPDATES_PER_SNAPSHOT])

    # Timers

    def _set_timers(self) -> None:
        timers = self._cluster.timers
        for key, check in ((COLD_SNAPSHOTS_TIMER, self.cold_snapshots), (PRUNING_TIMER, self.pruning)):
            if key not in timers:
                timers.set(key, check.interval_ms(), check)

    def snapshot_cold_partitions(self) -> None:
        """Writes a snapshot of each state whose last one is old and keeps other records of its partition of the log from being deleted.

        These are records of states that are not cold yet, and of states that were deleted since.
        """
        now_ms, interval_ms = self._cluster.timers.now_ms, self._settings[COLD_SNAPSHOT_INTERVAL_MS]
        for key, state in list(self._in_active_partitions()):
            if now_ms - state.written_ms >= interval_ms:
                self._write_if_led(key, state.as_snapshot(now_ms))
        if self._states:
            self._set_timers()

    def _in_active_partitions(self) -> Iterator[tuple[SharePartitionKey, StoredState]]:
        """Yields the states in the partitions of the log in which some states are not cold yet, or records of deleted states are kept."""
        active = {self._locations[key] for key, state in self._states.items() if state.created_ms == state.written_ms}
        active |= {partition for partition, offset in self._needed_offsets().items() if offset < self._deletions.get(partition, 0)}
        return ((key, state) for key, state in self._states.items() if self._locations[key] in active)

    def _next_cold_snapshot_ms(self) -> float:
        """Returns when the next state is cold, 0 if there is none, so that the timer ends."""
        if not self._states:
            return 0
        written_ms = min((state.written_ms for _, state in self._in_active_partitions()), default=inf)
        return written_ms + self._settings[COLD_SNAPSHOT_INTERVAL_MS]

    def _write_if_led(self, key: SharePartitionKey, value: ShareSnapshotValue | None) -> None:
        try:
            self._write(key, value)
        except KafkaError as error:
            log.info("the state of %s was not written: %s", key.text, error.code.name)

    def prune(self) -> None:
        """Deletes the records of the log before the last snapshots of all states of a partition of the log."""
        self._pruned = self._needed_offsets()
        for partition, offset in self._pruned.items():
            self._log.delete_before(partition, offset)
        if self._states:
            self._set_timers()

    def _next_pruning_ms(self) -> float:
        return inf if self._states and self._needed_offsets() == self._pruned else 0

    def _needed_offsets(self) -> dict[int, int]:
        """Returns the offset in each partition of the log from which on it has to be kept."""
        needed: dict[int, int] = {}
        for key, state in self._states.items():
            partition = self._locations[key]
            needed[partition] = min(needed.get(partition, state.snapshot_offset), state.snapshot_offset)
        return self._deletions | needed


def _key(group_id: str, topic_id: bytes, partition: int) -> SharePartitionKey:
    key = SharePartitionKey(group_id, topic_id, partition)
    _check(key)
    return key


def _check(key: SharePartitionKey) -> None:
    if key.partition < 0:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "The partition id cannot be a negative number.")
