"""OffsetFetch (9): fetches the committed offsets of groups.

v2 added null for all partitions and a top-level error, v5 leader epochs, v6 the flexible encoding, v7 `require_stable` (KIP-447), v8
several groups (KIP-709), v9 member epochs (KIP-848), v10 topic ids.
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Int64, Message, Uuid, field, versions


class OffsetFetchRequest(Message):
    flexible_from = 6
    group_id: str = field(until=7, default="")
    topics: list[OffsetFetchRequestTopic] | None = field(until=7, nullable_since=2, default_factory=list)
    groups: list[OffsetFetchRequestGroup] = field(since=8, default_factory=list)
    require_stable: bool = field(since=7, default=False)


class OffsetFetchRequestTopic(Message):
    name: str
    partition_indexes: list[Int32]


class OffsetFetchRequestGroup(Message):
    group_id: str
    member_id: str | None = field(since=9, default=None)
    member_epoch: Int32 = field(since=9, default=-1)
    topics: list[OffsetFetchRequestTopics] | None


class OffsetFetchRequestTopics(Message):
    name: str = field(since=8, until=9, default="")
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    partition_indexes: list[Int32]


class OffsetFetchResponse(Message):
    flexible_from = 6
    throttle_time_ms: Int32 = field(since=3, default=0)
    topics: list[OffsetFetchResponseTopic] = field(until=7, default_factory=list)
    error_code: Int16 = field(since=2, until=7, default=0)
    groups: list[OffsetFetchResponseGroup] = field(since=8, default_factory=list)


class OffsetFetchResponseTopic(Message):
    name: str
    partitions: list[OffsetFetchResponsePartition]


class OffsetFetchResponsePartition(Message):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=5, until=7, default=-1)
    metadata: str | None
    error_code: Int16 = 0


class OffsetFetchResponseGroup(Message):
    group_id: str
    topics: list[OffsetFetchResponseTopics]
    error_code: Int16 = 0


class OffsetFetchResponseTopics(Message):
    name: str = field(since=8, until=9, default="")
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    partitions: list[OffsetFetchResponsePartitions]


class OffsetFetchResponsePartitions(Message):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = -1
    metadata: str | None
    error_code: Int16 = 0


OFFSET_FETCH = Api(9, versions(1, 10), OffsetFetchRequest, OffsetFetchResponse, 0)
