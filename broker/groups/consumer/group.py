"""A group of the consumer protocol (KIP-848): members only send heartbeats, and the broker assigns partitions.

Three epochs drive the group:

* `ConsumerGroup.epoch` grows when a member joins or leaves, or when subscriptions, topics or partitions change.
* `assignment_epoch` is the group epoch for which the target assignment was computed (`targets`). A heartbeat computes a new target when
  the group epoch is ahead, at most once per group.consumer.assignment.interval.ms, so that members that join together share one target.
* `ConsumerMember.epoch` is the epoch of the target that the member is moving to. `reconciliation` moves a member one step with each
  heartbeat: first it revokes partitions that are not in its target, then it gets those that no other member owns (`owners`).

A heartbeat passes through these steps:

1. `heartbeat` finds the member (`find`) and checks its epoch, or creates it if its epoch is 0 (`_joining_member`).
2. `subscribe` stores the member's metadata, looks up subscribed topics (`subscriptions`), and begins a new group epoch if they changed.
3. `_assign_if_due` computes the target assignment (`assignors`).
4. `_reconcile` moves the member towards its target.
5. `_result` renews the session and returns the assignment if it has changed.

All changes are marked in `journal`, from which `records` builds the records for `__consumer_offsets` at the end of the request. Members of
the classic protocol take the same steps (`classic_members`).

The rules are those of Kafka's `ConsumerGroup` and `GroupMetadataManager`; they were compared with Apache Kafka 4.3. One difference is
intended: a regular expression is resolved within the heartbeat that contains it, and a new topic takes effect with the next heartbeat. In
Kafka, both take up to ten seconds. Only an expression that takes more than a few milliseconds is resolved in the background, for later
heartbeats.
"""

from __future__ import annotations

import random
import uuid
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from typing import Literal

from ....protocol.errors import ErrorCode, KafkaError
from ....protocol.stored.coordinator_records import RecordType
from ...plurals import counted
from ...scheduling.revertible import RevertibleDict
from ...scheduling.timers import Timers
from ..classic.messages import CONSUMER_PROTOCOL_TYPE
from ..cluster_view import ClusterView
from ..heartbeat_group import CommittingGroup, Journal
from ..settings import GroupSettings
from ..states import ConsumerGroupState
from .assignors import ASSIGNORS, Slot, Subscriber
from .heartbeat import LEAVE_EPOCH, LEAVE_STATIC_EPOCH, ConsumerHeartbeat, ConsumerHeartbeatResult
from .member import ClassicProtocols, ConsumerMember
from .member_timers import REASONS, MemberTimers
from .reconciliation import PartitionOwners, Reconciliation
from .subscriptions import NO_TOPICS, Subscriptions

FIRST_EPOCH = 1
"""The epoch of a group without members; the first member to join begins the next one."""
NO_SLOTS: frozenset[Slot] = frozenset()


class ConsumerGroup(CommittingGroup[ConsumerMember]):
    """One group of the consumer protocol.

    `remove_members` is called with the group and its members when they leave or expire. It removes them by `remove`, or converts the
    group.
    """

    type: Literal["consumer"] = "consumer"
    protocol_type = CONSUMER_PROTOCOL_TYPE
    epoch: int
    members: RevertibleDict[str, ConsumerMember]

    def __init__(
        self,
        group_id: str,
        timers: Timers,
        randomness: random.Random,
        settings: GroupSettings,
        cluster: ClusterView,
        remove_members: Callable[[ConsumerGroup, list[ConsumerMember]], None],
    ) -> None:
        super().__init__(group_id, timers, settings, cluster)
        self.epoch, self.assignment_epoch = FIRST_EPOCH, 0
        self.empty_since_ms = timers.now_ms
        self.members = RevertibleDict()
        self.static_ids: RevertibleDict[str, str] = RevertibleDict()
        """Instance id -> member id."""
        self.targets: RevertibleDict[str, frozenset[Slot]] = RevertibleDict()
        """Member id -> target assignment of `assignment_epoch`."""
        self.owners = PartitionOwners()
        self.journal = Journal()
        self.subscriptions = Subscriptions(cluster, self.journal, timers)
        self.assigned_at_ms: int | None = None
        self.member_timers = MemberTimers(timers, group_id, self.timer_action)
        self._random, self._remove_members = randomness, remove_members

    @property
    def _max_size(self) -> int:
        return self.settings.group_consumer_max_size

    @property
    def state(self) -> ConsumerGroupState:
        """The state, computed on each access so that heartbeats need not maintain it."""
        if self.is_dead:
            return ConsumerGroupState.DEAD
        if not self.members:
            return ConsumerGroupState.EMPTY
        if self.epoch > self.assignment_epoch:
            return ConsumerGroupState.ASSIGNING
        reconciled = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return ConsumerGroupState.STABLE if reconciled else ConsumerGroupState.RECONCILING

    @property
    def assignor(self) -> str:
        """The assignor that most members prefer; the first of group.consumer.assignors if no member names one."""
        preferred = Counter(member.assignor for member in self.members.values() if member.assignor is not None)
        return preferred.most_common(1)[0][0] if preferred else self.settings.group_consumer_assignors[0]

    def begin_epoch_for_all(self, epoch: int) -> None:
        """Moves the group and its members to a higher epoch, which fences the members until they join again."""
        self.epoch = self.assignment_epoch = epoch
        for member in self.members.values():
            if member.epoch != LEAVE_STATIC_EPOCH:
                member.fence(epoch)

    def subscribes_to(self, topic: str) -> bool:
        return topic in self.subscriptions.names

    # Heartbeats

    def heartbeat(self, heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """Handles the heartbeat of a member that joins, continues or leaves. Raises KafkaError."""
        if heartbeat.epoch in (LEAVE_EPOCH, LEAVE_STATIC_EPOCH):
            return self._leave(heartbeat)
        if not heartbeat.member_id:
            heartbeat = heartbeat._replace(member_id=self.new_member_id())
        self.check_room(heartbeat.member_id)
        member = self._joining_member(heartbeat) if heartbeat.epoch == 0 else self._known_member(heartbeat)
        self.subscriptions.check(heartbeat.regex)
        self.subscriptions.may_describe = heartbeat.may_describe
        before = self.subscribe(member, heartbeat, None, heartbeat.owned)
        return self._result(member, changed=heartbeat.is_full or before != member.assigned)

    def only_renews_session(self, heartbeat: ConsumerHeartbeat) -> bool:
        """Returns whether a heartbeat can change nothing but the session, so that `renew_by_heartbeat` may serve it."""
        member = self.members.get(heartbeat.member_id)
        return (
            member is not None
            and heartbeat.epoch == member.epoch
            and self.epoch == self.assignment_epoch
            and member.is_reconciled_to(self.assignment_epoch)
            and self.subscriptions.are_current
            and not member.would_change(heartbeat)
        )

    def renew_by_heartbeat(self, heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        """Does the same as `heartbeat`, if `only_renews_session`, without the cost of a full step. Raises KafkaError."""
        return self._result(self.find(heartbeat.member_id, heartbeat.instance_id), changed=heartbeat.is_full)

    def _result(self, member: ConsumerMember, *, changed: bool) -> ConsumerHeartbeatResult:
        self.renew_session(member)
        interval_ms = self.setting("consumer.heartbeat.interval.ms", self.settings.group_consumer_heartbeat_interval_ms)
        return ConsumerHeartbeatResult(member.member_id, member.epoch, interval_ms, frozenset(member.assigned) if changed else None)

    # Members

    def new_member_id(self) -> str:
        """Returns a random id in the form of Kafka's Uuid, for a client that does not generate its own (before KIP-1082)."""
        identity = uuid.UUID(int=self._random.getrandbits(128), version=4).bytes
        return urlsafe_b64encode(identity).decode().rstrip("=")

    def _joining_member(self, heartbeat: ConsumerHeartbeat) -> ConsumerMember:
        """Returns a new member, the existing one if it joins again, or the successor of a static one that has left temporarily."""
        if heartbeat.instance_id is None or heartbeat.instance_id not in self.static_ids:
            return self.members.get(heartbeat.member_id) or ConsumerMember(heartbeat.member_id)
        present = self.members[self.static_ids[heartbeat.instance_id]]
        if present.classic is None and present.epoch != LEAVE_STATIC_EPOCH:
            raise KafkaError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {heartbeat.member_id} with instance id {heartbeat.instance_id} cannot join the group because the instance"
                f" id is owned by {present.member_id} member.",
            )
        return present.successor(heartbeat.member_id)

    def _known_member(self, heartbeat: ConsumerHeartbeat) -> ConsumerMember:
        member = self.find(heartbeat.member_id, heartbeat.instance_id)
        member.check_epoch(heartbeat)
        return member

    def find(self, member_id: str, instance_id: str | None = None) -> ConsumerMember:
        """Returns a dynamic member by its id, a static one by its instance id.

        Raises KafkaError with UNKNOWN_MEMBER_ID or FENCED_INSTANCE_ID.
        """
        if instance_id is None:
            if member_id not in self.members:
                raise self._unknown_member_error(member_id)
            return self.members[member_id]
        known_id = self.static_ids.get(instance_id)
        if known_id is None:
            raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Instance id {instance_id} is unknown.")
        if known_id != member_id:
            raise KafkaError(
                ErrorCode.FENCED_INSTANCE_ID,
                f"Static member {member_id} with instance id {instance_id} was fenced by member {known_id}.",
            )
        return self.members[known_id]

    def subscribe(
        self, member: ConsumerMember, heartbeat: ConsumerHeartbeat, classic: ClassicProtocols | None, owned: frozenset[Slot] | None
    ) -> dict[Slot, int]:
        """Stores a member's metadata, computes a new target if one is due, and moves the member towards its target.

        A member that is not in the group yet is added; a static one replaces its predecessor. `owned` are the partitions that the
        member reports to own, None if it does not report them. Returns the partitions that were assigned to the member before.
        """
        is_new = self.members.get(member.member_id) is not member
        if is_new:
            self._add(member)
        before, topics, regex, resolved = member.assigned, member.topics, member.regex, {"", *self.subscriptions.regexes}
        read = NO_TOPICS if heartbeat.regex is None else self.subscriptions.names_of(member)
        if member.update(heartbeat, classic):
            self.journal.touch(RecordType.MEMBER_METADATA, member.member_id)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        renamed, changed = topics != member.topics, (topics, regex) != (member.topics, member.regex)
        if changed and not is_new:
            self.subscriptions.remove((topics, regex))
        if changed or is_new:
            self.subscriptions.add(member)
        topics_changed = self.subscriptions.refresh()
        # A regular expression that is new to the group and matches no new topic does not begin an epoch, as in Kafka, unless the member
        # stops reading topics because of it: other members read those topics, but get their partitions only with a new target. Kafka leaves
        # such partitions without an owner.
        gave_up = not read <= self.subscriptions.names_of(member)
        if renamed or topics_changed or gave_up or (changed and member.regex in resolved):
            self._begin_epoch()
        self._assign_if_due()
        self._reconcile(member, owned, changed)
        return before

    def _add(self, member: ConsumerMember) -> None:
        predecessor_id = self.static_ids.get(member.instance_id or "")
        if predecessor_id is not None:
            target = self.targets.get(predecessor_id, NO_SLOTS)
            self._remove(predecessor_id)
            self.owners.assign_to(member)
            self.targets[member.member_id] = target
            self.journal.touch(RecordType.TARGET_ASSIGNMENT_MEMBER, member.member_id)
        self.members[member.member_id] = member
        self.journal.touch(RecordType.MEMBER_METADATA, member.member_id)
        self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        self.announce(f"member {member.member_id} joins")

    def _leave(self, heartbeat: ConsumerHeartbeat) -> ConsumerHeartbeatResult:
        member = self.find(heartbeat.member_id, heartbeat.instance_id)
        if heartbeat.epoch == LEAVE_EPOCH:
            self.announce(f"member {member.member_id} leaves")
            self._remove_members(self, [member])
        else:
            self.announce(f"static member {member.member_id} leaves temporarily")
            member.epoch, revoked = LEAVE_STATIC_EPOCH, member.revoking
            member.revoking = {}
            self.owners.release(revoked)
            self.member_timers.cancel("revocation", member)
            self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        return ConsumerHeartbeatResult(member.member_id, heartbeat.epoch)

    def remove(self, members: Iterable[ConsumerMember]) -> None:
        """Removes members and begins a new epoch."""
        for member in members:
            self._remove(member.member_id)
        self.subscriptions.refresh()
        self._begin_epoch()
        if not self.members:
            self.empty_since_ms = self.timers.now_ms

    def _remove(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        self.subscriptions.remove((member.topics, member.regex))
        self.member_timers.cancel_all(member)
        if member.instance_id is not None and self.static_ids.get(member.instance_id) == member_id:
            del self.static_ids[member.instance_id]
        self.owners.release(member.assigned)
        self.owners.release(member.revoking)
        self.targets.pop(member_id, None)
        for part in (RecordType.CURRENT_MEMBER_ASSIGNMENT, RecordType.TARGET_ASSIGNMENT_MEMBER, RecordType.MEMBER_METADATA):
            self.journal.touch(part, member_id)

    def _session_timeout_ms(self, member: ConsumerMember) -> int:
        if member.classic is not None:
            return member.classic.session_timeout_ms
        return self.setting("consumer.session.timeout.ms", self.settings.group_consumer_session_timeout_ms)

    def timer_action(self, kind: str, member_id: str) -> Callable[[], None]:
        return partial(self._expire, member_id, REASONS[kind])

    def _expire(self, member_id: str, reason: str) -> None:
        self.announce(f"member {member_id} {reason} and is removed")
        self._remove_members(self, [self.members[member_id]])

    # Epochs and assignments

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self.journal.touch(RecordType.CONSUMER_GROUP_METADATA)
        self.announce(f"begins epoch {self.epoch} with {counted(len(self.members), 'member')}", separator=" ")

    def _assign_if_due(self) -> None:
        interval_ms = self.setting("consumer.assignment.interval.ms", self.settings.group_consumer_assignment_interval_ms)
        now_ms, last_ms = self.timers.now_ms, self.assigned_at_ms
        if self.epoch > self.assignment_epoch and (last_ms is None or now_ms >= last_ms + interval_ms):
            self.assigned_at_ms = now_ms
            self._assign()

    def _assign(self) -> None:
        """Computes the target assignment for the group epoch."""
        ids: dict[tuple[frozenset[str], str], frozenset[bytes]] = {}
        subscribers = []
        for member in self.members.values():
            subscription = member.topics, member.regex
            topics = ids.get(subscription)
            if topics is None:
                topics = ids[subscription] = self.subscriptions.topic_ids(member)
            subscribers.append(Subscriber(member.member_id, member.instance_id, topics, self.targets.get(member.member_id, NO_SLOTS)))
        by_id = self.cluster.topics_by_id
        partitions = {topic_id: len(by_id[topic_id].partitions) for topic_id in sorted(frozenset().union(*ids.values()))}
        targets = ASSIGNORS[self.assignor](subscribers, partitions)
        for member_id, target in targets.items():
            if self.targets.get(member_id) != target:
                self.journal.touch(RecordType.TARGET_ASSIGNMENT_MEMBER, member_id)
        self.targets, self.assignment_epoch = RevertibleDict(targets), self.epoch
        self.journal.touch(RecordType.TARGET_ASSIGNMENT_METADATA)
        self.announce(f"{self.assignor} has assigned epoch {self.epoch}")

    def _reconcile(self, member: ConsumerMember, owned: frozenset[Slot] | None, subscription_changed: bool) -> None:
        if member.is_reconciled_to(self.assignment_epoch) and not subscription_changed:
            return
        before = member.current_assignment
        target = self.targets.get(member.member_id, NO_SLOTS)
        subscribed = self.subscriptions.topic_ids(member)
        Reconciliation(member, self.assignment_epoch, target, subscribed, owned, self.owners.is_free).step(subscription_changed)
        if before == member.current_assignment:
            return
        self.owners.update_member(before, member)
        self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        self.member_timers.update_revocation(member)

    def _check_commit(self, member: ConsumerMember, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode:
        return member.check_commit(epoch, slots, supports_member_epochs)

    # Conversion

    def restore(self, members: Iterable[ConsumerMember]) -> None:
        """Takes over the members of a classic group, which own their target assignments already."""
        for member in members:
            self.members[member.member_id] = member
            self.subscriptions.add(member)
            self.targets[member.member_id] = frozenset(member.assigned)
            if member.instance_id is not None:
                self.static_ids[member.instance_id] = member.member_id
            self.owners.assign_to(member)
            for kind in (RecordType.MEMBER_METADATA, RecordType.TARGET_ASSIGNMENT_MEMBER, RecordType.CURRENT_MEMBER_ASSIGNMENT):
                self.journal.touch(kind, member.member_id)
        self.subscriptions.refresh()
        self.journal.touch(RecordType.CONSUMER_GROUP_METADATA)
        self.journal.touch(RecordType.TARGET_ASSIGNMENT_METADATA)

    def dissolve(self) -> None:
        """Ends the group because a classic group takes over its members."""
        for member_id in list(self.members):
            self._remove(member_id)
        self.subscriptions.refresh()
        self.is_dead = True
        for kind in (RecordType.TARGET_ASSIGNMENT_METADATA, RecordType.CONSUMER_GROUP_METADATA):
            self.journal.touch(kind)
