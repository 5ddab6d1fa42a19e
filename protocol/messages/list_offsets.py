"""ListOffsets (2): returns the first or last offsets of partitions, or those of timestamps.

v2 added isolation levels, v4 leader epochs, v6 the flexible encoding, v7 the maximum timestamp (KIP-734), v8 the earliest local and v9
the latest tiered offset (KIP-405), v10 a time-out for remote storage (KIP-1075), v11 the earliest pending upload (KIP-1023).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Int64, Message, field, versions


class ListOffsetsRequest(Message):
    flexible_from = 6
    replica_id: Int32
    isolation_level: Int8 = field(since=2, default=0)
    topics: list[ListOffsetsTopic]
    timeout_ms: Int32 = field(since=10, default=0)


class ListOffsetsTopic(Message):
    name: str
    partitions: list[ListOffsetsPartition]


class ListOffsetsPartition(Message):
    partition_index: Int32
    current_leader_epoch: Int32 = field(since=4, default=-1)
    timestamp: Int64
    max_num_offsets: Int32 = field(until=0, default=1)


class ListOffsetsResponse(Message):
    flexible_from = 6
    throttle_time_ms: Int32 = field(since=2, default=0)
    topics: list[ListOffsetsTopicResponse]


class ListOffsetsTopicResponse(Message):
    name: str
    partitions: list[ListOffsetsPartitionResponse]


class ListOffsetsPartitionResponse(Message):
    partition_index: Int32
    error_code: Int16 = 0
    old_style_offsets: list[Int64] = field(until=0, default_factory=list)
    timestamp: Int64 = field(since=1, default=-1)
    offset: Int64 = field(since=1, default=-1)
    leader_epoch: Int32 = field(since=4, default=-1)


LIST_OFFSETS = Api(2, versions(1, 11), ListOffsetsRequest, ListOffsetsResponse, 0)
