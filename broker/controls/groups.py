"""Controls that describe groups and wait for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

from ...protocol.schema import ProtocolError
from ...protocol.stored import consumer_protocol
from ...protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from ..cluster.group_progress import OffsetInfo, progress, total_lag
from ..cluster.state import ClusterState
from ..control_errors import InvalidControl, unknown
from ..groups.classic.group import ClassicGroup
from ..groups.classic.members import ClassicMember
from ..groups.consumer.assignors import by_topic
from ..groups.consumer.member import ConsumerMember
from ..groups.coordinator import Group
from ..groups.share.group import ShareGroup
from ..groups.share.member import ShareMember
from ..groups.streams.group import StreamsGroup
from ..groups.streams.member import StreamsMember
from ..groups.streams.tasks import by_subtopology
from ..plurals import counted
from .declaration import Controls, control
from .parameters import GroupId, TimeoutS
from .waiting import DEFAULT_TIMEOUT_S, until


@dataclass(frozen=True)
class MemberInfo:
    """One member of a group. `assignment` contains the indexes of its partitions by topic; `instance_id` is None for a dynamic member."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    topics: list[str]
    assignment: dict[str, list[int]]


@dataclass(frozen=True)
class GroupInfo:
    """A group. `epoch` is the generation of a classic group; `coordinator` is a node id, -1 while no node coordinates the group.

    The members of a streams group have the partitions that their active tasks read. `offsets` contains all partitions of the topics to
    which members subscribe or in which the group has committed an offset.
    """

    group_id: str
    type: str
    state: str
    protocol: str
    epoch: int
    coordinator: int
    members: list[MemberInfo]
    offsets: list[OffsetInfo]

    @property
    def lag(self) -> int | None:
        """The sum of the lags of all partitions; None while the group has no subscription and no committed offset."""
        return total_lag(self.offsets)


class GroupControls(Controls):
    """The groups of a cluster."""

    @control("group list", reads=True)
    async def groups(self) -> list[GroupInfo]:
        """Returns all groups."""
        cluster = self._server.cluster
        return [_group_info(group, cluster) for group in cluster.groups]

    @control("group show", reads=True)
    async def show_group(self, group: GroupId) -> GroupInfo:
        """Returns a group with its members, their partitions, the committed offsets and the lag."""
        cluster = self._server.cluster
        found = cluster.groups.get(group)
        if found is None:
            raise unknown("group", "group", group, [each.group_id for each in cluster.groups])
        return _group_info(found, cluster)

    @control("group wait", reads=True)
    async def wait_for_group(
        self,
        group: GroupId,
        *,
        members: Annotated[int | None, "the number of members that the group must have"] = None,
        state: Annotated[str | None, "the state that the group must have, such as Stable or Empty"] = None,
        lag: Annotated[int | None, "the highest lag that the group may have, over all partitions"] = None,
        topic: Annotated[str | None, "the topic in which the group must have committed an offset"] = None,
        partition: Annotated[int | None, "the partition of the topic; needed if it has several"] = None,
        committed: Annotated[int | None, "the offset that the group must have committed there, or a later one"] = None,
        timeout_s: TimeoutS = DEFAULT_TIMEOUT_S,
    ) -> GroupInfo:
        """Waits until a group fulfils all given conditions, and returns it. The group need not exist yet.

        Without conditions, it waits until the group exists. No lag is low enough while the group has no subscription and no committed
        offset. Raises ControlTimeout with the members, the state and the lag of each partition at the end.
        """
        for name, number in (("members", members), ("lag", lag), ("partition", partition), ("committed", committed)):
            if number is not None and number < 0:
                raise InvalidControl(name, f"must not be negative, but it is {number}")
        if topic is None and (given := "partition" if partition is not None else "committed" if committed is not None else ""):
            raise InvalidControl("topic", f"is required with {given}")
        wanted = GroupConditions(members, None if state is None else _state_in_lower_case(state), lag, topic, partition, committed)

        def reached() -> GroupInfo | None:
            found = self._server.cluster.groups.get(group)
            if found is None or not wanted.may_be_met(found):
                return None
            info = _group_info(found, self._server.cluster)
            return info if wanted.are_met(info) else None

        def missing() -> str:
            found = self._server.cluster.groups.get(group)
            if found is None:
                return f"group {group!r} does not exist" + (f", wanted {wanted}" if str(wanted) else "")
            return f"group {group!r} did not reach {wanted}: {_summary(_group_info(found, self._server.cluster))}"

        return await until(lambda: self._server, reached, missing, timeout_s)


class GroupConditions(NamedTuple):
    """The conditions that a group must meet. None accepts everything."""

    members: int | None
    state: str | None
    lag: int | None
    topic: str | None
    partition: int | None
    committed: int | None

    def __str__(self) -> str:
        return ", ".join(f"{name}={value}" for name, value in self._asdict().items() if value is not None)

    def may_be_met(self, group: Group) -> bool:
        """Returns whether a group meets the conditions that are cheap to test."""
        return self.members in (None, len(group.members)) and self.state in (None, group.state.value.lower())

    def are_met(self, group: GroupInfo) -> bool:
        """Returns whether a group meets the conditions about its offsets. Raises InvalidControl for a topic of several partitions."""
        if self.lag is not None and (group.lag is None or group.lag > self.lag):
            return False
        if self.topic is None:
            return True
        found = committed_offset(group, self.topic, self.partition)
        return found is not None and found >= (self.committed or 0)


def committed_offset(group: GroupInfo, topic: str, partition: int | None) -> int | None:
    """Returns the offset that a group has committed in a partition, or in the only partition of a topic; None if there is none.

    Raises InvalidControl if the topic has several partitions and none is named.
    """
    found = {each.partition: each.committed for each in group.offsets if each.topic == topic}
    if partition is None and len(found) > 1:
        raise InvalidControl("partition", f"is required, because topic {topic!r} has {counted(len(found), 'partition')}")
    return found.get(partition) if partition is not None else next(iter(found.values()), None)


_STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Assigning", "Reconciling", "NotReady")


def _state_in_lower_case(state: str) -> str:
    """Returns the state in lower case. Raises InvalidControl for a state that no group can have."""
    if state.lower() not in map(str.lower, _STATES):
        raise unknown("state", "state of a group", state, _STATES)
    return state.lower()


def _summary(group: GroupInfo) -> str:
    members = ", ".join(f"{member.member_id} with {_partitions(member.assignment)}" for member in group.members)
    offsets = ", ".join(f"{each.topic}-{each.partition} committed {each.committed} lag {each.lag}" for each in group.offsets)
    count = counted(len(group.members), "member")
    return f"it is {group.state} with {count} ({members or 'none'}) and {_lag_text(group)} ({offsets or 'no offsets'})"


def _lag_text(group: GroupInfo) -> str:
    return "an unknown lag" if group.lag is None else f"lag {group.lag}"


def _partitions(assignment: dict[str, list[int]]) -> str:
    return " ".join(f"{topic}-{index}" for topic, indexes in assignment.items() for index in indexes) or "no partitions"


def _group_info(group: Group, cluster: ClusterState) -> GroupInfo:
    if isinstance(group, ClassicGroup):
        members = [_classic_member(member, group) for member in group.members.values()]
        protocol, epoch = group.protocol_name or "", group.generation_id
    elif isinstance(group, ShareGroup):
        members = [_share_member(member, cluster) for member in group.members.values()]
        protocol, epoch = group.assignor, group.epoch
    elif isinstance(group, StreamsGroup):
        members = [_streams_member(member, group, cluster) for member in group.members.values()]
        protocol, epoch = "sticky", group.epoch
    else:
        members = [_consumer_member(member, cluster) for member in group.members.values()]
        protocol, epoch = group.assignor, group.epoch
    return GroupInfo(
        group_id=group.group_id,
        type=group.type,
        state=group.state.value,
        protocol=protocol,
        epoch=epoch,
        coordinator=cluster.coordinator_log.coordinator(group.group_id),
        members=members,
        offsets=list(progress(group, cluster)),
    )


def _classic_member(member: ClassicMember, group: ClassicGroup) -> MemberInfo:
    assignment: dict[str, list[int]] = {}
    topics: list[str] = []
    try:
        if member.assignment:
            assigned = consumer_protocol.read(ConsumerProtocolAssignment, member.assignment).assigned_partitions
            assignment = {each.topic: sorted(each.partitions) for each in assigned}
        topics = sorted(consumer_protocol.read(ConsumerProtocolSubscription, member.metadata(group.protocol_name)).topics)
    except ProtocolError:
        pass  # members of another protocol type, such as Kafka Connect's, exchange bytes that only they understand
    return MemberInfo(member.member_id, member.group_instance_id, member.client_id, member.client_host.lstrip("/"), topics, assignment)


def _consumer_member(member: ConsumerMember, cluster: ClusterState) -> MemberInfo:
    by_id = by_topic((*member.assigned, *member.revoking))
    assignment = {cluster.topics.name_of(topic_id): sorted(indexes) for topic_id, indexes in by_id.items()}
    host = member.client_host.lstrip("/")
    return MemberInfo(member.member_id, member.instance_id, member.client_id, host, sorted(member.topics), assignment)


def _share_member(member: ShareMember, cluster: ClusterState) -> MemberInfo:
    assignment = {cluster.topics.name_of(topic_id): sorted(indexes) for topic_id, indexes in member.assigned.items()}
    return MemberInfo(member.member_id, None, member.client_id, member.client_host.lstrip("/"), sorted(member.topics), assignment)


def _streams_member(member: StreamsMember, group: StreamsGroup, cluster: ClusterState) -> MemberInfo:
    """Returns a member with the partitions of the topics that its active tasks read."""
    topics: dict[str, list[int]] = {}
    parts = group.topology.subtopologies if group.topology else {}
    for name, partitions in by_subtopology((*member.assigned.active, *member.revoking.active)).items():
        for topic in parts[name].read_topics():
            topics[topic] = [index for index in partitions if cluster.topics.find_partition(topic, index)]
    host = member.client_host.lstrip("/")
    return MemberInfo(member.member_id, None, member.client_id, host, sorted(group.readers), dict(sorted(topics.items())))
