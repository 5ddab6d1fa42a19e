"""The keys and values of `__consumer_offsets` and `__transaction_state`, as Kafka's coordinators write them.

A key is its kind, two bytes, and a message; a value its version, two bytes, and a message. Fields and versions are those of Kafka 4.3
(GroupCoordinatorRecordSerde, TransactionLog).
"""

from __future__ import annotations

from typing import NamedTuple

from .schema import ZERO_UUID, Int8, Int16, Int32, Int64, Message, Uuid, field


class CoordinatorRecord(NamedTuple):
    """A record of an internal topic; without a value it deletes what its key names."""

    key: bytes
    value: bytes | None


class OffsetCommitKey(Message):
    """Of kind 1."""

    group: str
    topic: str
    partition: Int32


class OffsetCommitValue(Message):
    """Written in version 4, or in 1 if the client named a retention time."""

    flexible_from = 4
    offset: Int64
    leader_epoch: Int32 = field(since=3, default=-1)
    metadata: str
    commit_timestamp: Int64
    expire_timestamp: Int64 = field(since=1, until=1, default=-1)
    topic_id: Uuid = field(since=4, tag=0, default=ZERO_UUID)


class GroupKey(Message):
    """Of kinds 2 (classic groups), 3 (consumer groups) and 6 (their target assignments)."""

    group: str


class MemberKey(Message):
    """Of kinds 5 (members), 7 (target assignments) and 8 (current assignments), and with an expression for a member of kind 16."""

    group_id: str
    member_id: str


class GroupMetadataValue(Message):
    """A classic group; written in version 3."""

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
    """What a member of a consumer group said."""

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
    """What it said in the classic protocol. Kafka has a byte in front of a tagged structure that may be null: 1, it is not."""

    is_present: Int8 = 1
    session_timeout_ms: Int32
    supported_protocols: list[ClassicProtocol]


class ClassicProtocol(Message):
    """One of its protocols."""

    name: str
    metadata: bytes


class ConsumerGroupTargetAssignmentMetadataValue(Message):
    """The epoch of the target assignment."""

    flexible_from = 0
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


class ConsumerGroupTargetAssignmentMemberValue(Message):
    """What a member shall own."""

    flexible_from = 0
    topic_partitions: list[TargetPartitions]


class TargetPartitions(Message):
    """Partitions of a topic."""

    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupCurrentMemberAssignmentValue(Message):
    """Where a member stands."""

    flexible_from = 0
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: list[CurrentPartitions]
    partitions_pending_revocation: list[CurrentPartitions]


class CurrentPartitions(Message):
    """Partitions of a topic, with the epochs in which the member got them (KIP-1251)."""

    topic_id: Uuid
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0, default=None)


class ConsumerGroupRegularExpressionValue(Message):
    """What an expression matches."""

    flexible_from = 0
    topics: list[str]
    version: Int64
    timestamp: Int64


class TransactionLogKey(Message):
    """Of kind 0, the only one of `__transaction_state`."""

    transactional_id: str


class TransactionLogValue(Message):
    """A transactional id; written in version 1 from the feature level 1 of transactions on, else in version 0."""

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
    """Partitions of a topic that are part of a transaction."""

    topic: str
    partition_ids: list[Int32]


def write_key(kind: int, key: Message) -> bytes:
    """A key with its kind in front."""
    return kind.to_bytes(2, "big") + key.encode(0)


def write_value(version: int, value: Message) -> bytes:
    """A value with its version in front."""
    return version.to_bytes(2, "big") + value.encode(version)
