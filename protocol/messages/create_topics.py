"""CreateTopics (19): creates topics.

v4 added the broker's defaults for partitions and replicas (-1), v5 the flexible encoding and the settings in the response (KIP-525), v6 the
error THROTTLING_QUOTA_EXCEEDED (KIP-599), v7 topic ids.
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int8, Int16, Int32, Message, Uuid, field, versions


class CreateTopicsRequest(Message):
    flexible_from = 5
    topics: list[CreatableTopic]
    timeout_ms: Int32 = 60000
    validate_only: bool = field(since=1, default=False)


class CreatableTopic(Message):
    name: str
    num_partitions: Int32
    replication_factor: Int16
    assignments: list[CreatableReplicaAssignment]
    configs: list[CreatableTopicConfig]


class CreatableReplicaAssignment(Message):
    partition_index: Int32
    broker_ids: list[Int32]


class CreatableTopicConfig(Message):
    name: str
    value: str | None


class CreateTopicsResponse(Message):
    flexible_from = 5
    throttle_time_ms: Int32 = field(since=2, default=0)
    topics: list[CreatableTopicResult]


class CreatableTopicResult(Message):
    name: str
    topic_id: Uuid = field(since=7, default=ZERO_UUID)
    error_code: Int16 = 0
    error_message: str | None = field(since=1, default=None)
    topic_config_error_code: Int16 = field(since=5, tag=0, default=0)
    num_partitions: Int32 = field(since=5, default=-1)
    replication_factor: Int16 = field(since=5, default=-1)
    configs: list[CreatableTopicConfigs] | None = field(since=5, default_factory=list, encoded=True)


class CreatableTopicConfigs(Message):
    flexible_from = 5  # it is also encoded on its own
    name: str
    value: str | None
    read_only: bool
    config_source: Int8 = -1
    is_sensitive: bool


CREATE_TOPICS = Api(19, versions(2, 7), CreateTopicsRequest, CreateTopicsResponse, 0)
