"""Fetch (1): reads record batches from partitions.

v3 added a limit for the whole response (KIP-74), v4 isolation levels, v5 the log start offset, v7 fetch sessions (KIP-227), v9 leader
epochs (KIP-320), v10 zstd, v11 racks (KIP-392), v12 the flexible encoding and diverging epochs (KIP-595), v13 topic ids (KIP-516), v15
replica state (KIP-903), v16 node endpoints (KIP-951), v17 directory ids (KIP-853), v18 the follower's high watermark (KIP-1166).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int8, Int16, Int32, Int64, Message, Records, Uuid, field, versions
from .common import LeaderIdAndEpoch, NodeEndpoint


class FetchRequest(Message):
    flexible_from = 12
    cluster_id: str | None = field(since=12, tag=0, default=None)
    replica_id: Int32 = field(until=14, default=-1)
    replica_state: ReplicaState | None = field(since=15, tag=1, default=None)
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = field(since=3, default=0x7FFFFFFF)
    isolation_level: Int8 = field(since=4, default=0)
    session_id: Int32 = field(since=7, default=0)
    session_epoch: Int32 = field(since=7, default=-1)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic] = field(since=7, default_factory=list)
    rack_id: str = field(since=11, default="")


class ReplicaState(Message):
    replica_id: Int32 = -1
    replica_epoch: Int64 = -1


class FetchTopic(Message):
    topic: str = field(until=12, default="")
    topic_id: Uuid = field(since=13, default=ZERO_UUID)
    partitions: list[FetchPartition]


class FetchPartition(Message):
    partition: Int32
    current_leader_epoch: Int32 = field(since=9, default=-1)
    fetch_offset: Int64
    last_fetched_epoch: Int32 = field(since=12, default=-1)
    log_start_offset: Int64 = field(since=5, default=-1)
    partition_max_bytes: Int32
    replica_directory_id: Uuid = field(since=17, tag=0, default=ZERO_UUID)
    high_watermark: Int64 = field(since=18, tag=1, default=(1 << 63) - 1)


class ForgottenTopic(Message):
    topic: str = field(since=7, until=12, default="")
    topic_id: Uuid = field(since=13, default=ZERO_UUID)
    partitions: list[Int32]


class FetchResponse(Message):
    flexible_from = 12
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = field(since=7, default=0)
    session_id: Int32 = field(since=7, default=0)
    responses: list[FetchableTopicResponse]
    node_endpoints: list[NodeEndpoint] = field(since=16, tag=0, default_factory=list)


class FetchableTopicResponse(Message):
    topic: str = field(until=12, default="")
    topic_id: Uuid = field(since=13, default=ZERO_UUID)
    partitions: list[PartitionData]


class PartitionData(Message):
    partition_index: Int32
    error_code: Int16 = 0
    high_watermark: Int64
    last_stable_offset: Int64 = field(since=4, default=-1)
    log_start_offset: Int64 = field(since=5, default=-1)
    diverging_epoch: EpochEndOffset | None = field(since=12, tag=0, default=None)
    current_leader: LeaderIdAndEpoch | None = field(since=12, tag=1, default=None)
    snapshot_id: SnapshotId | None = field(since=12, tag=2, default=None)
    aborted_transactions: list[AbortedTransaction] | None = field(since=4, default=None)
    preferred_read_replica: Int32 = field(since=11, default=-1)
    records: Records | None


class EpochEndOffset(Message):
    epoch: Int32 = -1
    end_offset: Int64 = -1


class SnapshotId(Message):
    end_offset: Int64 = -1
    epoch: Int32 = -1


class AbortedTransaction(Message):
    producer_id: Int64
    first_offset: Int64


FETCH = Api(1, versions(4, 18), FetchRequest, FetchResponse, 0)
