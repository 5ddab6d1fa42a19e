"""Requests of group members and administrators, for the families of groups.

The name of a member is also the name of its connection, and `$name` is its member id.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from odradek.protocol.messages import consumer_group_heartbeat as beating
from odradek.protocol.messages.consumer_group_describe import CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest
from odradek.protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribeGroupsRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest, MemberIdentity
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.offset_delete import (
    OFFSET_DELETE,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from odradek.protocol.messages.offset_fetch import (
    OFFSET_FETCH,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
)
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from odradek.protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription, TopicPartitions, write

from .case import Send, Topic, id_of

ONE, TWO, THREE = Topic("groups-one"), Topic("groups-two"), Topic("groups-three")
FOUR = Topic("groups-four", {}, ((1,), (1,), (2,), (2,)))
TOPICS = (ONE, TWO, THREE, FOUR)
"""The last topic has four partitions, the others two.

Members share only one topic, because Kafka assigns several topics in the order of their ids, which are random.
"""
LONG_MS = 60_000
"""A timeout that never expires in a case."""
WRONG_IDS: dict[str, tuple[int, dict[str, Any]]] = {
    "no-group": (0, {"group_id": ""}),
    "blank-group": (0, {"group_id": " "}),
    "no-member": (0, {"member_id": ""}),
    "blank-member": (0, {"member_id": "  "}),
    "no-member.beat": (1, {"member_id": ""}),
    "no-member.leave": (-1, {"member_id": ""}),
}
"""Heartbeats that each protocol refuses: by the names of cases, the member epoch and the wrong id."""


def subscription(*topics: str, version: int = 1, owned: Mapping[str, Sequence[int]] | None = None, user_data: bytes | None = None) -> bytes:
    """Returns the metadata that a classic consumer sends in JoinGroup."""
    parts = [TopicPartitions(topic=topic, partitions=list(indexes)) for topic, indexes in (owned or {}).items()]
    return write(ConsumerProtocolSubscription(topics=list(topics), owned_partitions=parts, user_data=user_data), version)


def assignment(parts: Mapping[str, Sequence[int]], user_data: bytes | None = None) -> bytes:
    """Returns the assignment that the leader of a classic group sends for a member."""
    assigned = [TopicPartitions(topic=topic, partitions=list(indexes)) for topic, indexes in parts.items()]
    return write(ConsumerProtocolAssignment(assigned_partitions=assigned, user_data=user_data), 1)


READS_ONE, BOTH_OF_ONE = subscription(ONE.name), assignment({ONE.name: [0, 1]})


class ClassicMember:
    """A member that uses the classic protocol."""

    def __init__(self, group: str, name: str, instance: str | None = None) -> None:
        self.group, self.name, self.instance = group, name, instance
        self.id = f"${name}"

    def join(
        self,
        member_id: str | None = None,
        *,
        version: int = 9,
        protocols: Mapping[str, bytes] | None = None,
        kind: str = "consumer",
        session_ms: int = LONG_MS,
        rebalance_ms: int = LONG_MS,
        waits: bool = False,
    ) -> Send:
        """Returns a JoinGroup request, by default with the id of the member. The answer binds the id."""
        request = JoinGroupRequest(
            group_id=self.group,
            session_timeout_ms=session_ms,
            rebalance_timeout_ms=rebalance_ms,
            member_id=self.id if member_id is None else member_id,
            group_instance_id=self.instance,
            protocol_type=kind,
            protocols=[
                JoinGroupRequestProtocol(name=name, metadata=data)
                for name, data in ({"range": READS_ONE} if protocols is None else protocols).items()
            ],
        )
        return Send(JOIN_GROUP, version, request, connection=self.name, waits=waits, binds={self.name: "member_id"})

    def enter(self, version: int = 9, **options: Any) -> tuple[Send, ...]:
        """Returns the JoinGroup requests by which a new member enters the group."""
        if version < 4 or self.instance is not None:
            return (self.join("", version=version, **options),)
        first = {name: value for name, value in options.items() if name != "waits"}
        return self.join("", version=version, **first), self.join(version=version, **options)

    def sync(
        self,
        generation: int,
        assignments: Mapping[str, bytes] | None = None,
        *,
        member_id: str | None = None,
        version: int = 5,
        kind: str | None = "consumer",
        protocol: str | None = "range",
        waits: bool = False,
    ) -> Send:
        """Returns a SyncGroup request; `assignments` are keyed by member id."""
        request = SyncGroupRequest(
            group_id=self.group,
            generation_id=generation,
            member_id=self.id if member_id is None else member_id,
            group_instance_id=self.instance,
            protocol_type=kind,
            protocol_name=protocol,
            assignments=[SyncGroupRequestAssignment(member_id=name, assignment=data) for name, data in (assignments or {}).items()],
        )
        return Send(SYNC_GROUP, version, request, connection=self.name, waits=waits)

    def heartbeat(self, generation: int, *, member_id: str | None = None, version: int = 4) -> Send:
        named = self.id if member_id is None else member_id
        request = HeartbeatRequest(group_id=self.group, generation_id=generation, member_id=named, group_instance_id=self.instance)
        return Send(HEARTBEAT, version, request, connection=self.name)

    def leave(self, version: int = 5) -> Send:
        return leave(self.group, (self.id, self.instance), version=version, connection=self.name)

    def commit(self, generation: int, version: int = 9, **options: Any) -> Send:
        return commit(self.group, member=self.id, instance=self.instance, epoch=generation, version=version, **options)


class ConsumerMember:
    """A member that uses the consumer protocol. Its id is its name, because since v1 clients choose their ids."""

    def __init__(self, group: str, name: str, instance: str | None = None) -> None:
        self.group, self.name, self.instance = group, name, instance

    def join(self, *topics: str, version: int = 1, **fields: Any) -> Send:
        """Returns the first heartbeat of a member."""
        names = list(topics or (ONE.name,))
        defaults: dict[str, Any] = {"rebalance_timeout_ms": LONG_MS, "subscribed_topic_names": names, "owned": {}}
        return self.beat(0, version=version, **defaults | fields)

    def beat(self, epoch: int, *, owned: Mapping[str, Sequence[int]] | None = None, version: int = 1, **fields: Any) -> Send:
        """Returns a heartbeat with the named fields; `owned` are partitions by topic."""
        parts = [beating.TopicPartitions(topic_id=id_of(name), partitions=list(indexes)) for name, indexes in (owned or {}).items()]
        values: dict[str, Any] = {
            "group_id": self.group,
            "member_id": self.name,
            "member_epoch": epoch,
            "instance_id": self.instance,
        } | fields
        request = ConsumerGroupHeartbeatRequest(topic_partitions=None if owned is None else parts, **values)
        binds = {} if values["member_id"] else {self.name: "member_id"}
        return Send(CONSUMER_GROUP_HEARTBEAT, version, request, connection=self.name, binds=binds)

    def leave(self) -> Send:
        return self.beat(-1)

    def commit(self, epoch: int, version: int = 9, **options: Any) -> Send:
        return commit(self.group, member=self.name, instance=self.instance, epoch=epoch, version=version, **options)


def leave(group: str, *members: tuple[str, str | None], version: int = 5, connection: str = "", reason: str | None = None) -> Send:
    """Returns a LeaveGroup request; up to v2 for the first of the members only."""
    identities = [MemberIdentity(member_id=member_id, group_instance_id=instance, reason=reason) for member_id, instance in members]
    if version >= 3:
        return Send(LEAVE_GROUP, version, LeaveGroupRequest(group_id=group, members=identities), connection=connection)
    return Send(LEAVE_GROUP, version, LeaveGroupRequest(group_id=group, member_id=members[0][0]), connection=connection)


Commits = Mapping[str, Mapping[int, int]]


def commit(
    group: str,
    offsets: Commits | None = None,
    *,
    member: str = "",
    instance: str | None = None,
    epoch: int = -1,
    version: int = 9,
    leader_epoch: int = -1,
    metadata: str | None = "",
    retention_ms: int = -1,
) -> Send:
    """Returns an OffsetCommit request, by default of offset 1 in one partition."""
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            topic_id=id_of(name),
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offset, committed_leader_epoch=leader_epoch, committed_metadata=metadata
                )
                for index, offset in partitions.items()
            ],
        )
        for name, partitions in ({ONE.name: {0: 1}} if offsets is None else offsets).items()
    ]
    request = OffsetCommitRequest(
        group_id=group,
        generation_id_or_member_epoch=epoch,
        member_id=member,
        group_instance_id=instance,
        retention_time_ms=retention_ms,
        topics=topics,
    )
    return Send(OFFSET_COMMIT, version, request)


Partitions = Mapping[str, Sequence[int]]


def fetch_offsets(
    group: str, wanted: Partitions | None = None, *, version: int = 9, stable: bool = False, member: str | None = None, epoch: int = -1
) -> Send:
    """Returns an OffsetFetch request, by default of all committed offsets."""
    if version >= 8:
        return fetch_groups({group: wanted}, version=version, stable=stable, member=member, epoch=epoch)
    topics = None if wanted is None else [OffsetFetchRequestTopic(name=name, partition_indexes=list(each)) for name, each in wanted.items()]
    return Send(OFFSET_FETCH, version, OffsetFetchRequest(group_id=group, topics=topics, require_stable=stable))


def fetch_groups(
    groups: Mapping[str, Partitions | None], *, version: int = 9, stable: bool = False, member: str | None = None, epoch: int = -1
) -> Send:
    requested = [
        OffsetFetchRequestGroup(
            group_id=group,
            member_id=member,
            member_epoch=epoch,
            topics=None
            if wanted is None
            else [
                OffsetFetchRequestTopics(name=name, topic_id=id_of(name), partition_indexes=list(indexes))
                for name, indexes in wanted.items()
            ],
        )
        for group, wanted in groups.items()
    ]
    return Send(OFFSET_FETCH, version, OffsetFetchRequest(groups=requested, require_stable=stable))


def delete_offsets(group: str, partitions: Partitions) -> Send:
    topics = [
        OffsetDeleteRequestTopic(name=name, partitions=[OffsetDeleteRequestPartition(partition_index=index) for index in indexes])
        for name, indexes in partitions.items()
    ]
    return Send(OFFSET_DELETE, 0, OffsetDeleteRequest(group_id=group, topics=topics))


def describe(*groups: str, version: int = 6, operations: bool = False) -> Send:
    return Send(DESCRIBE_GROUPS, version, DescribeGroupsRequest(groups=list(groups), include_authorized_operations=operations))


def describe_consumers(*groups: str, version: int = 1, operations: bool = False) -> Send:
    request = ConsumerGroupDescribeRequest(group_ids=list(groups), include_authorized_operations=operations)
    return Send(CONSUMER_GROUP_DESCRIBE, version, request)


def list_groups(states: Sequence[str] = (), types: Sequence[str] = (), *, version: int = 5, node: int = 1) -> Send:
    return Send(LIST_GROUPS, version, ListGroupsRequest(states_filter=list(states), types_filter=list(types)), node=node)


def delete_groups(*groups: str, version: int = 2) -> Send:
    return Send(DELETE_GROUPS, version, DeleteGroupsRequest(groups_names=list(groups)))


def bounds_of_times(kind: str) -> dict[str, dict[str, str]]:
    """Returns settings of a group of this kind, at and beyond the bounds that the broker sets, by the names of the cases."""
    return {
        "short-session": {f"{kind}.session.timeout.ms": "4000"},
        "session-as-heartbeat": {f"{kind}.session.timeout.ms": "5000"},
        "session-above-heartbeat": {f"{kind}.session.timeout.ms": "5001"},
        "both": {f"{kind}.session.timeout.ms": "4000", f"{kind}.heartbeat.interval.ms": "3999"},
        "both-alike": {f"{kind}.session.timeout.ms": "4000", f"{kind}.heartbeat.interval.ms": "4000"},
        "session-below-minimum": {f"{kind}.session.timeout.ms": "99", f"{kind}.heartbeat.interval.ms": "50"},
        "session-above-maximum": {f"{kind}.session.timeout.ms": "60001"},
        "heartbeat-below-minimum": {f"{kind}.heartbeat.interval.ms": "49"},
        "heartbeat-above-maximum": {f"{kind}.heartbeat.interval.ms": "15001"},
        "assignment-interval": {f"{kind}.assignment.interval.ms": "15000"},
        "assignment-interval-above-maximum": {f"{kind}.assignment.interval.ms": "15001"},
        "assignment-interval-negative": {f"{kind}.assignment.interval.ms": "-1"},
    }
