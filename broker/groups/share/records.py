"""The records of share groups in `__consumer_offsets`, with the keys and values that Kafka writes (GroupCoordinatorRecordHelpers)."""

from __future__ import annotations

from collections.abc import Mapping

from ....protocol.schema import Message
from ....protocol.stored.coordinator_records import (
    CoordinatorRecord,
    GroupKey,
    MemberKey,
    NamedPartitions,
    NamedTopic,
    RecordType,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataValue,
    TargetPartitions,
    write_key,
    write_value,
)
from .assignor import NO_PARTITIONS, Assignment
from .group import ShareGroup
from .initialization import Initialization, TopicInitialization

_STABLE = 0
"""The state of every member, because members of share groups have nothing to reconcile."""
_GROUP_RECORDS = (
    RecordType.SHARE_TARGET_ASSIGNMENT_METADATA,
    RecordType.SHARE_STATE_PARTITION_METADATA,
    RecordType.SHARE_GROUP_METADATA,
)


def share_records(group: ShareGroup) -> list[CoordinatorRecord]:
    """Returns a record for each part of a share group that has changed since the last call, and tombstones for removed parts."""
    records = []
    for kind, member_id in group.journal.drain():
        value = _value(group, kind, member_id)
        records.append(CoordinatorRecord(_key(group, kind, member_id), None if value is None else write_value(0, value)))
    return records


def share_tombstones(group: ShareGroup) -> list[CoordinatorRecord]:
    """Returns the tombstones of a group without members."""
    return [CoordinatorRecord(_key(group, kind, ""), None) for kind in _GROUP_RECORDS]


def _key(group: ShareGroup, kind: RecordType, member_id: str) -> bytes:
    key = GroupKey(group=group.group_id) if kind in _GROUP_RECORDS else MemberKey(group_id=group.group_id, member_id=member_id)
    return write_key(kind, key)


def _value(group: ShareGroup, kind: RecordType, member_id: str) -> Message | None:
    if kind is RecordType.SHARE_GROUP_METADATA:
        return ShareGroupMetadataValue(epoch=group.epoch, metadata_hash=group.subscriptions.metadata_hash)
    if kind is RecordType.SHARE_TARGET_ASSIGNMENT_METADATA:
        return ShareGroupTargetAssignmentMetadataValue(
            assignment_epoch=group.assignment_epoch, assignment_timestamp=group.assigned_at_ms or 0
        )
    if kind is RecordType.SHARE_STATE_PARTITION_METADATA:
        return _state_partitions(group.initialization)
    member = group.members.get(member_id)
    if member is None:
        return None
    if kind is RecordType.SHARE_MEMBER_METADATA:
        return ShareGroupMemberMetadataValue(
            rack_id=member.rack_id,
            client_id=member.client_id,
            client_host=member.client_host,
            subscribed_topic_names=sorted(member.topics),
        )
    if kind is RecordType.SHARE_TARGET_ASSIGNMENT_MEMBER:
        return ShareGroupTargetAssignmentMemberValue(topic_partitions=_partitions(group.targets.get(member_id, NO_PARTITIONS)))
    return ShareGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=_STABLE,
        assigned_partitions=_partitions(member.assigned),
    )


def _partitions(assignment: Assignment) -> list[TargetPartitions]:
    return [TargetPartitions(topic_id=topic_id, partitions=sorted(indexes)) for topic_id, indexes in assignment.items()]


def _state_partitions(partitions: Initialization) -> ShareGroupStatePartitionMetadataValue:
    return ShareGroupStatePartitionMetadataValue(
        initializing_topics=_named_partitions(partitions.initializing),
        initialized_topics=_named_partitions(partitions.initialized),
        deleting_topics=[NamedTopic(topic_id=topic_id, topic_name=name) for topic_id, name in partitions.deleting.items()],
    )


def _named_partitions(topics: Mapping[bytes, TopicInitialization]) -> list[NamedPartitions]:
    return [NamedPartitions(topic_id=topic_id, topic_name=each.name, partitions=sorted(each.indexes)) for topic_id, each in topics.items()]
