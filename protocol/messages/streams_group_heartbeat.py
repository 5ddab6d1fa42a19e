"""StreamsGroupHeartbeat (88): lets a member join a streams group, report its tasks and leave (KIP-1071)."""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Int64, Message, UInt16, versions


class StreamsGroupHeartbeatRequest(Message):
    flexible_from = 0
    group_id: str
    member_id: str
    member_epoch: Int32
    endpoint_information_epoch: Int32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: Int32 = -1
    topology: Topology | None = None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    process_id: str | None = None
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue] | None = None
    task_offsets: list[TaskOffset] | None = None
    task_end_offsets: list[TaskOffset] | None = None
    shutdown_application: bool = False


class Topology(Message):
    epoch: Int32
    subtopologies: list[Subtopology]


class Subtopology(Message):
    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]


class CopartitionGroup(Message):
    source_topics: list[Int16]
    source_topic_regex: list[Int16]
    repartition_source_topics: list[Int16]


class TopicInfo(Message):
    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[KeyValue]


class KeyValue(Message):
    key: str
    value: str


class TaskIds(Message):
    subtopology_id: str
    partitions: list[Int32]


class TaskOffset(Message):
    subtopology_id: str
    partition: Int32
    offset: Int64


class Endpoint(Message):
    host: str
    port: UInt16


class StreamsGroupHeartbeatResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    member_id: str = ""
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    acceptable_recovery_lag: Int32 = 0
    task_offset_interval_ms: Int32 = 0
    status: list[Status] | None
    active_tasks: list[TaskIds] | None = None
    standby_tasks: list[TaskIds] | None = None
    warmup_tasks: list[TaskIds] | None = None
    endpoint_information_epoch: Int32 = 0
    partitions_by_user_endpoint: list[EndpointToPartitions] | None = None


class Status(Message):
    status_code: Int8
    status_detail: str


class EndpointToPartitions(Message):
    user_endpoint: Endpoint
    active_partitions: list[TopicPartition]
    standby_partitions: list[TopicPartition]


class TopicPartition(Message):
    topic: str
    partitions: list[Int32]


STREAMS_GROUP_HEARTBEAT = Api(88, versions(0, 0), StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse)
