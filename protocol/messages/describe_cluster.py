"""DescribeCluster (60): returns the brokers or controllers of the cluster (KIP-700).

v1 added the endpoint type (KIP-919), v2 fenced brokers (KIP-1073).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class DescribeClusterRequest(Message):
    flexible_from = 0
    include_cluster_authorized_operations: bool
    endpoint_type: Int8 = field(since=1, default=1)
    include_fenced_brokers: bool = field(since=2, default=False)


class DescribeClusterResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    endpoint_type: Int8 = field(since=1, default=1)
    cluster_id: str
    controller_id: Int32 = -1
    brokers: list[DescribeClusterBroker]
    cluster_authorized_operations: Int32 = -(1 << 31)


class DescribeClusterBroker(Message):
    broker_id: Int32
    host: str
    port: Int32
    rack: str | None = None
    is_fenced: bool = field(since=2, default=False)


DESCRIBE_CLUSTER = Api(60, versions(0, 2), DescribeClusterRequest, DescribeClusterResponse)
