"""Metadata (3): returns the brokers, and the topics with the leaders and replicas of their partitions.

v1 added racks, the controller and null for all topics, v2 the cluster id, v3 the throttle time, v4 `allow_auto_topic_creation`,
v5 offline replicas, v7 leader epochs, v8 authorized operations, v9 the flexible encoding, v10 topic ids (KIP-516), v12 requests by topic
id, v13 a top-level error (KIP-1102).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Message, Uuid, field, versions


class MetadataRequest(Message):
    flexible_from = 9
    topics: list[MetadataRequestTopic] | None = field(nullable_since=1)
    allow_auto_topic_creation: bool = field(since=4, default=True)
    include_cluster_authorized_operations: bool = field(since=8, until=10, default=False)
    include_topic_authorized_operations: bool = field(since=8, default=False)


class MetadataRequestTopic(Message):
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    name: str | None = field(nullable_since=10)


class MetadataResponse(Message):
    flexible_from = 9
    throttle_time_ms: Int32 = field(since=3, default=0)
    brokers: list[MetadataResponseBroker]
    cluster_id: str | None = field(since=2, default=None)
    controller_id: Int32 = field(since=1, default=-1)
    topics: list[MetadataResponseTopic] = field(encoded=True)
    cluster_authorized_operations: Int32 = field(since=8, until=10, default=-(1 << 31))
    error_code: Int16 = field(since=13, default=0)


class MetadataResponseBroker(Message):
    node_id: Int32
    host: str
    port: Int32
    rack: str | None = field(since=1, default=None)


class MetadataResponseTopic(Message):
    flexible_from = 9  # it is also encoded on its own
    error_code: Int16 = 0
    name: str | None = field(nullable_since=12)
    topic_id: Uuid = field(since=10, default=ZERO_UUID)
    is_internal: bool = field(since=1, default=False)
    partitions: list[MetadataResponsePartition] = field(encoded=True)
    topic_authorized_operations: Int32 = field(since=8, default=-(1 << 31))


class MetadataResponsePartition(Message):
    flexible_from = 9  # it is also encoded on its own
    error_code: Int16 = 0
    partition_index: Int32
    leader_id: Int32
    leader_epoch: Int32 = field(since=7, default=-1)
    replica_nodes: list[Int32]
    isr_nodes: list[Int32]
    offline_replicas: list[Int32] = field(since=5, default_factory=list)


METADATA = Api(3, versions(0, 13), MetadataRequest, MetadataResponse)
