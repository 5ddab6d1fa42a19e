"""ShareGroupDescribe (77): describes share groups (KIP-932)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, versions


class ShareGroupDescribeRequest(Message):
    flexible_from = 0
    group_ids: list[str]
    include_authorized_operations: bool = False


class ShareGroupDescribeResponse(Message):
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
    rack_id: str | None = None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: list[str]
    assignment: Assignment


class Assignment(Message):
    topic_partitions: list[TopicPartitions]


class TopicPartitions(Message):
    topic_id: Uuid
    topic_name: str
    partitions: list[Int32]


SHARE_GROUP_DESCRIBE = Api(77, versions(1, 1), ShareGroupDescribeRequest, ShareGroupDescribeResponse)
