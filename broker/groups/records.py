"""The records of groups and offsets in `__consumer_offsets`, with the keys and values that Kafka writes (GroupCoordinatorRecordHelpers)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from ...protocol.schema import ZERO_UUID, Message
from ...protocol.stored.coordinator_records import (
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
    GroupMetadataValue,
    MemberKey,
    MemberMetadata,
    OffsetCommitKey,
    OffsetCommitValue,
    RecordType,
    TargetPartitions,
    write_key,
    write_value,
)
from .classic.group import ClassicGroup
from .consumer.assignors import Slot, by_topic
from .consumer.group import ConsumerGroup
from .consumer.member import ConsumerMember
from .offsets import CommittedOffset
from .streams.group import StreamsGroup
from .streams.records import streams_tombstones

if TYPE_CHECKING:
    from ..releases.release import Release

_GROUP_RECORDS = (RecordType.CONSUMER_GROUP_METADATA, RecordType.TARGET_ASSIGNMENT_METADATA)


def offset_record(
    group_id: str,
    topic: str,
    partition: int,
    committed: CommittedOffset | None,
    topic_id: bytes = ZERO_UUID,
    release: Release | None = None,
) -> CoordinatorRecord:
    """Returns the record of a commit as a release writes it, None for 4.3, or a tombstone if `committed` is None."""
    key = write_key(RecordType.OFFSET_COMMIT, OffsetCommitKey(group=group_id, topic=topic, partition=partition))
    if committed is None:
        return CoordinatorRecord(key, None)
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=-1 if committed.expire_timestamp_ms is None else committed.expire_timestamp_ms,
        topic_id=topic_id,
    )
    version = 4 if release is None else release.offset_commit_version
    return CoordinatorRecord(key, write_value(version if committed.expire_timestamp_ms is None else 1, value))


def classic_record(group: ClassicGroup, now_ms: int) -> CoordinatorRecord:
    """Returns the record of a classic group with its members."""
    value = GroupMetadataValue(
        protocol_type=group.protocol_type or "",
        generation=group.generation_id,
        protocol=group.protocol_name,
        leader=group.leader,
        current_state_timestamp=now_ms,
        members=[
            MemberMetadata(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                rebalance_timeout=member.rebalance_timeout_ms,
                session_timeout=member.session_timeout_ms,
                subscription=member.metadata(group.protocol_name),
                assignment=member.assignment,
            )
            for member in group.members.values()
        ],
    )
    return CoordinatorRecord(_group_key(RecordType.GROUP_METADATA, group.group_id), write_value(3, value))


def classic_tombstone(group_id: str) -> CoordinatorRecord:
    return CoordinatorRecord(_group_key(RecordType.GROUP_METADATA, group_id), None)


def tombstones(group: ClassicGroup | ConsumerGroup | StreamsGroup) -> list[CoordinatorRecord]:
    """Returns the tombstones of a group without members."""
    if isinstance(group, ClassicGroup):
        return [classic_tombstone(group.group_id)]
    if isinstance(group, StreamsGroup):
        return streams_tombstones(group.group_id)
    kinds = (RecordType.TARGET_ASSIGNMENT_METADATA, RecordType.CONSUMER_GROUP_METADATA)
    return [CoordinatorRecord(_group_key(kind, group.group_id), None) for kind in kinds]


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
