"""DescribeQuorum (55): returns the state of the metadata quorum (KIP-595).

v1 added the times of the last fetch and of the last time caught up (KIP-836), v2 nodes, directory ids and error messages (KIP-853).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Int64, Message, UInt16, Uuid, field, versions


class DescribeQuorumRequest(Message):
    flexible_from = 0
    topics: list[TopicData]


class TopicData(Message):
    topic_name: str
    partitions: list[PartitionData]


class PartitionData(Message):
    partition_index: Int32


class DescribeQuorumResponse(Message):
    flexible_from = 0
    error_code: Int16 = 0
    error_message: str | None = field(since=2, default=None)
    topics: list[QuorumTopic]
    nodes: list[Node] = field(since=2, default_factory=list)


class ReplicaState(Message):
    replica_id: Int32
    replica_directory_id: Uuid = field(since=2, default=ZERO_UUID)
    log_end_offset: Int64
    last_fetch_timestamp: Int64 = field(since=1, default=-1)
    last_caught_up_timestamp: Int64 = field(since=1, default=-1)


class QuorumTopic(Message):
    topic_name: str
    partitions: list[QuorumPartition]


class QuorumPartition(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = field(since=2, default=None)
    leader_id: Int32
    leader_epoch: Int32
    high_watermark: Int64
    current_voters: list[ReplicaState]
    observers: list[ReplicaState]


class Node(Message):
    node_id: Int32
    listeners: list[QuorumListener]


class QuorumListener(Message):
    name: str
    host: str
    port: UInt16


DESCRIBE_QUORUM = Api(55, versions(0, 2), DescribeQuorumRequest, DescribeQuorumResponse)
