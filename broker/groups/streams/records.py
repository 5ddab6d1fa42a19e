"""The records of streams groups in `__consumer_offsets`, in Kafka's order (StreamsCoordinatorRecordHelpers)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping

from ....protocol.schema import Message
from ....protocol.stored.coordinator_records import CoordinatorRecord, GroupKey, MemberKey, RecordType, write_key, write_value
from ....protocol.stored.streams_records import (
    CopartitionGroup,
    CurrentTaskIds,
    Endpoint,
    KeyValue,
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyValue,
    Subtopology,
    TargetTaskIds,
    TopicInfo,
)
from .changes import Changes, GroupEpoch, TargetEpoch
from .member import StreamsMember
from .tasks import Task, Tasks, by_subtopology
from .topology import InternalTopicInfo, Topology
from .topology import Subtopology as SubtopologyPart

_MEMBER_TYPES = (
    RecordType.STREAMS_CURRENT_MEMBER_ASSIGNMENT,
    RecordType.STREAMS_TARGET_ASSIGNMENT_MEMBER,
    RecordType.STREAMS_MEMBER_METADATA,
)
_GROUP_TYPES = (RecordType.STREAMS_TARGET_ASSIGNMENT_METADATA, RecordType.STREAMS_GROUP_METADATA, RecordType.STREAMS_TOPOLOGY)


def streams_records(group_id: str, changes: Changes) -> list[CoordinatorRecord]:
    """Returns a record for each change, and tombstones for a removed member."""
    return list(_records(group_id, changes))


def _records(group_id: str, changes: Changes) -> Iterator[CoordinatorRecord]:
    if (removed := changes.removed) is not None:
        yield from (_of_member(kind, group_id, removed, None) for kind in _MEMBER_TYPES)
    if (member := changes.metadata) is not None:
        yield _of_member(RecordType.STREAMS_MEMBER_METADATA, group_id, member.member_id, _metadata(member))
    if changes.topology is not None:
        yield _of_group(RecordType.STREAMS_TOPOLOGY, group_id, _topology(changes.topology))
    if changes.epoch is not None:
        yield _of_group(RecordType.STREAMS_GROUP_METADATA, group_id, _epoch(changes.epoch))
    for member_id, tasks in changes.targets.items():
        yield _of_member(RecordType.STREAMS_TARGET_ASSIGNMENT_MEMBER, group_id, member_id, _target(tasks))
    if changes.target_epoch is not None:
        yield _of_group(RecordType.STREAMS_TARGET_ASSIGNMENT_METADATA, group_id, _target_epoch(changes.target_epoch))
    if (member := changes.current) is not None:
        yield _of_member(RecordType.STREAMS_CURRENT_MEMBER_ASSIGNMENT, group_id, member.member_id, _current(member))


def streams_tombstones(group_id: str) -> list[CoordinatorRecord]:
    """Returns the tombstones of a group without members."""
    return [_of_group(kind, group_id, None) for kind in _GROUP_TYPES]


def _of_group(kind: RecordType, group_id: str, value: Message | None) -> CoordinatorRecord:
    return CoordinatorRecord(write_key(kind, GroupKey(group=group_id)), None if value is None else write_value(0, value))


def _of_member(kind: RecordType, group_id: str, member_id: str, value: Message | None) -> CoordinatorRecord:
    key = write_key(kind, MemberKey(group_id=group_id, member_id=member_id))
    return CoordinatorRecord(key, None if value is None else write_value(0, value))


def _metadata(member: StreamsMember) -> StreamsGroupMemberMetadataValue:
    return StreamsGroupMemberMetadataValue(
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        topology_epoch=member.topology_epoch,
        process_id=member.process_id,
        user_endpoint=None if member.endpoint is None else Endpoint(host=member.endpoint.host, port=member.endpoint.port),
        client_tags=_pairs(sorted(member.client_tags.items())),
    )


def _pairs(pairs: Iterable[tuple[str, str]]) -> list[KeyValue]:
    return [KeyValue(key=key, value=value) for key, value in pairs]


def _epoch(epoch: GroupEpoch) -> StreamsGroupMetadataValue:
    return StreamsGroupMetadataValue(
        epoch=epoch.number,
        metadata_hash=epoch.metadata_hash,
        validated_topology_epoch=epoch.validated_topology_epoch,
        last_assignment_configs=_pairs(epoch.assignment_configs),
    )


def _target_epoch(epoch: TargetEpoch) -> StreamsGroupTargetAssignmentMetadataValue:
    return StreamsGroupTargetAssignmentMetadataValue(assignment_epoch=epoch.number, assignment_timestamp=epoch.computed_at_ms)


def _target(tasks: Tasks) -> StreamsGroupTargetAssignmentMemberValue:
    active, standby, warmup = (
        [TargetTaskIds(subtopology_id=name, partitions=partitions) for name, partitions in by_subtopology(some).items()] for some in tasks
    )
    return StreamsGroupTargetAssignmentMemberValue(active_tasks=active, standby_tasks=standby, warmup_tasks=warmup)


def _current(member: StreamsMember) -> StreamsGroupCurrentMemberAssignmentValue:
    return StreamsGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        active_tasks=_active(member.assigned.active),
        standby_tasks=_passive(member.assigned.standby),
        warmup_tasks=_passive(member.assigned.warmup),
        active_tasks_pending_revocation=_active(member.revoking.active),
        standby_tasks_pending_revocation=_passive(member.revoking.standby),
        warmup_tasks_pending_revocation=_passive(member.revoking.warmup),
    )


def _active(tasks: Mapping[Task, int]) -> list[CurrentTaskIds]:
    return [
        CurrentTaskIds(subtopology_id=name, partitions=partitions, assignment_epochs=[tasks[name, index] for index in partitions])
        for name, partitions in by_subtopology(tasks).items()
    ]


def _passive(tasks: Collection[Task]) -> list[CurrentTaskIds]:
    return [CurrentTaskIds(subtopology_id=name, partitions=partitions) for name, partitions in by_subtopology(tasks).items()]


def _topology(topology: Topology) -> StreamsGroupTopologyValue:
    return StreamsGroupTopologyValue(epoch=topology.epoch, subtopologies=[_subtopology(part) for part in topology.subtopologies.values()])


def _subtopology(part: SubtopologyPart) -> Subtopology:
    return Subtopology(
        subtopology_id=part.subtopology_id,
        source_topics=list(part.source_topics),
        source_topic_regex=[],
        state_changelog_topics=[_topic(topic) for topic in part.changelog_topics],
        repartition_sink_topics=list(part.repartition_sink_topics),
        repartition_source_topics=[_topic(topic) for topic in part.repartition_source_topics],
        copartition_groups=[
            CopartitionGroup(
                source_topics=list(group.source_topics),
                source_topic_regex=[],
                repartition_source_topics=list(group.repartition_source_topics),
            )
            for group in part.copartition_groups
        ],
    )


def _topic(topic: InternalTopicInfo) -> TopicInfo:
    return TopicInfo(
        name=topic.name, partitions=topic.partitions, replication_factor=topic.replication_factor, topic_configs=_pairs(topic.configs)
    )
