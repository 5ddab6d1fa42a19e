"""The records of consumer groups in `__consumer_offsets`, with the keys and values that Kafka writes (GroupCoordinatorRecordHelpers)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ....protocol.schema import Message
from ....protocol.stored.coordinator_records import (
    ClassicMemberMetadata,
    ClassicProtocol,
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    CoordinatorRecord,
    CurrentPartitions,
    GroupKey,
    MemberKey,
    RecordType,
    TargetPartitions,
    write_key,
    write_value,
)
from .assignors import Slot, by_topic
from .group import ConsumerGroup
from .member import ConsumerMember

_GROUP_RECORDS = (RecordType.CONSUMER_GROUP_METADATA, RecordType.TARGET_ASSIGNMENT_METADATA)


def consumer_records(group: ConsumerGroup, now_ms: int) -> list[CoordinatorRecord]:
    """Returns a record for each part of a consumer group that has changed since the last call, and tombstones for removed parts."""
    return [
        CoordinatorRecord(
            _group_key(kind, group.group_id)
            if kind in _GROUP_RECORDS
            else write_key(kind, MemberKey(group_id=group.group_id, member_id=name)),
            None if (value := _value(group, kind, name, now_ms)) is None else write_value(0, value),
        )
        for kind, name in group.journal.drain()
    ]


def consumer_tombstones(group_id: str) -> list[CoordinatorRecord]:
    """Returns the tombstones of a group without members."""
    return [CoordinatorRecord(_group_key(kind, group_id), None) for kind in reversed(_GROUP_RECORDS)]


def _group_key(kind: RecordType, group_id: str) -> bytes:
    return write_key(kind, GroupKey(group=group_id))


def _value(group: ConsumerGroup, kind: RecordType, name: str, now_ms: int) -> Message | None:
    if kind is RecordType.REGULAR_EXPRESSION:
        topics = group.subscriptions.regexes.get(name)
        return None if topics is None else ConsumerGroupRegularExpressionValue(topics=sorted(topics), version=0, timestamp=now_ms)
    if kind in _GROUP_RECORDS:
        return _epoch_value(group, kind)
    member = group.members.get(name)
    if member is None:
        return None
    if kind is RecordType.MEMBER_METADATA:
        return _metadata_value(member)
    if kind is RecordType.TARGET_ASSIGNMENT_MEMBER:
        target = by_topic(group.targets.get(name, ()))
        partitions = [TargetPartitions(topic_id=topic_id, partitions=indexes) for topic_id, indexes in target.items()]
        return ConsumerGroupTargetAssignmentMemberValue(topic_partitions=partitions)
    return ConsumerGroupCurrentMemberAssignmentValue(
        member_epoch=member.epoch,
        previous_member_epoch=member.previous_epoch,
        state=member.state,
        assigned_partitions=_partitions(member.assigned),
        partitions_pending_revocation=_partitions(member.revoking),
    )


def _epoch_value(group: ConsumerGroup, kind: RecordType) -> Message | None:
    if group.is_dead:
        return None
    if kind is RecordType.CONSUMER_GROUP_METADATA:
        return ConsumerGroupMetadataValue(epoch=group.epoch, metadata_hash=group.subscriptions.metadata_hash)
    return ConsumerGroupTargetAssignmentMetadataValue(
        assignment_epoch=group.assignment_epoch, assignment_timestamp=group.assigned_at_ms or 0
    )


def _metadata_value(member: ConsumerMember) -> ConsumerGroupMemberMetadataValue:
    classic = member.classic and ClassicMemberMetadata(
        session_timeout_ms=member.classic.session_timeout_ms,
        supported_protocols=[ClassicProtocol(name=protocol.name, metadata=protocol.metadata) for protocol in member.classic.protocols],
    )
    return ConsumerGroupMemberMetadataValue(
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        rebalance_timeout_ms=member.rebalance_timeout_ms,
        server_assignor=member.assignor,
        classic_member_metadata=classic,
    )


def _partitions(slots: Mapping[Slot, int]) -> list[CurrentPartitions]:
    return [
        CurrentPartitions(topic_id=topic_id, partitions=indexes, assignment_epochs=_epochs(slots, topic_id, indexes))
        for topic_id, indexes in by_topic(slots).items()
    ]


def _epochs(slots: Mapping[Slot, int], topic_id: bytes, indexes: Iterable[int]) -> list[int]:
    return [slots[topic_id, index] for index in indexes]
