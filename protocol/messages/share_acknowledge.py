"""ShareAcknowledge (79): acknowledges records that a member of a share group has acquired (KIP-932).

v1 is the first version that is not experimental. v2 added renewals (KIP-1222).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, field, versions
from .common import NodeEndpoint
from .share_fetch import AcknowledgementBatch, CurrentLeader


class ShareAcknowledgeRequest(Message):
    flexible_from = 0
    group_id: str | None = None
    member_id: str | None
    share_session_epoch: Int32
    is_renew_ack: bool = field(since=2, default=False)
    topics: list[AcknowledgeTopic]


class AcknowledgeTopic(Message):
    topic_id: Uuid
    partitions: list[AcknowledgePartition]


class AcknowledgePartition(Message):
    partition_index: Int32
    acknowledgement_batches: list[AcknowledgementBatch]


class ShareAcknowledgeResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: Int32 = field(since=2, default=0)
    responses: list[ShareAcknowledgeTopicResponse]
    node_endpoints: list[NodeEndpoint]


class ShareAcknowledgeTopicResponse(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    current_leader: CurrentLeader


SHARE_ACKNOWLEDGE = Api(79, versions(1, 2), ShareAcknowledgeRequest, ShareAcknowledgeResponse)
