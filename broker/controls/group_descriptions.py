"""Describes groups of all types for the controls, which import this module when a group is first described."""

from __future__ import annotations

from ...protocol.schema import ProtocolError
from ...protocol.stored import consumer_protocol
from ...protocol.stored.consumer_protocol import ConsumerProtocolAssignment, ConsumerProtocolSubscription
from ..cluster.group_progress import progress
from ..cluster.state import ClusterState
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
from .group_info import GroupInfo, MemberInfo


def describe_group(group: Group, cluster: ClusterState) -> GroupInfo:
    """Returns the description of a group of any type."""
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
