"""The records of groups in `__consumer_offsets`, decoded."""

from __future__ import annotations

from typing import Any

from odradek.protocol.batches.records import RecordBatch
from odradek.protocol.schema import Message
from odradek.protocol.stored.coordinator_records import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    ConsumerGroupRegularExpressionValue,
    ConsumerGroupTargetAssignmentMemberValue,
    ConsumerGroupTargetAssignmentMetadataValue,
    GroupKey,
    GroupMetadataValue,
    MemberKey,
    OffsetCommitKey,
    OffsetCommitValue,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    ShareGroupMetadataValue,
    ShareGroupStatePartitionMetadataValue,
    ShareGroupTargetAssignmentMemberValue,
    ShareGroupTargetAssignmentMetadataValue,
)
from odradek.protocol.stored.streams_records import (
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTargetAssignmentMetadataValue,
    StreamsGroupTopologyValue,
)
from tests.broker.harness import World

TYPES: dict[int, tuple[type[Message], type[Message]]] = {
    1: (OffsetCommitKey, OffsetCommitValue),
    2: (GroupKey, GroupMetadataValue),
    3: (GroupKey, ConsumerGroupMetadataValue),
    5: (MemberKey, ConsumerGroupMemberMetadataValue),
    6: (GroupKey, ConsumerGroupTargetAssignmentMetadataValue),
    7: (MemberKey, ConsumerGroupTargetAssignmentMemberValue),
    8: (MemberKey, ConsumerGroupCurrentMemberAssignmentValue),
    10: (MemberKey, ShareGroupMemberMetadataValue),
    11: (GroupKey, ShareGroupMetadataValue),
    12: (GroupKey, ShareGroupTargetAssignmentMetadataValue),
    13: (MemberKey, ShareGroupTargetAssignmentMemberValue),
    14: (MemberKey, ShareGroupCurrentMemberAssignmentValue),
    15: (GroupKey, ShareGroupStatePartitionMetadataValue),
    16: (MemberKey, ConsumerGroupRegularExpressionValue),
    17: (GroupKey, StreamsGroupMetadataValue),
    19: (MemberKey, StreamsGroupMemberMetadataValue),
    20: (GroupKey, StreamsGroupTargetAssignmentMetadataValue),
    21: (MemberKey, StreamsGroupTargetAssignmentMemberValue),
    22: (MemberKey, StreamsGroupCurrentMemberAssignmentValue),
    23: (GroupKey, StreamsGroupTopologyValue),
}
"""The key and the value of each type."""


def group_records(world: World) -> list[tuple[int, Any, int, Any]]:
    """Returns the records of the first partition as (type, key, version of the value, value); -1 and None for tombstones."""
    log = world.cluster.topics["__consumer_offsets"].partitions[0].log
    found: list[tuple[int, Any, int, Any]] = []
    for batch in log.batches(log.start_offset, log.end_offset):
        for record in RecordBatch(batch).records():
            assert record.key is not None
            kind = int.from_bytes(record.key[:2], "big")
            key, value = TYPES[kind]
            version = -1 if record.value is None else int.from_bytes(record.value[:2], "big")
            said = None if record.value is None else value.decode(version, record.value[2:])
            found.append((kind, key.decode(0, record.key[2:]), version, said))
    return found
