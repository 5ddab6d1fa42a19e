"""AlterShareGroupOffsets (91): sets the start offsets of a share group without members (KIP-932)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Int64, Message, Uuid, versions


class AlterShareGroupOffsetsRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[AlterShareGroupOffsetsRequestTopic]


class AlterShareGroupOffsetsRequestTopic(Message):
    topic_name: str
    partitions: list[AlterShareGroupOffsetsRequestPartition]


class AlterShareGroupOffsetsRequestPartition(Message):
    partition_index: Int32
    start_offset: Int64


class AlterShareGroupOffsetsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    responses: list[AlterShareGroupOffsetsResponseTopic]


class AlterShareGroupOffsetsResponseTopic(Message):
    topic_name: str
    topic_id: Uuid = ZERO_UUID
    partitions: list[AlterShareGroupOffsetsResponsePartition]


class AlterShareGroupOffsetsResponsePartition(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None


ALTER_SHARE_GROUP_OFFSETS = Api(91, versions(0, 0), AlterShareGroupOffsetsRequest, AlterShareGroupOffsetsResponse)
