"""Controls that describe groups and wait for them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from ...protocol import consumer_protocol
from ...protocol.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from ...protocol.schema import ProtocolError
from ..cluster.state import ClusterState
from ..control_errors import InvalidControl, unknown
from ..groups.classic.group import ClassicGroup
from ..groups.classic.member import Member
from ..groups.consumer.assignors import by_topic
from ..groups.consumer.member import ConsumerMember
from ..groups.coordinator import Group
from ..groups.share.group import ShareGroup
from ..groups.share.member import ShareMember
from ..groups.share.partitions_view import UNINITIALIZED_START_OFFSET
from ..groups.streams.group import StreamsGroup
from ..groups.streams.member import StreamsMember
from ..groups.streams.tasks import by_subtopology
from ..topics.names import CONSUMER_OFFSETS
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
class OffsetInfo:
    """The progress of a group in a partition.

    `committed` is the committed offset, or None for an assigned partition without one. `lag` is the number of offsets up to the high
    watermark; without a committed offset it counts from the start of the log. In a share group, `committed` is the start offset, or None
    before the first fetch, and `lag` does not count records after it that are acknowledged or archived.
    """

    topic: str
    partition: int
    committed: int | None
    metadata: str
    lag: int


@dataclass(frozen=True)
class GroupInfo:
    """A group. `epoch` is the generation of a classic group; `coordinator` is a node id, -1 while no node coordinates the group.

    The members of a streams group have the partitions that their active tasks read.
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
    def lag(self) -> int:
        """The sum of the lags of all partitions."""
        return sum(each.lag for each in self.offsets)


class GroupControls(Controls):
    """The groups of a cluster."""

    @control("group list", reads=True)
    async def groups(self) -> list[GroupInfo]:
        """Returns all groups."""
        cluster = self._server.cluster
        return [_described(group, cluster) for group in cluster.groups]

    @control("group show", reads=True)
    async def show_group(self, group: GroupId) -> GroupInfo:
        """Returns a group with its members, their partitions, the committed offsets and the lag."""
        cluster = self._server.cluster
        found = cluster.groups.get(group)
        if found is None:
            raise unknown("group", "group", group, [each.group_id for each in cluster.groups])
        return _described(found, cluster)

    @control("group wait", reads=True)
    async def wait_for_group(
        self,
        group: GroupId,
        *,
        members: Annotated[int | None, "the number of members that the group must have"] = None,
        state: Annotated[str | None, "the state that the group must have, such as Stable or Empty"] = None,
        lag: Annotated[int | None, "the highest lag that the group may have, over all partitions"] = None,
        timeout_s: TimeoutS = DEFAULT_TIMEOUT_S,
    ) -> GroupInfo:
        """Waits until a group fulfils all given conditions, and returns it. The group need not exist yet.

        Without conditions, it waits until the group exists. Raises ControlTimeout with the members, the state and the lag of each
        partition at the end.
        """
        for name, number in (("members", members), ("lag", lag)):
            if number is not None and number < 0:
                raise InvalidControl(name, f"{name}: must not be negative, but it is {number}")
        if state is not None:
            state = _known_state(state)

        def reached() -> GroupInfo | None:
            found = self._server.cluster.groups.get(group)
            if found is None or (members is not None and len(found.members) != members):
                return None
            if state is not None and found.state.value.lower() != state:
                return None
            info = _described(found, self._server.cluster)
            return info if lag is None or info.lag <= lag else None

        def missing() -> str:
            conditions = {"members": members, "state": state, "lag": lag}
            wanted = ", ".join(f"{name}={value}" for name, value in conditions.items() if value is not None)
            found = self._server.cluster.groups.get(group)
            if found is None:
                return f"group {group!r} does not exist" + (f", wanted {wanted}" if wanted else "")
            return f"group {group!r} did not reach {wanted}: {_summary(_described(found, self._server.cluster))}"

        return await until(lambda: self._server, reached, missing, timeout_s)


_STATES = ("Empty", "PreparingRebalance", "CompletingRebalance", "Stable", "Dead", "Assigning", "Reconciling", "NotReady")


def _known_state(state: str) -> str:
    """Returns the state in lower case. Raises InvalidControl for a state that no group can have."""
    if state.lower() not in map(str.lower, _STATES):
        raise unknown("state", "state of a group", state, _STATES)
    return state.lower()


def _summary(group: GroupInfo) -> str:
    members = ", ".join(f"{member.member_id} with {_partitions(member.assignment)}" for member in group.members)
    offsets = ", ".join(f"{each.topic}-{each.partition} committed {each.committed} lag {each.lag}" for each in group.offsets)
    return f"it is {group.state} with {len(group.members)} members ({members or 'none'}) and lag {group.lag} ({offsets or 'no offsets'})"


def _partitions(assignment: dict[str, list[int]]) -> str:
    return " ".join(f"{topic}-{index}" for topic, indexes in assignment.items() for index in indexes) or "no partitions"


def _described(group: Group, cluster: ClusterState) -> GroupInfo:
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
    coordinator = cluster.coordinator(group.group_id, CONSUMER_OFFSETS)
    return GroupInfo(
        group_id=group.group_id,
        type=group.type,
        state=group.state.value,
        protocol=protocol,
        epoch=epoch,
        coordinator=-1 if coordinator is None else coordinator.leader,
        members=members,
        offsets=list(_share_offsets(group, cluster) if isinstance(group, ShareGroup) else _offsets(group, members, cluster)),
    )


def _classic_member(member: Member, group: ClassicGroup) -> MemberInfo:
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
    assignment = {cluster.topic_name(topic_id): sorted(indexes) for topic_id, indexes in by_id.items()}
    host = member.client_host.lstrip("/")
    return MemberInfo(member.member_id, member.instance_id, member.client_id, host, sorted(member.topics), assignment)


def _share_member(member: ShareMember, cluster: ClusterState) -> MemberInfo:
    assignment = {cluster.topic_name(topic_id): sorted(indexes) for topic_id, indexes in member.assigned.items()}
    return MemberInfo(member.member_id, None, member.client_id, member.client_host.lstrip("/"), sorted(member.topics), assignment)


def _share_offsets(group: ShareGroup, cluster: ClusterState) -> Iterable[OffsetInfo]:
    """Yields the initialized partitions, in the order of topics and partitions. The committed offset is the start offset of the group."""
    initialized = {
        (cluster.topic_name(topic_id), index): topic_id
        for topic_id, indexes in group.initialization.assignable.items()
        for index in indexes
    }
    for (topic, index), topic_id in sorted(initialized.items()):
        partition, stored = cluster.find_partition(topic, index), cluster.share_states.summary(group.group_id, topic_id, index)
        if partition is None or stored is None or stored.start_offset == UNINITIALIZED_START_OFFSET:
            yield OffsetInfo(topic, index, None, "", 0)
        else:
            lag = partition.high_watermark - stored.start_offset - max(0, stored.delivery_complete_count)
            yield OffsetInfo(topic, index, stored.start_offset, "", max(0, lag))


def _streams_member(member: StreamsMember, group: StreamsGroup, cluster: ClusterState) -> MemberInfo:
    """Returns a member with the partitions of the topics that its active tasks read."""
    topics: dict[str, list[int]] = {}
    parts = group.topology.subtopologies if group.topology else {}
    for name, partitions in by_subtopology((*member.assigned.active, *member.revoking.active)).items():
        for topic in parts[name].read_topics():
            topics[topic] = [index for index in partitions if cluster.find_partition(topic, index)]
    host = member.client_host.lstrip("/")
    return MemberInfo(member.member_id, None, member.client_id, host, sorted(group.readers), dict(sorted(topics.items())))


def _offsets(group: Group, members: Iterable[MemberInfo], cluster: ClusterState) -> Iterable[OffsetInfo]:
    """Yields the partitions with a committed offset, and the assigned ones without, in the order of topics and partitions."""
    committed = {
        (topic, index): each for topic, partitions in cluster.groups.offsets.of(group.group_id) for index, each in partitions.items()
    }
    assigned = {(topic, index) for member in members for topic, indexes in member.assignment.items() for index in indexes}
    for topic, index in sorted(committed.keys() | assigned):
        found = committed.get((topic, index))
        partition = cluster.find_partition(topic, index)
        lag = 0
        if partition is not None:
            lag = max(0, partition.high_watermark - (partition.log.start_offset if found is None else found.offset))
        yield OffsetInfo(topic, index, None if found is None else found.offset, "" if found is None else found.metadata, lag)
