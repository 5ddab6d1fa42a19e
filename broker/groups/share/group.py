"""A share group (KIP-932): members only send heartbeats, and the broker assigns partitions, each of which several members may share.

The epochs are those of a consumer group: `ShareGroup.epoch` grows when members join, leave or subscribe to other topics, when topics or
partitions are created or deleted, and when partitions have been initialized; `assignment_epoch` is the epoch of the target assignment.
Because members share partitions, no member waits until another one has given a partition up: each heartbeat moves its member to the target
assignment at once.

A heartbeat passes through these steps:

1. `heartbeat` finds the member, or creates it if its epoch is 0, and checks its epoch.
2. `_update` stores the member's metadata and begins a new group epoch if topics have changed or initialized partitions lack members.
3. `_assign_if_due` computes the target assignment of all initialized partitions (`assignor`), at most once per
   share.assignment.interval.ms.
4. `_reconcile` gives the member its target assignment.

All changes are marked in `journal`, from which `records` builds the records for `__consumer_offsets`. `requests` initializes partitions
after the heartbeat, so that a new group's first heartbeat assigns none, as in Kafka. The rules are those of Kafka's ShareGroup and
GroupMetadataManager.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from typing import Literal

from ....protocol.errors import ErrorCode
from ....protocol.stored.coordinator_records import RecordType
from ...kafka_quirks.java_hash import hash_map_order, timeline_order
from ...plurals import counted
from ...scheduling.revertible import RevertibleDict
from ...scheduling.timers import Timers
from ..cluster_view import ClusterView
from ..consumer.assignors import Slot
from ..heartbeat_group import HeartbeatGroup, Journal
from ..settings import GroupSettings
from ..states import ShareGroupState
from .assignor import NO_PARTITIONS, Assignment, Subscriber, simple
from .heartbeat import LEAVE_EPOCH, ShareHeartbeat, ShareHeartbeatResult
from .initialization import NO_INDEXES, Initialization, TopicInitialization
from .member import ShareMember
from .subscriptions import Subscriptions

FIRST_EPOCH = 1
"""The epoch of a group without members; the first member to join begins the next one."""
MIN_RETRY_MS = 5_000
"""The lower bound of group.share.initialize.retry.interval.ms, which is the default of offsets.commit.timeout.ms."""


class ShareGroup(HeartbeatGroup[ShareMember]):
    """One share group. `remove_member` is called with the group and a member that leaves or expires, and removes it by `remove`."""

    type: Literal["share"] = "share"
    protocol_type = "share"
    epoch: int
    members: RevertibleDict[str, ShareMember]

    def __init__(
        self,
        group_id: str,
        timers: Timers,
        settings: GroupSettings,
        cluster: ClusterView,
        remove_member: Callable[[ShareGroup, ShareMember], None],
    ) -> None:
        super().__init__(group_id, timers, settings, cluster)
        self.epoch = self.assignment_epoch = FIRST_EPOCH
        self.assigned_at_ms: int | None = None
        self.members = RevertibleDict()
        self.targets: RevertibleDict[str, Assignment] = RevertibleDict()
        """Member id -> target assignment of `assignment_epoch`."""
        self.subscriptions = Subscriptions(cluster)
        self.initialization = Initialization()
        self.journal = Journal()
        self._is_settled = False
        """Whether no partition has to be initialized or assigned, as long as nothing changes."""
        self._remove_member = remove_member

    @property
    def _max_size(self) -> int:
        return self.settings.group_share_max_size

    @property
    def state(self) -> ShareGroupState:
        if self.is_dead:
            return ShareGroupState.DEAD
        return ShareGroupState.STABLE if self.members else ShareGroupState.EMPTY

    @property
    def assignor(self) -> str:
        return self.settings.group_share_assignors[0]

    @property
    def parts(self) -> tuple[object, ...]:
        """The objects that a request may change, beside the member that sent it."""
        return self, self.subscriptions, self.initialization, self.journal

    def begin_epoch_for_all(self, epoch: int) -> None:
        """Moves the group and its members to a higher epoch, which fences the members until they join again."""
        self.epoch = self.assignment_epoch = epoch
        for member in self.members.values():
            member.epoch = member.previous_epoch = epoch

    def subscribes_to(self, topic: str) -> bool:
        return topic in self.subscriptions.names

    # Heartbeats

    def heartbeat(self, heartbeat: ShareHeartbeat) -> ShareHeartbeatResult:
        """Handles the heartbeat of a member that joins, continues or leaves. Raises KafkaError."""
        if heartbeat.epoch == LEAVE_EPOCH:
            member = self.find(heartbeat.member_id)
            self.announce(f"member {member.member_id} leaves")
            self._remove_member(self, member)
            return ShareHeartbeatResult(member.member_id, LEAVE_EPOCH)
        self.check_room(heartbeat.member_id)
        member = self._joining_member(heartbeat.member_id) if heartbeat.epoch == 0 else self.find(heartbeat.member_id)
        member.check_epoch(heartbeat.epoch)
        before = member.assigned
        begun = self._update(member, heartbeat)
        self._assign_if_due()
        self._reconcile(member, subscription_changed=begun)
        self._is_settled = not (self._has_unassigned or self.initialization.initializing or self.uninitialized_partitions())
        return self._result(member, changed=heartbeat.is_full or before != member.assigned)

    def only_renews_session(self, heartbeat: ShareHeartbeat) -> bool:
        """Returns whether a heartbeat can change nothing but the session, so that `renew_by_heartbeat` may serve it."""
        member = self.members.get(heartbeat.member_id)
        return (
            member is not None
            and self._is_settled
            and heartbeat.epoch == member.epoch == self.epoch == self.assignment_epoch
            and self.subscriptions.are_current
            and not member.would_change(heartbeat)
        )

    def renew_by_heartbeat(self, heartbeat: ShareHeartbeat) -> ShareHeartbeatResult:
        """Does the same as `heartbeat`, if `only_renews_session`, without the cost of a full step."""
        return self._result(self.members[heartbeat.member_id], changed=heartbeat.is_full)

    def _result(self, member: ShareMember, *, changed: bool) -> ShareHeartbeatResult:
        self.renew_session(member)
        interval_ms = self.setting("share.heartbeat.interval.ms", self.settings.group_share_heartbeat_interval_ms)
        return ShareHeartbeatResult(member.member_id, member.epoch, interval_ms, member.assigned if changed else None)

    # Members

    def _joining_member(self, member_id: str) -> ShareMember:
        member = self.members.get(member_id)
        if member is None:
            member = self.members[member_id] = ShareMember(member_id)
            self.subscriptions.add(member.topics)
            self.journal.touch(RecordType.SHARE_MEMBER_METADATA, member_id)
            self.announce(f"member {member_id} joins")
        return member

    def _update(self, member: ShareMember, heartbeat: ShareHeartbeat) -> bool:
        """Stores a member's metadata. Returns whether a new epoch has begun."""
        begins = self.assignment_epoch >= self.epoch and self._has_unassigned
        topics = member.topics
        if member.update(heartbeat):
            self.journal.touch(RecordType.SHARE_MEMBER_METADATA, member.member_id)
        if topics != member.topics:
            self.subscriptions.remove(topics)
            self.subscriptions.add(member.topics)
            begins = True
        if begins or not self.subscriptions.are_current:
            begins = self.subscriptions.refresh() or begins
        if begins:
            self._begin_epoch()
        return begins

    def remove(self, member: ShareMember) -> None:
        """Removes a member and begins a new epoch."""
        member_id = member.member_id
        del self.members[member_id]
        self.targets.pop(member_id, None)
        self.subscriptions.remove(member.topics)
        self.timers.cancel(("session", self.group_id, member_id))
        for part in (
            RecordType.SHARE_CURRENT_MEMBER_ASSIGNMENT,
            RecordType.SHARE_TARGET_ASSIGNMENT_MEMBER,
            RecordType.SHARE_MEMBER_METADATA,
        ):
            self.journal.touch(part, member_id)
        self.subscriptions.refresh()
        self._begin_epoch()

    # Sessions

    def _session_timeout_ms(self, _member: ShareMember) -> int:
        return self.setting("share.session.timeout.ms", self.settings.group_share_session_timeout_ms)

    def timer_action(self, _kind: str, member_id: str) -> Callable[[], None]:
        """Returns the action of the timer (kind, group, member). The only kind is "session"."""
        return partial(self._expire, member_id)

    def _expire(self, member_id: str) -> None:
        self.announce(f"member {member_id} has been silent for too long and is removed")
        self._remove_member(self, self.members[member_id])

    # Epochs and assignments

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self._is_settled = False
        self.journal.touch(RecordType.SHARE_GROUP_METADATA)
        self.announce(f"epoch {self.epoch} begins with {counted(len(self.members), 'member')}")

    @property
    def _has_unassigned(self) -> bool:
        """Whether the initialized partitions of a subscribed topic are not exactly those that the members have as targets."""
        assigned: dict[bytes, frozenset[int]] = {}
        for target in self.targets.values():
            for topic_id, indexes in target.items():
                assigned[topic_id] = assigned.get(topic_id, NO_INDEXES) | indexes
        initialized = self.initialization.initialized.items()
        return any(each.name in self.subscriptions.names and assigned.get(topic_id) != each.indexes for topic_id, each in initialized)

    def _assign_if_due(self) -> None:
        interval_ms = self.setting("share.assignment.interval.ms", self.settings.group_share_assignment_interval_ms)
        now_ms, last_ms = self.timers.now_ms, self.assigned_at_ms
        if self.epoch > self.assignment_epoch and (last_ms is None or now_ms >= last_ms + interval_ms):
            self.assigned_at_ms = now_ms
            self._assign()

    def _assign(self) -> None:
        """Computes the target assignment for the group epoch."""
        ids = {topics: self._topic_ids(topics) for topics in self.subscriptions.counts}
        subscribers = {
            member_id: Subscriber(ids[self.members[member_id].topics], self.targets.get(member_id, NO_PARTITIONS))
            for member_id in timeline_order(self.members)
        }
        by_id = self.cluster.topics_by_id
        partitions = {
            topic_id: indexes & frozenset(range(len(by_id[topic_id].partitions)))
            for topic_id, indexes in self.initialization.assignable.items()
            if topic_id in by_id
        }
        targets = simple(subscribers, partitions, alike=self.subscriptions.are_alike)
        for member_id, target in targets.items():
            if self.targets.get(member_id) != target:
                self.journal.touch(RecordType.SHARE_TARGET_ASSIGNMENT_MEMBER, member_id)
        self.targets, self.assignment_epoch = RevertibleDict(targets), self.epoch
        self.journal.touch(RecordType.SHARE_TARGET_ASSIGNMENT_METADATA)
        self.announce(f"{self.assignor} has assigned epoch {self.epoch}")

    def _reconcile(self, member: ShareMember, *, subscription_changed: bool) -> None:
        before = member.epoch, member.previous_epoch, member.assigned
        if member.epoch != self.assignment_epoch or subscription_changed:
            target, subscribed = self.targets.get(member.member_id, NO_PARTITIONS), self._topic_ids(member.topics)
            member.assigned = {topic_id: indexes for topic_id, indexes in target.items() if topic_id in subscribed}
        if member.epoch != self.assignment_epoch:
            member.advance_to(self.assignment_epoch)
        if before != (member.epoch, member.previous_epoch, member.assigned):
            self.journal.touch(RecordType.SHARE_CURRENT_MEMBER_ASSIGNMENT, member.member_id)

    def _topic_ids(self, names: Collection[str]) -> tuple[bytes, ...]:
        topics = self.cluster.topics
        return tuple(topic.id for name in hash_map_order(sorted(names)) if (topic := topics.get(name)))

    # Share partitions

    def uninitialized_partitions(self) -> dict[bytes, TopicInitialization]:
        """Returns the partitions of subscribed topics whose initialization has to begin or to be repeated."""
        topics = self.cluster.topics
        subscribed = [topics[name] for name in sorted(self.subscriptions.names & topics.keys())]
        retry_ms = max(MIN_RETRY_MS, self.settings.group_share_initialize_retry_interval_ms)
        return self.initialization.missing(subscribed, self.timers.now_ms, retry_ms)

    def begin_initialization(self, partitions: Mapping[bytes, TopicInitialization]) -> None:
        self.initialization.begin(partitions)
        self.partitions_changed()

    def partitions_changed(self) -> None:
        """Notes that `initialization` has changed."""
        self._is_settled = False
        self.journal.touch(RecordType.SHARE_STATE_PARTITION_METADATA)

    # Committed offsets, which share groups do not have

    def check_commit(self, member_id: str, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode:  # noqa: ARG002
        return ErrorCode.GROUP_ID_NOT_FOUND

    def check_fetch(self, _member_id: str | None, _epoch: int) -> ErrorCode:
        """Returns NONE, because no offset is found then, which is not an error."""
        return ErrorCode.NONE
