"""ConsumerGroupHeartbeat (68): lets a member join a consumer group, report its assignment and leave (KIP-848).

v1 added subscriptions by regular expression, and member ids that the client generates (KIP-1082).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, field, versions


class ConsumerGroupHeartbeatRequest(Message):
    flexible_from = 0
    group_id: str
    member_id: str
    member_epoch: Int32
    instance_id: str | None = None
    rack_id: str | None = None
    rebalance_timeout_ms: Int32 = -1
    subscribed_topic_names: list[str] | None = None
    subscribed_topic_regex: str | None = field(since=1, default=None)
    server_assignor: str | None = None
    topic_partitions: list[TopicPartitions] | None = None


class TopicPartitions(Message):
    topic_id: Uuid
    partitions: list[Int32]


class ConsumerGroupHeartbeatResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    member_id: str | None = None
    member_epoch: Int32 = 0
    heartbeat_interval_ms: Int32 = 0
    assignment: Assignment | None = None


class Assignment(Message):
    topic_partitions: list[TopicPartitions]


CONSUMER_GROUP_HEARTBEAT = Api(68, versions(0, 1), ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse)
