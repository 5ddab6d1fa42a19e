"""The values of records of streams groups in `__consumer_offsets`, as Kafka 4.3 writes them (StreamsCoordinatorRecordHelpers).

Their keys are `GroupKey` and `MemberKey` of `coordinator_records.py`. All values are of version 0.
"""

from __future__ import annotations

from ..schema import Int8, Int16, Int32, Int64, Message, UInt16, field


class StreamsGroupMetadataValue(Message):
    """The epoch of a streams group."""

    flexible_from = 0
    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Int32 = field(tag=0, default=-1)
    last_assignment_configs: list[KeyValue] | None = field(tag=1, default=None)


class StreamsGroupMemberMetadataValue(Message):
    """The client of a member of a streams group."""

    flexible_from = 0
    instance_id: str | None = None
    rack_id: str | None = None
    client_id: str
    client_host: str
    rebalance_timeout_ms: Int32 = -1
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None = None
    client_tags: list[KeyValue]


class Endpoint(Message):
    """The address of an application for interactive queries."""

    host: str
    port: UInt16


class KeyValue(Message):
    """A client tag, an assignment setting or a topic setting."""

    key: str
    value: str


class StreamsGroupTargetAssignmentMetadataValue(Message):
    """The epoch of the target assignment. The timestamp is the time of its computation (KIP-1263)."""

    flexible_from = 0
    assignment_epoch: Int32
    assignment_timestamp: Int64 = field(tag=0, default=0)


class StreamsGroupTargetAssignmentMemberValue(Message):
    """The target assignment of a member."""

    flexible_from = 0
    active_tasks: list[TargetTaskIds]
    standby_tasks: list[TargetTaskIds]
    warmup_tasks: list[TargetTaskIds]


class TargetTaskIds(Message):
    """Some tasks of a subtopology."""

    subtopology_id: str
    partitions: list[Int32]


class StreamsGroupCurrentMemberAssignmentValue(Message):
    """The current assignment of a member, and its state in the reconciliation."""

    flexible_from = 0
    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: list[CurrentTaskIds]
    standby_tasks: list[CurrentTaskIds]
    warmup_tasks: list[CurrentTaskIds]
    active_tasks_pending_revocation: list[CurrentTaskIds]
    standby_tasks_pending_revocation: list[CurrentTaskIds]
    warmup_tasks_pending_revocation: list[CurrentTaskIds]


class CurrentTaskIds(Message):
    """Some tasks of a subtopology; for active tasks with the member epochs in which they were assigned (KIP-1251)."""

    subtopology_id: str
    partitions: list[Int32]
    assignment_epochs: list[Int32] | None = field(tag=0, default=None)


class StreamsGroupTopologyValue(Message):
    """The topology of a streams group."""

    flexible_from = 0
    epoch: Int32
    subtopologies: list[Subtopology]


class Subtopology(Message):
    """A part of a topology whose tasks are assigned independently of other parts."""

    subtopology_id: str
    source_topics: list[str]
    source_topic_regex: list[str]
    state_changelog_topics: list[TopicInfo]
    repartition_sink_topics: list[str]
    repartition_source_topics: list[TopicInfo]
    copartition_groups: list[CopartitionGroup]


class CopartitionGroup(Message):
    """Topics that must have the same number of partitions, as indexes of the lists of the subtopology."""

    source_topics: list[Int16]
    source_topic_regex: list[Int16]
    repartition_source_topics: list[Int16]


class TopicInfo(Message):
    """An internal topic."""

    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: list[KeyValue]
