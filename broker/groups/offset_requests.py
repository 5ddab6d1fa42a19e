"""The committed offsets of all groups: OffsetCommit, OffsetFetch, OffsetDelete, TxnOffsetCommit and the end of transactions.

Each change is written to `__consumer_offsets` before it takes effect. Handlers call a `check_` method first, which returns an error code.

Offsets expire (KIP-211, Kafka's OffsetExpirationCondition). An offset that was committed with a retention time (OffsetCommit v2 to v4)
expires at that time. Any other offset expires offsets.retention.minutes after the group has stopped using it. That is the time of the
commit if the group never had members or if no member subscribes to the topic, and the time when the group became empty if it is an empty
classic group. Offsets of a group that may still use them do not expire.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from math import inf

from ...protocol.errors import ErrorCode
from ...protocol.schema import ZERO_UUID
from ..plurals import counted
from ..scheduling.waiting import NEXT_TURN, Background
from ..transactions.transaction import Producer
from . import log
from .classic.group import ClassicGroup
from .classic.messages import CONSUMER_PROTOCOL_TYPE
from .consumer.assignors import Slot
from .offsets import CommittedOffset, CommittedOffsetIndex, CommittedOffsets, offset_record
from .settings import GroupSettings
from .states import GroupState
from .table import Group, GroupTable


class OffsetRequests:
    """The committed offsets of all groups."""

    def __init__(self, table: GroupTable) -> None:
        self._table = table
        self._offsets: dict[str, CommittedOffsets] = {}
        self._index = CommittedOffsetIndex()
        self._unexpired_until_ms: dict[str, int] = {}
        """Times before which no offset of a group expires, so that `expire` need not look at them."""

    def of(self, group_id: str) -> CommittedOffsets:
        """Returns the offsets of a group; without any, a new empty object that is not stored."""
        return self._offsets.get(group_id) or CommittedOffsets()

    def group_ids(self) -> list[str]:
        """Returns the ids of the groups that have offsets."""
        return [group_id for group_id, offsets in self._offsets.items() if offsets]

    # OffsetCommit and OffsetFetch

    def check_commit(
        self,
        group_id: str,
        member_id: str,
        group_instance_id: str | None,
        generation_id: int,
        slots: Iterable[Slot] = (),
        *,
        supports_member_epochs: bool = True,
    ) -> ErrorCode:
        """Returns NONE if offsets may be committed, otherwise an error. A request without a generation may create the group."""
        group = self._table.get(group_id)
        if group is None:
            return self._missing_group(group_id) if generation_id >= 0 else ErrorCode.NONE
        if isinstance(group, ClassicGroup):
            return group.check_commit(member_id, group_instance_id, generation_id)
        return group.check_commit(member_id, generation_id, slots, supports_member_epochs)

    def _missing_group(self, group_id: str) -> ErrorCode:
        """Returns the error for a member of a group that does not exist; if a restored state lacks the group, the member joins again."""
        return ErrorCode.UNKNOWN_MEMBER_ID if group_id in self._table.former_epochs else ErrorCode.GROUP_ID_NOT_FOUND

    def check_fetch(self, group_id: str, member_id: str | None, epoch: int) -> ErrorCode:
        """Returns NONE if offsets may be read, otherwise an error. Classic groups do not check the member."""
        group = self._table.get(group_id)
        return ErrorCode.NONE if group is None or isinstance(group, ClassicGroup) else group.check_fetch(member_id, epoch)

    def check_metadata(self, metadata: str) -> ErrorCode:
        """Returns OFFSET_METADATA_TOO_LARGE if the metadata has too many UTF-16 code units, which Java counts as characters."""
        length = len(metadata) if metadata.isascii() else len(metadata.encode("utf-16-le")) // 2
        return ErrorCode.OFFSET_METADATA_TOO_LARGE if length > self._table.settings.offset_metadata_max_bytes else ErrorCode.NONE

    def commit(self, group_id: str, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        """Commits offsets by (topic, partition), after `check_commit` and `check_metadata`. Creates the group if there is none."""
        topics, release = self._table.cluster.topics, self._table.cluster.release
        records = [
            offset_record(group_id, topic, partition, committed, topics[topic].id if topic in topics else ZERO_UUID, release)
            for (topic, partition), committed in offsets.items()
        ]
        self._table.cluster.write(group_id, records)
        self._table.ensure_group(group_id)
        kept = self._offsets.setdefault(group_id, CommittedOffsets())
        for (topic, partition), committed in offsets.items():
            kept.commit(topic, partition, committed)
            self._index.add(group_id, topic)
            if committed.expire_timestamp_ms is not None:  # it may be earlier than the expiry of the commits before
                self._unexpired_until_ms.pop(group_id, None)

    def load(self, group_id: str, topic: str, partition: int, committed: CommittedOffset | None, producer_id: int | None = None) -> None:
        """Applies a record of `__consumer_offsets`: a commit, its deletion (None), or with a producer a commit of its transaction."""
        kept = self._offsets.setdefault(group_id, CommittedOffsets())
        if committed is None:
            kept.delete(topic, partition)
        elif producer_id is None:
            kept.commit(topic, partition, committed)
            self._index.add(group_id, topic)
        else:
            kept.pending.add(producer_id, topic, partition, committed)
            self._index.add(group_id, topic, producer_id)

    # TxnOffsetCommit and EndTxn

    def check_transactional_commit(
        self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int, slots: Iterable[Slot]
    ) -> ErrorCode:
        """Returns NONE if offsets may be committed in a transaction (KIP-447), otherwise an error.

        A request without a generation may create the group.
        """
        group = self._table.get(group_id)
        if group is None:
            return ErrorCode.ILLEGAL_GENERATION if generation_id >= 0 else ErrorCode.NONE
        if isinstance(group, ClassicGroup):
            return group.check_transactional_commit(member_id, group_instance_id, generation_id)
        if group.type == "share":
            return ErrorCode.GROUP_ID_NOT_FOUND
        if generation_id == -1 and not member_id and group_instance_id is None:
            return ErrorCode.NONE
        error = group.check_commit(member_id, generation_id, slots, supports_member_epochs=True)
        return ErrorCode.ILLEGAL_GENERATION if error is ErrorCode.STALE_MEMBER_EPOCH else error

    def commit_in_transaction(self, group_id: str, producer: Producer, offsets: Mapping[tuple[str, int], CommittedOffset]) -> None:
        """Stores offsets by (topic, partition) until the producer's transaction ends, after `check_transactional_commit`.

        Raises StaleProducerEpoch.
        """
        release = self._table.cluster.release
        records = [
            offset_record(group_id, topic, partition, committed, release=release) for (topic, partition), committed in offsets.items()
        ]
        self._table.cluster.write(group_id, records, producer)
        self._table.ensure_group(group_id)
        pending = self._offsets.setdefault(group_id, CommittedOffsets()).pending
        for (topic, partition), committed in offsets.items():
            pending.add(producer.id, topic, partition, committed)
            self._index.add(group_id, topic, producer.id)

    def groups_in_transaction(self, producer_id: int) -> list[str]:
        """Returns the ids of the groups that have offsets in the open transaction of a producer."""
        waiting = []
        for group_id in self._index.in_transaction_of(producer_id):
            if producer_id in self.of(group_id).pending:
                waiting.append(group_id)
            else:  # The offsets were deleted, with their topic for example.
                self._index.remove_producer(group_id, producer_id)
        return waiting

    def end_transaction(self, group_id: str, producer_id: int, *, committed: bool) -> None:
        """Commits or discards the offsets of a group that are part of a producer's transaction."""
        offsets = self._offsets[group_id]
        topics = offsets.end_transaction(producer_id, committed=committed)
        self._index.remove_producer(group_id, producer_id)
        self._remove_unused_from_index(group_id, offsets, topics)

    # Deletion

    def check_delete(self, group_id: str) -> ErrorCode:
        """Returns NON_EMPTY_GROUP if the group has members whose subscriptions the broker cannot read, NONE if OffsetDelete is allowed."""
        group = self._table.get(group_id)
        if group is None or group.type == "share":
            return ErrorCode.GROUP_ID_NOT_FOUND
        may = not isinstance(group, ClassicGroup) or group.is_empty or group.protocol_type == CONSUMER_PROTOCOL_TYPE
        return ErrorCode.NONE if may else ErrorCode.NON_EMPTY_GROUP

    def delete(self, group_id: str, topic: str, partition: int) -> ErrorCode:
        """Deletes the offset of one partition, after `check_delete`. Returns GROUP_SUBSCRIBED_TO_TOPIC if a member uses the topic."""
        group = self._table.get(group_id)
        if group is not None and not group.is_empty and group.subscribes_to(topic):
            return ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC
        self._delete(group_id, [(topic, partition)])
        return ErrorCode.NONE

    def delete_all(self, group_id: str) -> None:
        """Deletes the committed offsets of a group, whatever its members use."""
        self._delete(group_id, [(topic, index) for topic, partitions in self.of(group_id) for index in partitions])

    def topic_deleted(self, topic: str) -> None:
        """Deletes the offsets of a deleted topic in all groups."""
        deque(self.forget_topic(topic), maxlen=0)

    def forget_topic(self, topic: str) -> Background:
        """Deletes the offsets of a topic, and yields after each group."""
        for group_id in self._index.with_offsets_of(topic):
            offsets = self.of(group_id)
            offsets.pending.delete(topic)
            self._delete(group_id, [(topic, index) for index in offsets.partitions(topic)])
            self._remove_unused_from_index(group_id, offsets, [topic])
            yield NEXT_TURN

    def expire(self, group_id: str) -> None:
        """Deletes the offsets of a group that have expired."""
        table, group, offsets = self._table, self._table.get(group_id), self.of(group_id)
        assert group is not None and group.type != "share"  # noqa: S101  (it narrows a type)
        expired = offsets.expired_partitions(partial(has_expired, group, table.timers.now_ms, table.settings))
        self._delete(group_id, expired)
        if expired:
            log.info("Group %s: %s expired", group_id, counted(len(expired), "offset has", "offsets have"))
        if len(offsets):
            commits = (committed for _, partitions in offsets for committed in partitions.values())
            self._unexpired_until_ms[group_id] = earliest_expiry_ms(group, table.settings, commits)

    def may_expire(self, group_id: str, now_ms: int) -> bool:
        """Returns whether the group has offsets that may have expired by now, or has no offsets."""
        return self._unexpired_until_ms.get(group_id, now_ms) <= now_ms

    def next_expiry_ms(self, group: Group) -> float:
        """Returns a time before which `expire` changes nothing if the group stays as it is, 0 if the group is unused."""
        offsets, table = self.of(group.group_id), self._table
        if not len(offsets):
            return 0 if group.is_empty and not offsets else inf
        known_ms = self._unexpired_until_ms.get(group.group_id, 0)
        if known_ms > table.timers.now_ms:
            return known_ms
        commits = ((topic, committed) for topic, partitions in offsets for committed in partitions.values())
        return min(expiry_ms(group, table.settings, topic, committed) for topic, committed in commits)

    def reload(self) -> None:
        """Applies a changed retention time."""
        self._unexpired_until_ms.clear()

    def forget_group(self, group_id: str) -> None:
        """Removes all offsets of a deleted group; their tombstones have been written."""
        self._unexpired_until_ms.pop(group_id, None)
        for topic in (self._offsets.pop(group_id, None) or CommittedOffsets()).topics():
            self._index.remove_topic(group_id, topic)

    def _delete(self, group_id: str, partitions: Iterable[tuple[str, int]]) -> None:
        offsets, partitions = self.of(group_id), list(partitions)
        tombstones = [offset_record(group_id, *each, None) for each in partitions if offsets.get(*each) is not None]
        if tombstones:
            self._table.cluster.write(group_id, tombstones)
        for each in partitions:
            offsets.delete(*each)
        self._remove_unused_from_index(group_id, offsets, dict.fromkeys(topic for topic, _ in partitions))

    def _remove_unused_from_index(self, group_id: str, offsets: CommittedOffsets, topics: Iterable[str]) -> None:
        self._unexpired_until_ms.pop(group_id, None)
        for topic in topics:
            if not offsets.concerns(topic):
                self._index.remove_topic(group_id, topic)


def has_expired(group: Group, now_ms: int, settings: GroupSettings, topic: str, committed: CommittedOffset) -> bool:
    return now_ms >= expiry_ms(group, settings, topic, committed)


def expiry_ms(group: Group, settings: GroupSettings, topic: str, committed: CommittedOffset) -> float:
    """Returns the time at which an offset expires if the group stays as it is, `inf` if the group may still use the offset."""
    unused_since_ms = _unused_since_ms(group, topic, committed)
    if unused_since_ms is None:
        return inf
    if committed.expire_timestamp_ms is not None:
        return committed.expire_timestamp_ms
    return unused_since_ms + settings.offsets_retention_minutes * 60_000


def _unused_since_ms(group: Group, topic: str, committed: CommittedOffset) -> int | None:
    """Returns the time at which the retention time begins; None if the group may still use the offset."""
    if not isinstance(group, ClassicGroup):
        return None if group.subscribes_to(topic) else committed.commit_timestamp_ms
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.state is GroupState.EMPTY:
        return group.empty_since_ms
    is_consumer = group.protocol_type == CONSUMER_PROTOCOL_TYPE
    if is_consumer and group.state is GroupState.STABLE and not group.subscribes_to(topic):
        return committed.commit_timestamp_ms
    return None


def earliest_expiry_ms(group: Group, settings: GroupSettings, commits: Iterable[CommittedOffset]) -> int:
    """Returns a time before which none of the commits expires, whatever becomes of the group until then.

    The group may be used longer, which moves the expiry to a later time, but it cannot have been empty for longer than it is now.
    """
    empty_since_ms = group.empty_since_ms if isinstance(group, ClassicGroup) and group.state is GroupState.EMPTY else sys.maxsize
    retention_ms = settings.offsets_retention_minutes * 60_000
    return min(
        min(each.commit_timestamp_ms, empty_since_ms) + retention_ms if each.expire_timestamp_ms is None else each.expire_timestamp_ms
        for each in commits
    )
