"""The share partitions and the share sessions of one broker (Kafka's SharePartitionManager).

A share partition is loaded by the first fetch of its group, and exists while the broker leads the partition and the group has sessions
here, and then, as in Kafka, until the connection of the last session closes or ends a session of another group. Requests that wait for
records wait for the partition and for the `LoadedPartition`, which is woken when records become available again. A restart of the broker
loses all of them.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ..settings.values import GroupConfig
from ..topics.partition import Partition
from ..topics.timestamps import first_at
from .cluster_view import ClusterView
from .records import SharePartitionKey
from .sessions import PartitionKey, SessionKey, ShareSession, ShareSessions
from .settings import ShareSettings
from .share_partition import Acknowledgement, AcquisitionEnds, SharePartition
from .stored_state import StateBatch

log = logging.getLogger("kafka.server.share.SharePartitionManager")

_RETRY = (ErrorCode.NOT_COORDINATOR, ErrorCode.COORDINATOR_NOT_AVAILABLE, ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
_FENCED = (ErrorCode.FENCED_LEADER_EPOCH, ErrorCode.FENCED_STATE_EPOCH)
_KEPT = (ErrorCode.GROUP_ID_NOT_FOUND, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_UNLOADING = (ErrorCode.NOT_LEADER_OR_FOLLOWER, *_KEPT)
"""The errors after which a share partition has to be loaded again."""


class LoadedPartition:
    """A share partition that a broker has loaded. `records` is its state machine. It is not `active` once it was unloaded."""

    __slots__ = ("active", "key", "partition", "records", "timer_ms")

    def __init__(self, key: SharePartitionKey, partition: Partition, records: SharePartition) -> None:
        self.key = key
        self.partition = partition
        self.records = records
        self.timer_ms = 0
        self.active = True


class SharePartitions:
    """The share partitions of one broker. `sessions` are those of its clients."""

    def __init__(self, node_id: int, max_sessions: int, cluster: ClusterView) -> None:
        self.sessions = ShareSessions(max_sessions)
        self._node_id = node_id
        self._cluster = cluster
        self._defaults: ShareSettings | None = None
        self._loaded: dict[Partition, dict[str, LoadedPartition]] = {}
        self._of_group: dict[str, dict[Partition, None]] = {}
        self._left: dict[int, str] = {}
        """The group whose session was ended last, by the connection on which it was opened."""

    def settings(self, group_id: str) -> ShareSettings:
        """Returns the present settings of a group."""
        config = self._cluster.group_configs.get(group_id)
        if config is not None:
            return ShareSettings.of(config)
        if self._defaults is None:
            self._defaults = ShareSettings.of(GroupConfig(self._cluster.config, {}))
        return self._defaults

    def settings_changed(self) -> None:
        """Reads the broker settings again, which groups without own configs use."""
        self._defaults = None

    # Loading and unloading

    def get(self, group_id: str, partition: Partition) -> LoadedPartition | None:
        """Returns a share partition that is loaded."""
        return self._loaded.get(partition, {}).get(group_id)

    def load(self, group_id: str, partition: Partition) -> LoadedPartition:
        """Returns a share partition, which is loaded if necessary.

        Raises KafkaError with NOT_LEADER_OR_FOLLOWER if this broker does not lead the partition, or the reason why its state cannot be
        read.
        """
        found = self.get(group_id, partition)
        if found is not None:
            return found
        if partition.leader != self._node_id:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        key = SharePartitionKey(group_id, partition.topic.id, partition.index)
        try:
            state = self._cluster.share_states.read(key, partition.leader_epoch)
        except KafkaError as error:
            raise _as_seen_by_clients(error) from error
        start_offset = state.start_offset
        if start_offset < 0:
            start_offset = initial_start_offset(partition, self.settings(group_id).auto_offset_reset, self._cluster.timers.now_ms)
        store = partial(self._store, key, state.state_epoch, partition.leader_epoch)
        records = SharePartition(start_offset, state.batches, partial(self.settings, group_id), store)
        loaded = LoadedPartition(key, partition, records)
        self._loaded.setdefault(partition, {})[group_id] = loaded
        self._of_group.setdefault(group_id, {})[partition] = None
        return loaded

    def _store(
        self,
        key: SharePartitionKey,
        state_epoch: int,
        leader_epoch: int,
        start_offset: int,
        complete_count: int,
        batches: Iterable[StateBatch],
    ) -> None:
        try:
            self._cluster.share_states.write(key, state_epoch, leader_epoch, start_offset, complete_count, list(batches))
        except KafkaError as error:
            raise _as_seen_by_clients(error) from error

    def _unload(self, loaded: LoadedPartition) -> None:
        group_id, partition = loaded.key.group_id, loaded.partition
        del self._loaded[partition][group_id], self._of_group[group_id][partition]
        if not self._loaded[partition]:
            del self._loaded[partition]
        if not self._of_group[group_id]:
            del self._of_group[group_id]
        loaded.active = False
        self._cluster.timers.cancel(loaded)
        self._cluster.wake(loaded)

    def leader_changed(self, partition: Partition) -> None:
        """Unloads the share partitions of a partition that this broker no longer leads."""
        if partition.leader != self._node_id:
            for loaded in list(self._loaded.get(partition, {}).values()):
                self._unload(loaded)

    def clear(self) -> None:
        """Removes everything, because the broker stops."""
        for partition in list(self._loaded):
            for loaded in list(self._loaded[partition].values()):
                self._unload(loaded)
        self.sessions = ShareSessions(self.sessions.limit)
        self._left.clear()

    # Acknowledging

    def acknowledge(
        self, member_id: str, group_id: str, partition: Partition, acknowledgements: Iterable[Acknowledgement]
    ) -> Callable[[], None]:
        """Ends or renews acquisitions of a member. The records that it releases become available when the returned function is called.

        Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION if the share partition is not loaded, or as `SharePartition.acknowledge` does.
        """
        loaded = self.get(group_id, partition)
        if loaded is None:
            raise KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "The share partition is not loaded on this broker.")
        try:
            changes = loaded.records.acknowledge(member_id, acknowledgements, self._cluster.timers.now_ms)
        except KafkaError as error:
            self._unload_after(loaded, error)
            raise
        return partial(self._commit, loaded, changes)

    def _commit(self, loaded: LoadedPartition, changes: AcquisitionEnds) -> None:
        changes.commit()
        self.changed(loaded)

    def _unload_after(self, loaded: LoadedPartition, error: KafkaError) -> None:
        if error.code in _UNLOADING:
            self._unload(loaded)

    def changed(self, loaded: LoadedPartition, *, wakes: bool = True) -> None:
        """Sets the timer of a share partition whose records have changed, and wakes the requests that wait for it."""
        alarm_ms, timers = loaded.records.alarm_ms, self._cluster.timers
        if alarm_ms is not None and (loaded not in timers or alarm_ms < loaded.timer_ms):
            loaded.timer_ms = alarm_ms
            timers.set(loaded, max(0, alarm_ms - timers.now_ms), partial(self._expire, loaded))
        if wakes:
            self._cluster.wake(loaded)

    def _expire(self, loaded: LoadedPartition) -> None:
        self.changed(loaded, wakes=loaded.records.expire(self._cluster.timers.now_ms))

    # Sessions

    def open_session(self, key: SessionKey, partitions: Iterable[tuple[PartitionKey, str]], connection_id: int) -> ShareSession:
        """Opens a session in place of a former one. Raises KafkaError as `ShareSessions.open` does."""
        try:
            return self.sessions.open(key, partitions, connection_id)
        finally:
            self._unload_unused(key.group_id)

    def end_session(self, key: SessionKey) -> None:
        """Removes a session and releases the records of its member. Raises KafkaError with SHARE_SESSION_NOT_FOUND."""
        session = self.sessions.get(key)
        self.sessions.remove(key)
        self._release(session)
        before = self._left.get(session.connection_id, key.group_id)
        self._left[session.connection_id] = key.group_id
        if before != key.group_id:
            self._unload_unused(before)

    def _release(self, session: ShareSession) -> None:
        for topic_id, index in session.partitions:
            topic = self._cluster.topics_by_id.get(topic_id)
            partition = topic.partition(index) if topic is not None else None
            loaded = self.get(session.key.group_id, partition) if partition is not None else None
            if loaded is None:
                continue
            try:
                loaded.records.release(session.key.member_id)
            except KafkaError as error:
                log.info("the records of %s in %s were not released: %s", session.key.member_id, loaded.key.text, error.code.name)
                self._unload_after(loaded, error)
            else:
                self.changed(loaded)

    def disconnected(self, connection_id: int) -> None:
        """Ends the sessions of a closed connection."""
        for key in self.sessions.of_connection(connection_id):
            self.end_session(key)
        group_id = self._left.pop(connection_id, None)
        if group_id is not None:
            self._unload_unused(group_id)

    def _unload_unused(self, group_id: str) -> None:
        """Unloads the share partitions of a group without sessions."""
        if not self.sessions.has_group(group_id):
            for partition in list(self._of_group.get(group_id, ())):
                self._unload(self._loaded[partition][group_id])


def _as_seen_by_clients(error: KafkaError) -> KafkaError:
    """Returns the error that clients get for an error of the share coordinator (SharePartition.fetchPersisterError)."""
    if error.code in _RETRY:
        return KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE, error.message)
    if error.code in _FENCED:
        return KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER, error.message)
    return error if error.code in _KEPT else KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, error.message)


_DURATION = re.compile(r"by_duration:P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?")
_SECONDS = (86_400, 3_600, 60, 1)


def initial_start_offset(partition: Partition, reset: str, now_ms: int) -> int:
    """Returns the first offset for `earliest`, `latest` or `by_duration:` followed by an ISO 8601 duration.

    For a duration, it is that of the first record that is not older. Raises KafkaError with OFFSET_NOT_AVAILABLE if there is none.
    """
    if reset == "earliest":
        return partition.log.start_offset
    duration = _DURATION.fullmatch(reset)
    if duration is None:
        return partition.high_watermark
    seconds = sum(float(number or 0) * factor for number, factor in zip(duration.groups(), _SECONDS, strict=True))
    _, offset = first_at(partition.log, now_ms - int(seconds * 1000))
    if not 0 <= offset < partition.high_watermark:
        raise KafkaError(ErrorCode.OFFSET_NOT_AVAILABLE)
    return offset
