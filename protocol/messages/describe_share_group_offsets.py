"""DescribeShareGroupOffsets (90): returns the start offsets of share groups (KIP-932).

v1 added the lag of each partition (KIP-1226).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, Uuid, field, versions


class DescribeShareGroupOffsetsRequest(Message):
    flexible_from = 0
    groups: list[DescribeShareGroupOffsetsRequestGroup]


class DescribeShareGroupOffsetsRequestGroup(Message):
    group_id: str
    topics: list[DescribeShareGroupOffsetsRequestTopic] | None


class DescribeShareGroupOffsetsRequestTopic(Message):
    topic_name: str
    partitions: list[Int32]


class DescribeShareGroupOffsetsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    groups: list[DescribeShareGroupOffsetsResponseGroup]


class DescribeShareGroupOffsetsResponseGroup(Message):
    group_id: str
    topics: list[DescribeShareGroupOffsetsResponseTopic]
    error_code: Int16 = 0
    error_message: str | None = None


class DescribeShareGroupOffsetsResponseTopic(Message):
    topic_name: str
    topic_id: Uuid
    partitions: list[DescribeShareGroupOffsetsResponsePartition]


class DescribeShareGroupOffsetsResponsePartition(Message):
    partition_index: Int32
    start_offset: Int64 = 0
    leader_epoch: Int32 = 0
    lag: Int64 = field(since=1, default=-1)
    error_code: Int16 = 0
    error_message: str | None = None


DESCRIBE_SHARE_GROUP_OFFSETS = Api(90, versions(0, 1), DescribeShareGroupOffsetsRequest, DescribeShareGroupOffsetsResponse)
