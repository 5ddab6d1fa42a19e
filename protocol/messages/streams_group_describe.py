"""StreamsGroupDescribe (89): describes streams groups with their topologies and tasks (KIP-1071)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, UInt16, versions


class StreamsGroupDescribeRequest(Message):
    flexible_from = 0
    group_ids: list[str]
    include_authorized_operations: bool = False


class StreamsGroupDescribeResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    groups: list[DescribedGroup]


class DescribedGroup(Message):
    error_code: Int16 = 0
    error_message: str | None = None
    group_id: str
    group_state: str = ""
    group_epoch: Int32 = 0
    assignment_epoch: Int32 = 0
    topology: Topology | None = None
    members: list[Member]
    authorized_operations: Int32 = -(1 << 31)


class Topology(Message):
    epoch: Int32
    subtopologies: list[Subtopology] | None = None


class Subtopology(Message):
    subtopology_id: str
    source_topics: list[str]
    repartition_sink_topics: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_source_topics: list[TopicInfo]


class TopicInfo(Message):
    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[KeyValue]


class KeyValue(Message):
    key: str
    value: str


class Member(Message):
    member_id: str
    member_epoch: Int32
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str
    client_host: str
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]
    task_offsets: list[TaskOffset]
    task_end_offsets: list[TaskOffset]
    assignment: Assignment
    target_assignment: Assignment
    is_classic: bool = False


class Endpoint(Message):
    host: str
    port: UInt16


class TaskOffset(Message):
    subtopology_id: str
    partition: Int32
    offset: Int64


class Assignment(Message):
    active_tasks: list[TaskIds]
    standby_tasks: list[TaskIds]
    warmup_tasks: list[TaskIds]


class TaskIds(Message):
    subtopology_id: str
    partitions: list[Int32]


STREAMS_GROUP_DESCRIBE = Api(89, versions(0, 0), StreamsGroupDescribeRequest, StreamsGroupDescribeResponse)
