"""OffsetForLeaderEpoch (23): returns the end offset of a leader epoch (KIP-320).

v2 added the current leader epoch, v3 the replica id, v4 the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class OffsetForLeaderEpochRequest(Message):
    flexible_from = 4
    replica_id: Int32 = field(since=3, default=-2)
    topics: list[OffsetForLeaderTopic]


class OffsetForLeaderTopic(Message):
    topic: str
    partitions: list[OffsetForLeaderPartition]


class OffsetForLeaderPartition(Message):
    partition: Int32
    current_leader_epoch: Int32 = field(since=2, default=-1)
    leader_epoch: Int32


class OffsetForLeaderEpochResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = field(since=2, default=0)
    topics: list[OffsetForLeaderTopicResult]


class OffsetForLeaderTopicResult(Message):
    topic: str
    partitions: list[EpochEndOffset]


class EpochEndOffset(Message):
    error_code: Int16 = 0
    partition: Int32
    leader_epoch: Int32 = field(since=1, default=-1)
    end_offset: Int64 = -1


OFFSET_FOR_LEADER_EPOCH = Api(23, versions(2, 4), OffsetForLeaderEpochRequest, OffsetForLeaderEpochResponse, 0)
