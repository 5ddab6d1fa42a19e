"""ElectLeaders (43): elects the preferred replicas of partitions, or any replicas that are alive.

v1 added the election type and a top-level error (KIP-460), v2 the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class ElectLeadersRequest(Message):
    flexible_from = 2
    election_type: Int8 = field(since=1, default=0)
    topic_partitions: list[TopicPartitions] | None
    timeout_ms: Int32 = 60000


class TopicPartitions(Message):
    topic: str
    partitions: list[Int32]


class ElectLeadersResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(since=1, default=0)
    replica_election_results: list[ReplicaElectionResult]


class ReplicaElectionResult(Message):
    topic: str
    partition_result: list[PartitionResult]


class PartitionResult(Message):
    partition_id: Int32
    error_code: Int16 = 0
    error_message: str | None


ELECT_LEADERS = Api(43, versions(0, 2), ElectLeadersRequest, ElectLeadersResponse)
