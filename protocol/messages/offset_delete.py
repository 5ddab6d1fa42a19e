"""OffsetDelete (47): deletes committed offsets of a group (KIP-496)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class OffsetDeleteRequest(Message):
    group_id: str
    topics: list[OffsetDeleteRequestTopic]


class OffsetDeleteRequestTopic(Message):
    name: str
    partitions: list[OffsetDeleteRequestPartition]


class OffsetDeleteRequestPartition(Message):
    partition_index: Int32


class OffsetDeleteResponse(Message):
    error_code: Int16 = 0
    throttle_time_ms: Int32 = 0
    topics: list[OffsetDeleteResponseTopic]


class OffsetDeleteResponseTopic(Message):
    name: str
    partitions: list[OffsetDeleteResponsePartition]


class OffsetDeleteResponsePartition(Message):
    partition_index: Int32
    error_code: Int16 = 0


OFFSET_DELETE = Api(47, versions(0, 0), OffsetDeleteRequest, OffsetDeleteResponse)
