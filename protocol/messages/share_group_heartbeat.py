"""ShareGroupHeartbeat (76): lets a member join a share group, continue its membership and leave (KIP-932)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, versions


class ShareGroupHeartbeatRequest(Message):
    flexible_from = 0
    group_id: str
    member_id: str
    member_epoch: Int32
    rack_id: str | None = None
    subscribed_topic_names: list[str] | None = None


class ShareGroupHeartbeatResponse(Message):
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


class TopicPartitions(Message):
    topic_id: Uuid
    partitions: list[Int32]


SHARE_GROUP_HEARTBEAT = Api(76, versions(1, 1), ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse)
