"""The description of a streams group for StreamsGroupDescribe (Kafka's `StreamsGroup.asDescribedGroup`)."""

from __future__ import annotations

from collections.abc import Iterable

from ...protocol.messages.streams_group_describe import (
    Assignment,
    DescribedGroup,
    Endpoint,
    KeyValue,
    Member,
    Subtopology,
    TaskIds,
    TopicInfo,
    Topology,
)
from ..groups.streams import topology as topologies
from ..groups.streams.configuration import ConfiguredSubtopology, NewTopic
from ..groups.streams.group import StreamsGroup
from ..groups.streams.member import StreamsMember
from ..groups.streams.tasks import Task, Tasks, by_subtopology
from ..kafka_quirks.java_hash import hash_map_order, timeline_order


def topics_of(group: StreamsGroup) -> set[str]:
    """Returns all topics of a group's topology, also those that it only writes to."""
    topology = group.topology
    return set() if topology is None else topology.required_topics().union(*(part.repartition_sink_topics for part in topology.parts()))


def describe_group(group: StreamsGroup) -> DescribedGroup:
    """Returns the description. Numbers of partitions are those that the broker has decided, if the topology is configured."""
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        topology=_topology(group),
        members=[_member(group.members[member_id], group) for member_id in timeline_order(group.members)],
    )


def _topology(group: StreamsGroup) -> Topology | None:
    configuration, topology = group.unwritten.configuration, group.topology
    if topology is None:
        return None
    if configuration is not None and configuration.problem is None and configuration.subtopologies is not None:
        parts = [_describe_configured(name, part) for name, part in configuration.subtopologies.items()]
    else:
        parts = [_describe_sent(topology.subtopologies[name]) for name in sorted(topology.subtopologies)]
    return Topology(epoch=topology.epoch, subtopologies=parts)


def _describe_configured(name: str, part: ConfiguredSubtopology) -> Subtopology:
    return Subtopology(
        subtopology_id=name,
        source_topics=sorted(part.source_topics),
        repartition_sink_topics=sorted(part.repartition_sink_topics),
        state_changelog_topics=_internal(part.changelog_topics.values()),
        repartition_source_topics=_internal(part.repartition_source_topics.values()),
    )


def _describe_sent(part: topologies.Subtopology) -> Subtopology:
    return Subtopology(
        subtopology_id=part.subtopology_id,
        source_topics=sorted(part.source_topics),
        repartition_sink_topics=sorted(part.repartition_sink_topics),
        state_changelog_topics=_internal(part.changelog_topics),
        repartition_source_topics=_internal(part.repartition_source_topics),
    )


def _internal(topics: Iterable[NewTopic | topologies.InternalTopicInfo]) -> list[TopicInfo]:
    return [
        TopicInfo(
            name=topic.name,
            partitions=topic.partitions,
            replication_factor=topic.replication_factor,
            topic_configs=[KeyValue(key=key, value=value) for key, value in topic.configs],
        )
        for topic in sorted(topics, key=lambda topic: topic.name)
    ]


def _member(member: StreamsMember, group: StreamsGroup) -> Member:
    endpoint, target = member.endpoint, group.targets.get(member.member_id, Tasks())
    return Member(
        member_id=member.member_id,
        member_epoch=member.epoch,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if endpoint is None else Endpoint(host=endpoint.host, port=endpoint.port),
        client_tags=[KeyValue(key=key, value=member.client_tags[key]) for key in hash_map_order(member.client_tags)],
        task_offsets=[],
        task_end_offsets=[],
        assignment=_assignment(member.assigned.active, member.assigned.standby, member.assigned.warmup),
        target_assignment=_assignment(*target),
    )


def _assignment(active: Iterable[Task], standby: Iterable[Task], warmup: Iterable[Task]) -> Assignment:
    return Assignment(active_tasks=_tasks(active), standby_tasks=_tasks(standby), warmup_tasks=_tasks(warmup))


def _tasks(tasks: Iterable[Task]) -> list[TaskIds]:
    return [TaskIds(subtopology_id=name, partitions=partitions) for name, partitions in by_subtopology(tasks).items()]
