"""AlterPartitionReassignments (45): moves partitions to other replicas, or cancels such moves (KIP-455).

v1 added `allow_replication_factor_change` (KIP-860).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, field, versions


class AlterPartitionReassignmentsRequest(Message):
    flexible_from = 0
    timeout_ms: Int32 = 60000
    allow_replication_factor_change: bool = field(since=1, default=True)
    topics: list[ReassignableTopic]


class ReassignableTopic(Message):
    name: str
    partitions: list[ReassignablePartition]


class ReassignablePartition(Message):
    partition_index: Int32
    replicas: list[Int32] | None = None


class AlterPartitionReassignmentsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    allow_replication_factor_change: bool = field(since=1, default=True)
    error_code: Int16 = 0
    error_message: str | None
    responses: list[ReassignableTopicResponse]


class ReassignableTopicResponse(Message):
    name: str
    partitions: list[ReassignablePartitionResponse]


class ReassignablePartitionResponse(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None


ALTER_PARTITION_REASSIGNMENTS = Api(45, versions(0, 1), AlterPartitionReassignmentsRequest, AlterPartitionReassignmentsResponse)
