"""ListPartitionReassignments (46): lists the reassignments in progress (KIP-455).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class ListPartitionReassignmentsRequest(Message):
    flexible_from = 0
    timeout_ms: Int32 = 60000
    topics: list[ListPartitionReassignmentsTopics] | None = None


class ListPartitionReassignmentsTopics(Message):
    name: str
    partition_indexes: list[Int32]


class ListPartitionReassignmentsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None
    topics: list[OngoingTopicReassignment]


class OngoingTopicReassignment(Message):
    name: str
    partitions: list[OngoingPartitionReassignment]


class OngoingPartitionReassignment(Message):
    partition_index: Int32
    replicas: list[Int32]
    adding_replicas: list[Int32]
    removing_replicas: list[Int32]


LIST_PARTITION_REASSIGNMENTS = Api(46, versions(0, 0), ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse)
