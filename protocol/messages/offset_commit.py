"""OffsetCommit (8): commits offsets of a group.

v2 to v4 have a retention time, v6 added leader epochs, v7 static members (KIP-345), v8 the flexible encoding, v9 member epochs
(KIP-848), v10 topic ids.
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Int64, Message, Uuid, field, versions


class OffsetCommitRequest(Message):
    flexible_from = 8
    group_id: str
    generation_id_or_member_epoch: Int32 = field(since=1, default=-1)
    member_id: str = field(since=1, default="")
    group_instance_id: str | None = field(since=7, default=None)
    retention_time_ms: Int64 = field(since=2, until=4, default=-1)
    topics: list[OffsetCommitRequestTopic]


class OffsetCommitRequestTopic(Message):
    name: str = field(until=9, default="")
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    partitions: list[OffsetCommitRequestPartition]


class OffsetCommitRequestPartition(Message):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=6, default=-1)
    commit_timestamp: Int64 = field(since=1, until=1, default=-1)
    committed_metadata: str | None


class OffsetCommitResponse(Message):
    flexible_from = 8
    throttle_time_ms: Int32 = field(since=3, default=0)
    topics: list[OffsetCommitResponseTopic]


class OffsetCommitResponseTopic(Message):
    name: str = field(until=9, default="")
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    partitions: list[OffsetCommitResponsePartition]


class OffsetCommitResponsePartition(Message):
    partition_index: Int32
    error_code: Int16 = 0


OFFSET_COMMIT = Api(8, versions(2, 10), OffsetCommitRequest, OffsetCommitResponse, 0)
