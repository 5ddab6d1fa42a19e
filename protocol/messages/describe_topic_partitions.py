"""DescribeTopicPartitions (75): describes topics in pages (KIP-966).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, versions


class DescribeTopicPartitionsRequest(Message):
    flexible_from = 0
    topics: list[TopicRequest]
    response_partition_limit: Int32 = 2000
    cursor: Cursor | None = None


class TopicRequest(Message):
    name: str


class Cursor(Message):
    topic_name: str
    partition_index: Int32


class DescribeTopicPartitionsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    topics: list[DescribeTopicPartitionsResponseTopic]
    next_cursor: Cursor | None = None


class DescribeTopicPartitionsResponseTopic(Message):
    error_code: Int16 = 0
    name: str | None
    topic_id: Uuid
    is_internal: bool = False
    partitions: list[DescribeTopicPartitionsResponsePartition]
    topic_authorized_operations: Int32 = -(1 << 31)


class DescribeTopicPartitionsResponsePartition(Message):
    error_code: Int16 = 0
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = -1
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    eligible_leader_replicas: list[Int32] | None = None
    last_known_elr: list[Int32] | None = None
    offline_replicas: list[Int32]


DESCRIBE_TOPIC_PARTITIONS = Api(75, versions(0, 0), DescribeTopicPartitionsRequest, DescribeTopicPartitionsResponse)
