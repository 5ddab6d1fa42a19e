"""DeleteShareGroupOffsets (92): deletes the state of topics in a share group without members (KIP-932)."""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Message, Uuid, versions


class DeleteShareGroupOffsetsRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[DeleteShareGroupOffsetsRequestTopic]


class DeleteShareGroupOffsetsRequestTopic(Message):
    topic_name: str


class DeleteShareGroupOffsetsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    responses: list[DeleteShareGroupOffsetsResponseTopic]


class DeleteShareGroupOffsetsResponseTopic(Message):
    topic_name: str
    topic_id: Uuid = ZERO_UUID
    error_code: Int16 = 0
    error_message: str | None = None


DELETE_SHARE_GROUP_OFFSETS = Api(92, versions(0, 0), DeleteShareGroupOffsetsRequest, DeleteShareGroupOffsetsResponse)
