"""A group of the streams protocol (KIP-1071): members send their topology and their tasks, and the broker assigns the tasks.

Three epochs drive the group, as in a consumer group: `epoch` grows when a member joins, leaves or changes, and when topics or settings
change; `target_epoch` is the group epoch for which the target assignment was computed (`targets`); the epoch of a member is that of the
target that it is moving to. In addition, a topology has an epoch, and `validated_topology_epoch` is that of the topology whose topics exist
with suitable numbers of partitions. Tasks are assigned only while it is the epoch of the group's topology.

`heartbeat_step.py` explains how a heartbeat is handled. A group changes only by `apply`, after the records of the changes have been
written. A heartbeat also leaves facts in the group that Kafka does not write and forgets when the coordinator moves: `Unwritten`.

The rules are those of Kafka's `StreamsGroup` and `GroupMetadataManager`; they were compared with Apache Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from ....protocol.errors import ErrorCode
from ...kafka_quirks.java_hash import timeline_order
from ...plurals import counted
from ...scheduling.timers import Timers
from ..cluster_view import ClusterView
from ..consumer.assignors import Slot
from ..heartbeat_group import CommittingGroup
from ..settings import GroupSettings
from ..states import StreamsGroupState
from .changes import Changes, GroupEpoch, TargetEpoch
from .configuration import Configuration
from .member import MemberState, StreamsMember
from .reconciliation import TaskOwners
from .sticky_assignor import MemberSpec, assign
from .tasks import Tasks
from .topology import Topology

FIRST_EPOCH = GroupEpoch(number=1, metadata_hash=0, validated_topology_epoch=0, assignment_configs=())
FIRST_TARGET = TargetEpoch(number=1, computed_at_ms=0)
UNKNOWN_VERSION = -1
SESSION, REVOCATION, DELAY = "session", "revocation", "assignment delay"
"""The kinds of timers. Their keys are (kind, group id, member id), without a member for the delay of the first assignment."""
_REASONS = {SESSION: "has been silent for too long", REVOCATION: "has not revoked its tasks in time"}


@dataclass(slots=True)
class Unwritten:
    """The facts of a group that are not in its records. `topics_version` is the version of the topics that `configuration` is based on."""

    configuration: Configuration | None = None
    topics_version: int = UNKNOWN_VERSION
    endpoint_epoch: int = 0
    """Grows when the tasks of a member with an endpoint change."""
    shutdown_member: str | None = None
    """The member that has requested the shutdown of the application."""


class StreamsGroup(CommittingGroup[StreamsMember]):
    """One group of the streams protocol. `remove_member` is called with the group and a member that has expired."""

    type: Literal["streams"] = "streams"
    protocol_type = "streams"
    members: dict[str, StreamsMember]

    def __init__(
        self,
        group_id: str,
        timers: Timers,
        settings: GroupSettings,
        cluster: ClusterView,
        remove_member: Callable[[StreamsGroup, str], None],
        assign_delayed: Callable[[StreamsGroup], None],
    ) -> None:
        super().__init__(group_id, timers, settings, cluster)
        self.group_epoch, self.target_epoch = FIRST_EPOCH, FIRST_TARGET
        self.topology: Topology | None = None
        self.readers: dict[str, str] = {}
        """Topic -> id of the subtopology that reads it."""
        self.members = {}
        self.targets: dict[str, Tasks] = {}
        """Member id -> target assignment of `target_epoch`."""
        self.owners = TaskOwners()
        self.unwritten = Unwritten()
        self._remove_member, self._assign_delayed = remove_member, assign_delayed

    @property
    def epoch(self) -> int:
        return self.group_epoch.number

    @property
    def assignment_epoch(self) -> int:
        return self.target_epoch.number

    @property
    def _max_size(self) -> int:
        return self.settings.group_streams_max_size

    @property
    def state(self) -> StreamsGroupState:
        """The state, computed on each access so that heartbeats need not maintain it."""
        if self.is_dead:
            return StreamsGroupState.DEAD
        if not self.members:
            return StreamsGroupState.EMPTY
        if self.topology is None or self.topology.epoch != self.group_epoch.validated_topology_epoch:
            return StreamsGroupState.NOT_READY
        if self.epoch > self.assignment_epoch:
            return StreamsGroupState.ASSIGNING
        reconciled = all(member.is_reconciled_to(self.assignment_epoch) for member in self.members.values())
        return StreamsGroupState.STABLE if reconciled else StreamsGroupState.RECONCILING

    def begin_epoch_for_all(self, epoch: int) -> None:
        """Moves the group and its members to a higher epoch, which fences the members until they join again."""
        self.group_epoch, self.target_epoch = self.group_epoch._replace(number=epoch), self.target_epoch._replace(number=epoch)
        self.members = {name: member.as_fenced(epoch) for name, member in self.members.items()}

    def subscribes_to(self, topic: str) -> bool:
        return topic in self.readers and not self.is_empty

    # Changes

    def apply(self, changes: Changes) -> None:
        """Applies changes whose records have been written."""
        if changes.removed is not None:
            self._remove(changes.removed)
        if changes.topology is not None:
            self.topology, self.readers = changes.topology, changes.topology.readers()
        self.group_epoch = changes.epoch or self.group_epoch
        self.target_epoch = changes.target_epoch or self.target_epoch
        self.targets.update(changes.targets)
        for member in (changes.metadata, changes.current):
            if member is not None:
                self._store(member)
        if changes.current is not None:
            self._update_revocation(changes.current)
        if changes.epoch is not None:
            self.announce(f"begins epoch {self.epoch} with {counted(len(self.members), 'member')}")
        if changes.target_epoch is not None:
            self.announce(f"sticky has assigned epoch {self.assignment_epoch}")

    def _store(self, member: StreamsMember) -> None:
        before = self.members.pop(member.member_id, None)  # Kafka's hash table moves a changed member to the front of its slot
        if before is None:
            self.announce(f"member {member.member_id} joins")
        self.owners.replace(before, member)
        self.members[member.member_id] = member

    def _remove(self, member_id: str) -> None:
        self.owners.replace(self.members.pop(member_id), None)
        self.targets.pop(member_id, None)
        for kind in _REASONS:
            self.timers.cancel((kind, self.group_id, member_id))
        if not self.members:
            self.unwritten.shutdown_member = None

    def removal(self, member_id: str) -> Changes:
        """Returns the changes by which a member leaves."""
        return Changes(removed=member_id, epoch=self.group_epoch._replace(number=self.epoch + 1))

    # Assignments

    def assignment(self, epoch: GroupEpoch, configuration: Configuration, joining: StreamsMember | None) -> dict[str, Tasks]:
        """Returns the target assignment for a group epoch. `joining` is a member that is new or has changed in this step."""
        members = {member_id: self.members[member_id] for member_id in timeline_order(self.members)}
        if joining is not None:
            members[joining.member_id] = joining
        if configuration.problem is not None or configuration.subtopologies is None:
            return dict.fromkeys(members, Tasks())
        specs = {name: MemberSpec(member.process_id, self.targets.get(name, Tasks())) for name, member in members.items()}
        standbys = int(dict(epoch.assignment_configs).get("num.standby.replicas", 0))
        return assign(specs, configuration.subtopologies, standbys)

    def delayed_assignment(self) -> Changes:
        """Returns the changes at the end of the initial delay; none if no member has configured the topology since then."""
        configuration = self.unwritten.configuration
        if not self.members or configuration is None or not self.may_assign():
            return Changes()
        return self.target_changes(self.assignment(self.group_epoch, configuration, None), self.epoch)

    def may_assign(self) -> bool:
        """Returns whether the interval between target assignments is over."""
        interval_ms = self.setting("streams.assignment.interval.ms", self.settings.group_streams_assignment_interval_ms)
        last_ms = self.target_epoch.computed_at_ms
        return last_ms == 0 or interval_ms == 0 or self.timers.now_ms >= last_ms + interval_ms

    def target_changes(self, targets: dict[str, Tasks], epoch: int) -> Changes:
        """Returns the changes by which the group gets a target assignment."""
        changed = {member_id: tasks for member_id, tasks in targets.items() if self.targets.get(member_id) != tasks}
        return Changes(targets=changed, target_epoch=TargetEpoch(epoch, self.timers.now_ms))

    # Timers

    @property
    def delay_key(self) -> tuple[str, str]:
        """The key of the timer that delays the first assignment."""
        return DELAY, self.group_id

    def start_delay(self, delay_ms: int) -> None:
        """Delays the first assignment, so that members which join soon share it."""
        self.timers.set(self.delay_key, delay_ms, self.timer_action(DELAY))

    def _session_timeout_ms(self, _member: StreamsMember) -> int:
        return self.setting("streams.session.timeout.ms", self.settings.group_streams_session_timeout_ms)

    def _update_revocation(self, member: StreamsMember) -> None:
        key = REVOCATION, self.group_id, member.member_id
        if member.state is MemberState.UNREVOKED_TASKS:
            self.timers.set(key, member.rebalance_timeout_ms, self.timer_action(REVOCATION, member.member_id))
        else:
            self.timers.cancel(key)

    def timer_action(self, kind: str, member_id: str = "") -> Callable[[], None]:
        return partial(self._assign_delayed, self) if kind == DELAY else partial(self._expire, kind, member_id)

    def _expire(self, kind: str, member_id: str) -> None:
        self.announce(f"member {member_id} {_REASONS[kind]} and is removed")
        self._remove_member(self, member_id)

    def coordinator_moved(self) -> None:
        """Forgets what the former coordinator has not written, and starts sessions and revocation timeouts anew."""
        self.unwritten = Unwritten()
        self.timers.cancel(self.delay_key)
        self.renew_sessions()
        for member in self.members.values():
            self._update_revocation(member)

    # Offsets

    def _check_commit(self, member: StreamsMember, epoch: int, slots: Iterable[Slot], supports_member_epochs: bool) -> ErrorCode:
        if not supports_member_epochs:
            return ErrorCode.UNSUPPORTED_VERSION
        if epoch < member.epoch and self._has_owned_all(member, epoch, slots):
            return ErrorCode.NONE
        return member.check_fetch(epoch)

    def _has_owned_all(self, member: StreamsMember, epoch: int, slots: Iterable[Slot]) -> bool:
        topics = self.cluster.topics_by_id
        for topic_id, index in slots:
            reader = self.readers.get(topics[topic_id].name) if topic_id in topics else None
            since = None if reader is None else member.epoch_of((reader, index))
            if since is None or since > epoch:
                return False
        return True

    # Deletion

    def delete(self) -> None:
        super().delete()
        self.timers.cancel(self.delay_key)
