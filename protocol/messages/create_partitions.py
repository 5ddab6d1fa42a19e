"""CreatePartitions (37): adds partitions to topics.

v2 added the flexible encoding, v3 the error THROTTLING_QUOTA_EXCEEDED (KIP-599).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class CreatePartitionsRequest(Message):
    flexible_from = 2
    topics: list[CreatePartitionsTopic]
    timeout_ms: Int32
    validate_only: bool


class CreatePartitionsTopic(Message):
    name: str
    count: Int32
    assignments: list[CreatePartitionsAssignment] | None


class CreatePartitionsAssignment(Message):
    broker_ids: list[Int32]


class CreatePartitionsResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    results: list[CreatePartitionsTopicResult]


class CreatePartitionsTopicResult(Message):
    name: str
    error_code: Int16 = 0
    error_message: str | None = None


CREATE_PARTITIONS = Api(37, versions(0, 3), CreatePartitionsRequest, CreatePartitionsResponse)
