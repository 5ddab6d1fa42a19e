"""ConsumerGroupDescribe (69): describes consumer groups (KIP-848).

v1 added the type of each member, classic or consumer (KIP-1099).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, Uuid, field, versions


class ConsumerGroupDescribeRequest(Message):
    flexible_from = 0
    group_ids: list[str]
    include_authorized_operations: bool = False


class ConsumerGroupDescribeResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup]


class DescribedGroup(Message):
    error_code: Int16 = 0
    error_message: str | None = None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: list[Member]
    authorized_operations: Int32 = -(1 << 31)


class Member(Message):
    member_id: str
    instance_id: str | None = None
    rack_id: str | None = None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    subscribed_topic_regex: str | None = None
    assignment: Assignment
    target_assignment: Assignment
    member_type: Int8 = field(since=1, default=-1)


class Assignment(Message):
    topic_partitions: list[TopicPartitions]


class TopicPartitions(Message):
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


CONSUMER_GROUP_DESCRIBE = Api(69, versions(0, 1), ConsumerGroupDescribeRequest, ConsumerGroupDescribeResponse)
