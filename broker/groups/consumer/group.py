"""A group of the consumer protocol: members only send heartbeats, the broker assigns (KIP-848).

The rules are Kafka's (`ConsumerGroup`, `GroupMetadataManager`), compared with Apache Kafka 4.3. One difference is intended: a regular
expression is resolved within the heartbeat that brings it, and a new topic at the next heartbeat, where Kafka takes a moment and up to
ten seconds. Only an expression that takes more than a few milliseconds is resolved in the background and seen by a later heartbeat.
"""

from __future__ import annotations

import random
import uuid
from base64 import urlsafe_b64encode
from collections import Counter
from collections.abc import Callable, Iterable

from ....protocol.errors import ErrorCode, KafkaError
from ...scheduling.timers import Timers
from ..classic.group import log
from ..classic.member import CONSUMER_PROTOCOL_TYPE
from ..cluster_view import ClusterView
from ..settings import GroupSettings
from ..states import ConsumerGroupState
from .assignors import ASSIGNORS, Slot, Subscriber
from .journal import Journal, RecordType
from .member import LEAVES, LEAVES_FOR_A_WHILE, Beat, BeatResult, ClassicProtocols, ConsumerMember, MemberState
from .reconciliation import Reconciliation
from .subscriptions import NO_TOPICS, Subscriptions

FIRST_EPOCH = 1
"""Of a group without members; who joins first begins the next one."""
NO_SLOTS: frozenset[Slot] = frozenset()


class ConsumerGroup:
    """One group. Its timers are ("session" | "revocation" | "join" | "sync", group, member), the last two for classic members."""

    type = "consumer"
    protocol_type = CONSUMER_PROTOCOL_TYPE

    def __init__(
        self,
        group_id: str,
        timers: Timers,
        randomness: random.Random,
        settings: GroupSettings,
        cluster: ClusterView,
        retire: Callable[[ConsumerGroup, list[ConsumerMember]], None],
    ) -> None:
        self.group_id = group_id
        self.epoch, self.assignment_epoch = FIRST_EPOCH, 0
        self.empty_since_ms = timers.now_ms
        self.members: dict[str, ConsumerMember] = {}
        self.static_ids: dict[str, str] = {}
        """Instance id -> member id."""
        self.targets: dict[str, frozenset[Slot]] = {}
        """Member id -> what it shall own in `assignment_epoch`."""
        self.owners: dict[Slot, str] = {}
        """Who has a partition or has not yet given it up."""
        self.journal = Journal()
        self.subscriptions = Subscriptions(cluster, self.journal)
        self.assigned_at_ms: int | None = None
        self.is_dead = False
        self._timers, self._random, self.settings = timers, randomness, settings
        self._cluster, self._retire = cluster, retire

    # What is asked about the group.

    @property
    def state(self) -> ConsumerGroupState:
        """Computed, so that heartbeats need not keep it."""
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
        """What most members ask for; the broker's first one if nobody asks."""
        wishes = Counter(member.assignor for member in self.members.values() if member.assignor is not None)
        return wishes.most_common(1)[0][0] if wishes else self.settings.group_consumer_assignors[0]

    @property
    def is_empty(self) -> bool:
        """It has no members."""
        return not self.members

    def subscribes_to(self, topic: str) -> bool:
        """Whether a member reads `topic`."""
        return topic in self.subscriptions.names

    def check_commit(self, member_id: str, epoch: int, slots: Iterable[Slot], understands_epochs: bool) -> ErrorCode:
        """Whether these partitions may be committed: in an older epoch only those that the member had then already (KIP-1251)."""
        if epoch < 0 and not self.members:
            return ErrorCode.NONE
        member = self.members.get(member_id)
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if member.classic is None and not understands_epochs:
            return ErrorCode.UNSUPPORTED_VERSION
        held = [member.owned_since(slot) for slot in slots] if epoch < member.epoch else []
        if epoch <= member.epoch and all(since is not None and since <= epoch for since in held):
            return ErrorCode.NONE
        return ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION

    def check_fetch(self, member_id: str | None, epoch: int) -> ErrorCode:
        """Whether a member may read offsets; who names neither member nor epoch, as an administrator does, may."""
        if member_id is None and epoch < 0:
            return ErrorCode.NONE
        member = self.members.get(member_id or "")
        if member is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if member.epoch == epoch:
            return ErrorCode.NONE
        return ErrorCode.STALE_MEMBER_EPOCH if member.classic is None else ErrorCode.ILLEGAL_GENERATION

    def check_delete(self) -> ErrorCode:
        """NON_EMPTY_GROUP if it has members."""
        return ErrorCode.NON_EMPTY_GROUP if self.members else ErrorCode.NONE

    def delete(self) -> None:
        """Ends the group, after `check_delete`."""
        self.is_dead = True

    # What members say.

    def beat(self, beat: Beat) -> BeatResult:
        """A heartbeat: joins, goes on, or leaves. Raises KafkaError."""
        if beat.epoch in (LEAVES, LEAVES_FOR_A_WHILE):
            return self._leave(beat)
        if not beat.member_id:
            beat = Beat(**{name: getattr(beat, name) for name in Beat.__slots__} | {"member_id": self.new_member_id()})
        self.check_room(beat.member_id)
        member = self._joining(beat) if beat.epoch == 0 else self._known(beat)
        self.subscriptions.check(beat.regex)
        self.subscriptions.may_describe = beat.may_describe
        before = self.subscribe(member, beat, None, beat.owned)
        return self._answer(member, changed=beat.is_full or before != member.assigned)

    def beat_without_news(self, beat: Beat) -> BeatResult:
        """The same, where `has_no_news` says that a session is all that changes. Raises KafkaError."""
        return self._answer(self.find(beat.member_id, beat.instance_id), changed=beat.is_full)

    def _answer(self, member: ConsumerMember, *, changed: bool) -> BeatResult:
        self.renew_session(member)
        interval_ms = self._setting("consumer.heartbeat.interval.ms", self.settings.group_consumer_heartbeat_interval_ms)
        return BeatResult(member.member_id, member.epoch, interval_ms, frozenset(member.assigned) if changed else None)

    def has_no_news(self, beat: Beat) -> bool:
        """Whether all that a heartbeat can do is to renew a session: nothing has changed, neither by the member nor around it."""
        member = self.members.get(beat.member_id)
        return (
            member is not None
            and beat.epoch == member.epoch
            and self.epoch == self.assignment_epoch
            and member.is_reconciled_to(self.assignment_epoch)
            and self.subscriptions.are_current
            and not member.would_change(beat)
        )

    def new_member_id(self) -> str:
        """For clients that do not make their own, in the form of Kafka's Uuid."""
        identity = uuid.UUID(int=self._random.getrandbits(128), version=4).bytes
        return urlsafe_b64encode(identity).decode().rstrip("=")

    def check_room(self, member_id: str) -> None:
        """Raises GROUP_MAX_SIZE_REACHED for one more than there may be."""
        limit = self.settings.group_consumer_max_size
        if len(self.members) >= limit and member_id not in self.members:
            raise KafkaError(ErrorCode.GROUP_MAX_SIZE_REACHED, f"The consumer group has reached its maximum capacity of {limit} members.")

    def _joining(self, beat: Beat) -> ConsumerMember:
        """The member that joins: a new one, one that joins again and keeps what it has, or a static one that comes back."""
        if beat.instance_id is None or beat.instance_id not in self.static_ids:
            return self.members.get(beat.member_id) or ConsumerMember(beat.member_id)
        present = self.members[self.static_ids[beat.instance_id]]
        if present.classic is None and present.epoch != LEAVES_FOR_A_WHILE:
            raise KafkaError(
                ErrorCode.UNRELEASED_INSTANCE_ID,
                f"Static member {beat.member_id} with instance id {beat.instance_id} cannot join the group because the instance id is"
                f" owned by {present.member_id} member.",
            )
        return present.successor(beat.member_id)

    def _known(self, beat: Beat) -> ConsumerMember:
        member = self.find(beat.member_id, beat.instance_id)
        member.check_epoch(beat)
        return member

    def find(self, member_id: str, instance_id: str | None) -> ConsumerMember:
        """A member by its id or, if static, by its instance. Raises UNKNOWN_MEMBER_ID, FENCED_INSTANCE_ID."""
        if instance_id is None:
            if member_id not in self.members:
                raise KafkaError(ErrorCode.UNKNOWN_MEMBER_ID, f"Member {member_id} is not a member of group {self.group_id}.")
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
        self, member: ConsumerMember, beat: Beat, classic: ClassicProtocols | None, owned: frozenset[Slot] | None
    ) -> dict[Slot, int]:
        """Takes over what a member says, computes a new target if it is due and moves the member; what it had before.

        A member that is not in the group yet is added, in the place of its predecessor if it is static.
        """
        if self.members.get(member.member_id) is not member:
            self._add(member)
        before, topics, regex, resolved = member.assigned, member.topics, member.regex, {"", *self.subscriptions.regexes}
        read = NO_TOPICS if beat.regex is None else self.subscriptions.names_of(member)
        if member.update(beat, classic):
            self.journal.touch(RecordType.MEMBER_METADATA, member.member_id)
        if member.instance_id is not None:
            self.static_ids[member.instance_id] = member.member_id
        renamed, changed = topics != member.topics, (topics, regex) != (member.topics, member.regex)
        news = self.subscriptions.refresh(self.members.values(), changed)
        # A regular expression that is new to the group and brings no new topic changes nothing, unless the member gives topics up by it:
        # others read those, but have no part in them before there is a new target. Kafka leaves such partitions without an owner.
        gave_up = not read <= self.subscriptions.names_of(member)
        if renamed or news or gave_up or (changed and member.regex in resolved):
            self._begin_epoch()
        self._assign_if_due()
        self._reconcile(member, owned, changed)
        return before

    def _add(self, member: ConsumerMember) -> None:
        predecessor_id = self.static_ids.get(member.instance_id or "")
        if predecessor_id is not None:
            target = self.targets.get(predecessor_id, NO_SLOTS)
            self._forget(predecessor_id)
            self._own(member)
            self.targets[member.member_id] = target
            self.journal.touch(RecordType.TARGET_ASSIGNMENT_MEMBER, member.member_id)
        self.members[member.member_id] = member
        self.journal.touch(RecordType.MEMBER_METADATA, member.member_id)
        self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        log.info("Group %s: member %s joins", self.group_id, member.member_id)

    def _leave(self, beat: Beat) -> BeatResult:
        member = self.find(beat.member_id, beat.instance_id)
        if beat.epoch == LEAVES:
            log.info("Group %s: member %s leaves", self.group_id, member.member_id)
            self._retire(self, [member])
        else:
            log.info("Group %s: static member %s leaves for a while", self.group_id, member.member_id)
            member.epoch, freed = LEAVES_FOR_A_WHILE, member.revoking
            member.revoking = {}
            self._release(freed)
            self._timers.cancel(("revocation", self.group_id, member.member_id))
            self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        return BeatResult(member.member_id, beat.epoch)

    def remove(self, members: Iterable[ConsumerMember]) -> None:
        """Forgets members and begins a new epoch."""
        for member in members:
            self._forget(member.member_id)
        self.subscriptions.refresh(self.members.values(), changed=True)
        self._begin_epoch()
        if not self.members:
            self.empty_since_ms = self._timers.now_ms

    def _forget(self, member_id: str) -> None:
        member = self.members.pop(member_id)
        for kind in ("session", "revocation", "join", "sync"):
            self._timers.cancel((kind, self.group_id, member_id))
        if member.instance_id is not None and self.static_ids.get(member.instance_id) == member_id:
            del self.static_ids[member.instance_id]
        self._release(member.assigned)
        self._release(member.revoking)
        self.targets.pop(member_id, None)
        for part in (RecordType.CURRENT_MEMBER_ASSIGNMENT, RecordType.TARGET_ASSIGNMENT_MEMBER, RecordType.MEMBER_METADATA):
            self.journal.touch(part, member_id)

    # When the group changes its protocol.

    def restore(self, members: Iterable[ConsumerMember]) -> None:
        """Takes over members that own what they shall own, from a classic group."""
        for member in members:
            self.members[member.member_id] = member
            self.targets[member.member_id] = frozenset(member.assigned)
            if member.instance_id is not None:
                self.static_ids[member.instance_id] = member.member_id
            self._own(member)
            for kind in (RecordType.MEMBER_METADATA, RecordType.TARGET_ASSIGNMENT_MEMBER, RecordType.CURRENT_MEMBER_ASSIGNMENT):
                self.journal.touch(kind, member.member_id)
        self.subscriptions.refresh(self.members.values(), changed=True)
        self.journal.touch(RecordType.CONSUMER_GROUP_METADATA)
        self.journal.touch(RecordType.TARGET_ASSIGNMENT_METADATA)

    def dissolve(self) -> None:
        """Ends the group because another takes its members over."""
        for member_id in list(self.members):
            self._forget(member_id)
        self.subscriptions.refresh((), changed=True)
        self._bury()

    def _bury(self) -> None:
        self.is_dead = True
        for kind in (RecordType.TARGET_ASSIGNMENT_METADATA, RecordType.CONSUMER_GROUP_METADATA):
            self.journal.touch(kind)

    # Epochs and assignments.

    def _begin_epoch(self) -> None:
        self.epoch += 1
        self.journal.touch(RecordType.CONSUMER_GROUP_METADATA)
        log.info("Group %s begins epoch %d with %d members", self.group_id, self.epoch, len(self.members))

    def _assign_if_due(self) -> None:
        """Computes a target for the group's epoch, unless the last one is too young: many that join at once then share one."""
        interval_ms = self._setting("consumer.assignment.interval.ms", self.settings.group_consumer_assignment_interval_ms)
        now_ms, last_ms = self._timers.now_ms, self.assigned_at_ms
        if self.epoch > self.assignment_epoch and (last_ms is None or now_ms >= last_ms + interval_ms):
            self.assigned_at_ms = now_ms
            self._assign()

    def _assign(self) -> None:
        ids: dict[tuple[frozenset[str], str], frozenset[bytes]] = {}
        subscribers = []
        for member in self.members.values():
            subscription = member.topics, member.regex
            topics = ids.get(subscription)
            if topics is None:
                topics = ids[subscription] = self.subscriptions.topic_ids(member)
            subscribers.append(Subscriber(member.member_id, member.instance_id, topics, self.targets.get(member.member_id, NO_SLOTS)))
        by_id = self._cluster.topics_by_id
        partitions = {topic_id: len(by_id[topic_id].partitions) for topic_id in sorted(frozenset().union(*ids.values()))}
        targets = ASSIGNORS[self.assignor](subscribers, partitions)
        for member_id, target in targets.items():
            if self.targets.get(member_id) != target:
                self.journal.touch(RecordType.TARGET_ASSIGNMENT_MEMBER, member_id)
        self.targets, self.assignment_epoch = targets, self.epoch
        self.journal.touch(RecordType.TARGET_ASSIGNMENT_METADATA)
        log.info("Group %s: %s has assigned epoch %d", self.group_id, self.assignor, self.epoch)

    def _reconcile(self, member: ConsumerMember, owned: frozenset[Slot] | None, subscription_changed: bool) -> None:
        if member.is_reconciled_to(self.assignment_epoch) and not subscription_changed:
            return
        before = member.standing
        target = self.targets.get(member.member_id, NO_SLOTS)
        step = Reconciliation(member, self.assignment_epoch, target, self.subscriptions.topic_ids(member), owned, self.is_free)
        step.step(subscription_changed)
        if before == member.standing:
            return
        self._release(before.assigned)
        self._release(before.revoking)
        self._own(member)
        self.journal.touch(RecordType.CURRENT_MEMBER_ASSIGNMENT, member.member_id)
        self._set_revocation_timer(member)

    def is_free(self, slot: Slot) -> bool:
        """Nobody has a partition."""
        return slot not in self.owners

    def _own(self, member: ConsumerMember) -> None:
        for slot in (*member.assigned, *member.revoking):
            self.owners[slot] = member.member_id

    def _release(self, slots: Iterable[Slot]) -> None:
        for slot in slots:
            self.owners.pop(slot, None)

    # Time-outs.

    def renew_session(self, member: ConsumerMember) -> None:
        """From now on it has its session timeout again."""
        if member.classic is not None:
            timeout_ms = member.classic.session_timeout_ms
        else:
            timeout_ms = self._setting("consumer.session.timeout.ms", self.settings.group_consumer_session_timeout_ms)
        self.set_timer("session", member, timeout_ms, "has been silent for too long")

    def set_timer(self, kind: str, member: ConsumerMember, delay_ms: int, complaint: str) -> None:
        """Removes the member then, unless the timer is set again or cancelled before."""
        member_id = member.member_id
        self._timers.set((kind, self.group_id, member_id), delay_ms, lambda: self._expire(member_id, complaint))

    def has_timer(self, kind: str, member: ConsumerMember) -> bool:
        """Whether it is set."""
        return (kind, self.group_id, member.member_id) in self._timers

    def cancel_timer(self, kind: str, member: ConsumerMember) -> None:
        """Forgets it."""
        self._timers.cancel((kind, self.group_id, member.member_id))

    def _set_revocation_timer(self, member: ConsumerMember) -> None:
        if member.classic is not None:
            return
        if member.state is MemberState.UNREVOKED_PARTITIONS:
            self.set_timer("revocation", member, member.rebalance_timeout_ms, f"has not left epoch {member.epoch} in time")
        else:
            self.cancel_timer("revocation", member)

    def _expire(self, member_id: str, complaint: str) -> None:
        log.info("Group %s: member %s %s and is removed", self.group_id, member_id, complaint)
        self._retire(self, [self.members[member_id]])

    def _setting(self, name: str, default: int) -> int:
        config = self._cluster.group_configs.get(self.group_id)
        return default if config is None else config.integers[name]
