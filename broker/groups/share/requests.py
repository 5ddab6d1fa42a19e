"""ShareGroupHeartbeat, AlterShareGroupOffsets and DeleteShareGroupOffsets, for all groups.

Kafka's group coordinator initializes and deletes the states of share partitions by requests to the share coordinator, which it sends after
a heartbeat has been answered. Here the states are changed at the end of the same request (`ClusterView.share_states`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from ....protocol.errors import ErrorCode, KafkaError
from ...kafka_quirks.java_uuid import uuid_text
from ...scheduling.savepoint import reverted_on_failure
from ...topics.partition import Topic
from .. import log
from ..cluster_view import UNINITIALIZED_START_OFFSET
from ..table import GroupTable
from .group import ShareGroup
from .heartbeat import LEAVE_EPOCH, ShareHeartbeat, ShareHeartbeatResult
from .initialization import Partitions, TopicInitialization
from .records import share_tombstones


class DeletedOffsets(NamedTuple):
    """The result of DeleteShareGroupOffsets for one topic, which may not exist. `error` is None if the offsets are deleted."""

    name: str
    topic: Topic | None
    error: KafkaError | None


class ShareRequests:
    """The requests of members and administrators of share groups."""

    def __init__(self, table: GroupTable) -> None:
        self._table = table

    def heartbeat(self, group_id: str, heartbeat: ShareHeartbeat) -> ShareHeartbeatResult:
        """Handles the heartbeat of a member that joins, continues or leaves. The first member creates the group. Raises KafkaError."""
        group = self._table.get(group_id)
        if not isinstance(group, ShareGroup):
            if heartbeat.epoch != 0:
                self._table.check_former(group_id, heartbeat.member_id)
            if group is None and heartbeat.epoch > 0:
                raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Share group {group_id} not found.")
            group = self._table.new_share_group(group_id) if group is None and heartbeat.epoch == 0 else self.find(group_id)
        if group.only_renews_session(heartbeat):
            return group.renew_by_heartbeat(heartbeat)
        with self._step(group, heartbeat.member_id):
            result = group.heartbeat(heartbeat)
            missing = {} if heartbeat.epoch == LEAVE_EPOCH else group.uninitialized_partitions()
            if missing:
                group.begin_initialization(missing)
            self._table.write_share(group)
        if self._table.get(group_id) is None:
            self._table.store(group)
        self._initialize(group, missing)
        return result

    def find(self, group_id: str) -> ShareGroup:
        """Returns a share group. Raises KafkaError with GROUP_ID_NOT_FOUND."""
        group = self._table.get(group_id)
        if not isinstance(group, ShareGroup):
            reason = "not found" if group is None else "is not a share group"
            raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, f"Group {group_id} {reason}.")
        return group

    def _initialize(self, group: ShareGroup, partitions: Mapping[bytes, TopicInitialization]) -> None:
        """Stores the states of partitions. If one cannot be stored, all are tried again with a later heartbeat, as in Kafka."""
        if not partitions:
            return
        states = self._table.cluster.share_states
        with self._step(group):
            try:
                for topic_id, each in partitions.items():
                    for index in sorted(each.indexes):
                        states.initialize(group.group_id, topic_id, index, UNINITIALIZED_START_OFFSET, group.epoch)
                group.initialization.complete(partitions)
            except KafkaError as error:
                log.error("Group %s: share partitions cannot be initialized: %s", group.group_id, error)
                group.initialization.cancel(partitions)
            group.partitions_changed()
            self._table.write_share(group)

    # Offsets

    def initialized_partitions(self, group_id: str) -> Partitions:
        """Returns the initialized partitions of a group; none if it does not exist or is not a share group."""
        group = self._table.get(group_id)
        return group.initialization.assignable if isinstance(group, ShareGroup) else {}

    def alter_offsets(self, group_id: str, offsets: Mapping[str, Mapping[int, int]]) -> dict[tuple[str, int], KafkaError]:
        """Sets start offsets by topic, which must exist, and partition. Creates the group if it does not exist.

        Returns the errors of single partitions. Raises KafkaError if the group has members or is not a share group, or if a number of a
        partition is negative.
        """
        table, existing = self._table, self._table.cluster.topics
        group = self._table.new_share_group(group_id) if table.get(group_id) is None else self.find(group_id)
        if error := group.check_delete():
            raise KafkaError(error)
        for name, partitions in offsets.items():
            _check_numbers(group_id, existing[name], partitions)
        errors = {
            (name, index): KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
            for name, partitions in offsets.items()
            for index in partitions
            if index >= len(existing[name].partitions)
        }
        now_ms = table.timers.now_ms
        known = {
            existing[name].id: TopicInitialization(name, frozenset(index for index in partitions if (name, index) not in errors), now_ms)
            for name, partitions in offsets.items()
        }
        is_new = table.get(group_id) is None
        if any(each.indexes for each in known.values()) or (known and is_new):
            with self._step(group):
                group.begin_initialization(known)
                self._table.write_share(group)
            if is_new:
                table.store(group)
            errors |= self._set_offsets(group, known, offsets)
        return errors

    def _set_offsets(
        self, group: ShareGroup, partitions: Mapping[bytes, TopicInitialization], offsets: Mapping[str, Mapping[int, int]]
    ) -> dict[tuple[str, int], KafkaError]:
        states, errors = self._table.cluster.share_states, {}
        with self._step(group):
            for topic_id, each in partitions.items():
                for index in sorted(each.indexes):
                    try:
                        states.set_start_offset(group.group_id, topic_id, index, offsets[each.name][index], group.epoch)
                    except KafkaError as error:
                        errors[each.name, index] = error
            if not errors and any(each.indexes for each in partitions.values()):
                group.initialization.complete(partitions)
                group.partitions_changed()
                self._table.write_share(group)
        return errors

    def delete_offsets(self, group_id: str, names: Iterable[str]) -> list[DeletedOffsets]:
        """Deletes the states of topics. Raises KafkaError if the group does not exist, has members or is not a share group."""
        group, cluster = self.find(group_id), self._table.cluster
        if error := group.check_delete():
            raise KafkaError(error)
        if not group.initialization.is_known:
            return []
        found, refused = self._deletable(group, names)
        if not found:
            return refused
        with self._step(group):
            group.initialization.begin_deletion(found)
            group.partitions_changed()
            self._table.write_share(group)
        results, deleted = [], []
        for topic_id, indexes in found.items():
            topic = cluster.topics_by_id[topic_id]
            failure = self._delete_states(group_id, {topic_id: indexes})
            results.append(DeletedOffsets(topic.name, topic, failure))
            if failure is None:
                deleted.append(topic_id)
        if deleted:
            with self._step(group):
                group.initialization.complete_deletion(deleted)
                group.partitions_changed()
                self._table.write_share(group)
        return refused + results

    def _deletable(self, group: ShareGroup, names: Iterable[str]) -> tuple[dict[bytes, frozenset[int]], list[DeletedOffsets]]:
        """Returns the partitions whose state is or may be stored, by topic id, and the results of the other topics."""
        found: dict[bytes, frozenset[int]] = {}
        refused = []
        unknown = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        nothing = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, "There is no offset information to delete.")
        for name in names:
            topic = self._table.cluster.topics.get(name)
            if topic is None:
                refused.append(DeletedOffsets(name, None, unknown))
            elif topic.id in group.initialization.initialized and topic.id not in found:
                found[topic.id] = group.initialization.initialized[topic.id].indexes
            elif topic.id in group.initialization.deleting or topic.id in found:
                found[topic.id] = frozenset(range(len(topic.partitions)))
            else:
                refused.append(DeletedOffsets(name, None, nothing))
        return found, refused

    def _delete_states(self, group_id: str, partitions: Partitions) -> KafkaError | None:
        try:
            for topic_id, indexes in partitions.items():
                for index in sorted(indexes):
                    self._table.cluster.share_states.delete(group_id, topic_id, index)
        except KafkaError as error:
            log.error("Group %s: states of share partitions cannot be deleted: %s", group_id, error)
            return error
        return None

    # Deletion

    def delete(self, group: ShareGroup) -> ErrorCode:
        """Deletes the states of a group without members and writes its tombstones. Returns an error if a state cannot be deleted."""
        if group.initialization.is_known:
            with self._step(group):
                states = group.initialization.begin_deletion_of_all(self._table.cluster.topics_by_id)
                group.partitions_changed()
                self._table.write_share(group)
            if error := self._delete_states(group.group_id, states):
                return error.code
        self._table.cluster.write(group.group_id, share_tombstones(group))
        return ErrorCode.NONE

    def topic_deleted(self, topic_id: bytes) -> None:
        """Removes a deleted topic from the share partitions of all groups. The share coordinator deletes their states itself."""
        for group in [each for each in self._table.share_groups.values() if each.initialization.knows(topic_id)]:
            with self._step(group):
                group.initialization.forget([topic_id])
                group.partitions_changed()
                self._table.write_share(group)

    @contextmanager
    def _step(self, group: ShareGroup, member_id: str = "") -> Iterator[None]:
        member = group.members.get(member_id)
        with reverted_on_failure(self._table.timers, *group.parts, *([member] if member else [])):
            yield


def _check_numbers(group_id: str, topic: Topic, partitions: Iterable[int]) -> None:
    """Raises the KafkaError with which Apache Kafka's share coordinator refuses the whole request if a number is negative.

    Kafka's group coordinator has written the number by then, so that the first DeleteGroups of the group fails there. Here nothing is
    written.
    """
    if negative := [index for index in partitions if index < 0]:
        text = f"Initialize share group parameters has invalid partitionId - {group_id} {uuid_text(topic.id)} {negative[0]}"
        raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR, text)
