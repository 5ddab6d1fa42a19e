"""All groups of a cluster by name, and the offsets that they have committed: what Kafka's group coordinator keeps.

Every group is a classic one so far. An answer that has to wait goes to the `Reply` that came with the request.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from functools import partial

from ...protocol.errors import ErrorCode
from ..timers import Timers
from ..waiting import Reply
from .classic import CONSUMER_PROTOCOL_TYPE, ClassicGroup, GroupState, log
from .member import Join, JoinResult, Leave, Sync, SyncResult
from .offsets import CommittedOffset, CommittedOffsets
from .settings import GroupSettings

__all__ = ["GroupSettings", "Groups"]

_RETENTION_TIMER = "offsets retention"


class Groups:
    """The groups of a cluster. Member ids are made with `randomness`, time-outs are kept in `timers`."""

    def __init__(self, timers: Timers, randomness: random.Random, settings: GroupSettings) -> None:
        self._timers, self._random, self._settings = timers, randomness, settings
        self._groups: dict[str, ClassicGroup] = {}
        self._offsets: dict[str, CommittedOffsets] = {}

    def __iter__(self) -> Iterator[ClassicGroup]:
        return iter(self._groups.values())

    def get(self, group_id: str) -> ClassicGroup | None:
        """The group of that name."""
        return self._groups.get(group_id)

    # Membership.

    def join(self, group_id: str, join: Join, reply: Reply[JoinResult]) -> None:
        """JoinGroup. Only who asks for a member id makes a new group."""
        if not group_id:
            reply.set(JoinResult(ErrorCode.INVALID_GROUP_ID, join.member_id))
        elif not self._settings.group_min_session_timeout_ms <= join.session_timeout_ms <= self._settings.group_max_session_timeout_ms:
            reply.set(JoinResult(ErrorCode.INVALID_SESSION_TIMEOUT, join.member_id))
        elif join.member_id and group_id not in self._groups:
            reply.set(JoinResult(ErrorCode.UNKNOWN_MEMBER_ID, join.member_id))
        else:
            self._get_or_create(group_id).join(join, reply)

    def sync(self, group_id: str, sync: Sync, reply: Reply[SyncResult]) -> None:
        """SyncGroup."""
        group = self._with_members(group_id)
        if group is None:
            reply.set(SyncResult(_missing(group_id)))
        else:
            group.sync(sync, reply)

    def heartbeat(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Heartbeat."""
        group = self._with_members(group_id)
        return _missing(group_id) if group is None else group.heartbeat(member_id, group_instance_id, generation_id)

    def leave(self, group_id: str, leaves: Sequence[Leave]) -> list[ErrorCode]:
        """LeaveGroup: an error for each of `leaves`."""
        group = self._with_members(group_id)
        return [_missing(group_id)] * len(leaves) if group is None else group.leave(leaves)

    def delete(self, group_id: str) -> ErrorCode:
        """DeleteGroups, for one group: it goes with its offsets."""
        group = self._groups.get(group_id)
        if group is None:
            return ErrorCode.GROUP_ID_NOT_FOUND
        if error := group.delete():
            return error
        del self._groups[group_id]
        self._offsets.pop(group_id, None)
        log.info("Group %s is deleted", group_id)
        return ErrorCode.NONE

    def _with_members(self, group_id: str) -> ClassicGroup | None:
        """A group that may have members: the one without a name only stores offsets."""
        return self._groups.get(group_id) if group_id else None

    # Offsets.

    def check_commit(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Whether offsets may be committed. Who names no generation, as consumers without a group do, makes the group if need be."""
        group = self._groups.get(group_id)
        if group is None and generation_id >= 0:
            return ErrorCode.GROUP_ID_NOT_FOUND
        return self._get_or_create(group_id).check_commit(member_id, group_instance_id, generation_id)

    def commit(
        self, group_id: str, topic: str, partition: int, offset: int, leader_epoch: int, metadata: str, retention_time_ms: int | None = None
    ) -> ErrorCode:
        """Commits one offset, after `check_commit` has allowed it: OFFSET_METADATA_TOO_LARGE if `metadata` is too long."""
        if len(metadata) > self._settings.offset_metadata_max_bytes:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        now_ms = self._timers.now_ms
        expire_ms = None if retention_time_ms is None else now_ms + retention_time_ms
        committed = CommittedOffset(offset, leader_epoch, metadata, now_ms, expire_ms)
        self._offsets.setdefault(group_id, CommittedOffsets()).commit(topic, partition, committed)
        return ErrorCode.NONE

    def check_transactional_commit(self, group_id: str, member_id: str, group_instance_id: str | None, generation_id: int) -> ErrorCode:
        """Whether offsets may be committed with a transaction (KIP-447). Who names no generation makes the group if need be."""
        group = self._groups.get(group_id)
        if group is None and generation_id >= 0:
            return ErrorCode.ILLEGAL_GENERATION
        return self._get_or_create(group_id).check_transactional_commit(member_id, group_instance_id, generation_id)

    def commit_in_transaction(
        self, group_id: str, producer_id: int, topic: str, partition: int, offset: int, leader_epoch: int, metadata: str
    ) -> ErrorCode:
        """Keeps one offset until the producer's transaction ends, after `check_transactional_commit` has allowed it."""
        if len(metadata) > self._settings.offset_metadata_max_bytes:
            return ErrorCode.OFFSET_METADATA_TOO_LARGE
        committed = CommittedOffset(offset, leader_epoch, metadata, self._timers.now_ms)
        self._offsets.setdefault(group_id, CommittedOffsets()).pending.add(producer_id, topic, partition, committed)
        return ErrorCode.NONE

    def waiting_for(self, producer_id: int) -> list[str]:
        """The groups that have offsets in the open transaction of a producer."""
        return [group_id for group_id, offsets in self._offsets.items() if producer_id in offsets.pending]

    def end_transaction(self, group_id: str, producer_id: int, *, committed: bool) -> None:
        """Commits or forgets the offsets of a group that were waiting for a producer's transaction."""
        self._offsets[group_id].end_transaction(producer_id, committed=committed)

    def offsets(self, group_id: str) -> CommittedOffsets:
        """What a group has committed; nothing, if there is no such group."""
        return self._offsets.get(group_id) or CommittedOffsets()

    def topic_deleted(self, topic: str) -> None:
        """Forgets what was committed for a topic that is no more."""
        for offsets in self._offsets.values():
            offsets.delete_topic(topic)

    # Retention.

    def _get_or_create(self, group_id: str) -> ClassicGroup:
        if group_id not in self._groups:
            self._groups[group_id] = ClassicGroup(group_id, self._timers, self._random, self._settings)
            if _RETENTION_TIMER not in self._timers:
                self._set_retention_timer()
        return self._groups[group_id]

    def _set_retention_timer(self) -> None:
        self._timers.set(_RETENTION_TIMER, self._settings.offsets_retention_check_interval_ms, self._expire_offsets)

    def _expire_offsets(self) -> None:
        """Forgets offsets whose time is over, and groups that have neither offsets nor members left."""
        for group_id, group in list(self._groups.items()):
            offsets = self.offsets(group_id)
            expired = offsets.expire(partial(self._is_expired, group))
            if expired:
                log.info("Group %s: %d offsets have expired", group_id, expired)
            if not offsets and group.state is GroupState.EMPTY:
                self.delete(group_id)
        if self._groups:
            self._set_retention_timer()

    def _is_expired(self, group: ClassicGroup, topic: str, committed: CommittedOffset) -> bool:
        """By the rules of KIP-211, which `offsets.retention.minutes` count from where `_kept_since_ms` says."""
        since_ms = _kept_since_ms(group, topic, committed)
        if since_ms is None:
            return False
        if committed.expire_timestamp_ms is not None:
            return self._timers.now_ms >= committed.expire_timestamp_ms
        return self._timers.now_ms - since_ms >= self._settings.offsets_retention_minutes * 60_000


def _missing(group_id: str) -> ErrorCode:
    return ErrorCode.UNKNOWN_MEMBER_ID if group_id else ErrorCode.INVALID_GROUP_ID


def _kept_since_ms(group: ClassicGroup, topic: str, committed: CommittedOffset) -> int | None:
    """From when on the time of a commit runs; None as long as the group may still want it."""
    if group.protocol_type is None:
        return committed.commit_timestamp_ms
    if group.state is GroupState.EMPTY:
        return group.empty_since_ms
    is_consumer = group.protocol_type == CONSUMER_PROTOCOL_TYPE
    if is_consumer and group.state is GroupState.STABLE and not group.subscribes_to(topic):
        return committed.commit_timestamp_ms
    return None
