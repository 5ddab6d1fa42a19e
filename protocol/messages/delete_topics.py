"""DeleteTopics (20): deletes topics.

v4 added the flexible encoding, v5 error messages, v6 topic ids (KIP-516).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Message, Uuid, field, versions


class DeleteTopicsRequest(Message):
    flexible_from = 4
    topics: list[DeleteTopicState] = field(since=6, default_factory=list)
    topic_names: list[str] = field(until=5, default_factory=list)
    timeout_ms: Int32


class DeleteTopicState(Message):
    name: str | None = None
    topic_id: Uuid


class DeleteTopicsResponse(Message):
    flexible_from = 4
    throttle_time_ms: Int32 = field(since=1, default=0)
    responses: list[DeletableTopicResult]


class DeletableTopicResult(Message):
    name: str | None = field(nullable_since=6)
    topic_id: Uuid = field(since=6, default=ZERO_UUID)
    error_code: Int16 = 0
    error_message: str | None = field(since=5, default=None)


DELETE_TOPICS = Api(20, versions(1, 6), DeleteTopicsRequest, DeleteTopicsResponse, 0)
