"""The keys and values of records in `__consumer_offsets`, `__transaction_state` and `__share_group_state`, as coordinators write them.

A key consists of an int16 for its type and a message, a value of an int16 for its version and a message. Fields and versions are those of
Kafka 4.3 (GroupCoordinatorRecordSerde, TransactionLog, ShareCoordinatorRecordSerde).
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from ..schema import ZERO_UUID, Int8, Int16, Int32, Int64, Message, Uuid, field


class RecordType(IntEnum):
    """The types of records in `__consumer_offsets`. Each key begins with the number of its type (Kafka's CoordinatorRecordType)."""

    OFFSET_COMMIT = 1
    GROUP_METADATA = 2
    CONSUMER_GROUP_METADATA = 3
    MEMBER_METADATA = 5
    TARGET_ASSIGNMENT_METADATA = 6
    TARGET_ASSIGNMENT_MEMBER = 7
    CURRENT_MEMBER_ASSIGNMENT = 8
    SHARE_MEMBER_METADATA = 10
    SHARE_GROUP_METADATA = 11
    SHARE_TARGET_ASSIGNMENT_METADATA = 12
    SHARE_TARGET_ASSIGNMENT_MEMBER = 13
    SHARE_CURRENT_MEMBER_ASSIGNMENT = 14
    SHARE_STATE_PARTITION_METADATA = 15
    REGULAR_EXPRESSION = 16
    STREAMS_GROUP_METADATA = 17
    STREAMS_MEMBER_METADATA = 19
    STREAMS_TARGET_ASSIGNMENT_METADATA = 20
    STREAMS_TARGET_ASSIGNMENT_MEMBER = 21
    STREAMS_CURRENT_MEMBER_ASSIGNMENT = 22
    STREAMS_TOPOLOGY = 23


class CoordinatorRecord(NamedTuple):
    """A record of an internal topic. Without a value it is a tombstone for its key."""

    key: bytes
    value: bytes | None


class OffsetCommitKey(Message):
    """The key of type 1: the offset of a group in a partition."""

    group: str
    topic: str
    partition: Int32


class OffsetCommitValue(Message):
    """A committed offset. It is written in version 4, before Kafka 4.1 in version 3, or in version 1 if the client set a
    retention time."""

    flexible_from = 4
    offset: Int64
    leader_epoch: Int32 = field(since=3, default=-1)
    metadata: str
    commit_timestamp: Int64
    expire_timestamp: Int64 = field(since=1, until=1, default=-1)
    topic_id: Uuid = field(since=4, tag=0, default=ZERO_UUID)


class GroupKey(Message):
    """The key of the records of whole groups: types 2 (classic), 3, 11 and 17 (consumer, share and streams groups), 6, 12 and 20 (epochs of
    target assignments), 15 (the share partitions of a group) and 23 (topologies)."""

    group: str


class MemberKey(Message):
    """The key of types 5, 10 and 19 (members), 7, 13 and 21 (target assignments), 8, 14 and 22 (current assignments), and 16 (regular
    expressions, in `member_id`)."""

    group_id: str
    member_id: str


class GroupMetadataValue(Message):
    """A classic group. It is written in version 3."""

    flexible_from = 4
    protocol_type: str
    generation: Int32
    protocol: str | None
    leader: str | None
    current_state_timestamp: Int64 = field(since=2, default=-1)
    members: list[MemberMetadata]


class MemberMetadata(Message):
    """A member of a classic group."""

    member_id: str
    group_instance_id: str | None = field(since=3, default=None)
    client_id: str
    client_host: str
    rebalance_timeout: Int32 = field(since=1, default=-1)
    session_timeout: Int32
    subscription: bytes
    assignment: bytes


class ConsumerGroupMetadataValue(Message):
    """The epoch of a consumer group."""

    flexible_from = 0
    epoch: Int32
    metadata_hash: Int64 = field(tag=0, default=0)


class ConsumerGroupMemberMetadataValue(Message):
    """The subscription and the client of a member of a consumer group."""

    flexible_from = 0
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32 = -1
    server_assignor: str | None
    classic_member_metadata: ClassicMemberMetadata | None = field(tag=0, default=None)


class ClassicMemberMetadata(Message):
    """The protocols and the session timeout that a classic member of a consumer group sent in JoinGroup.

    `is_present` is the byte that Kafka writes before a nullable structure in a tagged field: 1 if it is not null.
    """

    is_present: Int8 = 1
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


class ClassicProtocol(Message):
    """One of the protocols in a JoinGroup request."""

    name: str
    metadata: bytes


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    """The epoch of the target assignment."""

    flexible_from = 0
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


class ConsumerGroupTargetAssignmentMemberValue(Message):
    """The target assignment of a member."""

    flexible_from = 0
    topic_partitions: list[TargetPartitions]


class TargetPartitions(Message):
    """Some partitions of a topic."""

    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    """The current assignment of a member, and its state in the reconciliation."""

    flexible_from = 0
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[CurrentPartitions]
    partitions_pending_revocation: list[CurrentPartitions]


class CurrentPartitions(Message):
    """Some partitions of a topic, with the member epochs in which they were assigned (KIP-1251)."""

    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0, default=None)


class ConsumerGroupRegularExpressionValue(Message):
    """The topics that a regular expression matches."""

    flexible_from = 0
    topics: list[str]
    version: Int64
    timestamp: Int64


class ShareGroupMetadataValue(Message):
    """The epoch of a share group."""

    flexible_from = 0
    epoch: Int32
    metadata_hash: Int64


class ShareGroupMemberMetadataValue(Message):
    """The subscription and the client of a member of a share group."""

    flexible_from = 0
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]


class ShareGroupTargetAssignmentMetadataValue(Message):
    """The epoch of the target assignment of a share group."""

    flexible_from = 0
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


class ShareGroupTargetAssignmentMemberValue(Message):
    """The target assignment of a member of a share group."""

    flexible_from = 0
    topic_partitions: list[TargetPartitions]


class ShareGroupCurrentMemberAssignmentValue(Message):
    """The current assignment of a member of a share group."""

    flexible_from = 0
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[TargetPartitions]


class ShareGroupStatePartitionMetadataValue(Message):
    """The share partitions of a group: whose state is being initialized, whose state is initialized, and whose state is being deleted."""

    flexible_from = 0
    initializing_topics: list[NamedPartitions]
    initialized_topics: list[NamedPartitions]
    deleting_topics: list[NamedTopic]


class NamedPartitions(Message):
    """Some partitions of a topic, with its name."""

    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


class NamedTopic(Message):
    """A topic with its name."""

    topic_id: Uuid
    topic_name: str


class TransactionLogKey(Message):
    """The key of type 0, the only one in `__transaction_state`."""

    transactional_id: str


class TransactionLogValue(Message):
    """The state of a transactional id. It is written in version 0 at level 0 of the feature transaction.version, else in version 1."""

    flexible_from = 1
    producer_id: Int64
    previous_producer_id: Int64 = field(since=1, tag=0, default=-1)
    next_producer_id: Int64 = field(since=1, tag=1, default=-1)
    producer_epoch: Int16
    transaction_timeout_ms: Int32
    transaction_status: Int8
    transaction_partitions: list[TransactionPartitions] | None
    transaction_last_update_timestamp_ms: Int64
    transaction_start_timestamp_ms: Int64
    client_transaction_version: Int16 = field(since=1, tag=2, default=0)


class TransactionPartitions(Message):
    """The partitions of a topic that are part of a transaction."""

    topic: str
    partition_ids: list[Int32]


class ShareRecordType(IntEnum):
    """The types of records in `__share_group_state`."""

    SNAPSHOT = 0
    UPDATE = 1


class SharePartitionKey(Message):
    """The key of both types: a partition that a share group reads."""

    group_id: str
    topic_id: Uuid
    partition: Int32


class ShareSnapshotValue(Message):
    """The whole state of a share partition."""

    flexible_from = 0
    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(tag=0, default=-1)
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: list[ShareStateBatch]


class ShareUpdateValue(Message):
    """A change of the state of a share partition. A start offset of -1 leaves the former one in place."""

    flexible_from = 0
    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(tag=0, default=-1)
    state_batches: list[ShareStateBatch]


class ShareStateBatch(Message):
    """The state of a range of offsets: 0 available, 2 acknowledged, 4 archived."""

    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


def write_key(kind: int, key: Message) -> bytes:
    """Returns the int16 `kind` and the key."""
    return kind.to_bytes(2, "big") + key.encode(0)


def write_value(version: int, value: Message) -> bytes:
    """Returns the int16 `version` and the value."""
    return version.to_bytes(2, "big") + value.encode(version)
