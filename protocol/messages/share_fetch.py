"""ShareFetch (78): acquires records for a member of a share group, and acknowledges records that it has acquired before (KIP-932).

v1 is the first version that is not experimental. v2 added the acquire mode (KIP-1206) and renewals (KIP-1222).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Int64, Message, Records, Uuid, field, versions
from .common import NodeEndpoint


class ShareFetchRequest(Message):
    flexible_from = 0
    group_id: str | None = None
    member_id: str | None
    share_session_epoch: Int32
    max_wait_ms: Int32
    min_bytes: Int32
    max_bytes: Int32 = 0x7FFFFFFF
    max_records: Int32
    batch_size: Int32
    share_acquire_mode: Int8 = field(since=2, default=0)
    is_renew_ack: bool = field(since=2, default=False)
    topics: list[FetchTopic]
    forgotten_topics_data: list[ForgottenTopic]


class FetchTopic(Message):
    topic_id: Uuid
    partitions: list[FetchPartition]


class FetchPartition(Message):
    partition_index: Int32
    acknowledgement_batches: list[AcknowledgementBatch]


class AcknowledgementBatch(Message):
    """The acknowledgement of a range of offsets. `acknowledge_types` has one type for all offsets, or one for each."""

    first_offset: Int64
    last_offset: Int64
    acknowledge_types: list[Int8]


class ForgottenTopic(Message):
    topic_id: Uuid
    partitions: list[Int32]


class ShareFetchResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None = None
    acquisition_lock_timeout_ms: Int32 = 0
    responses: list[ShareFetchableTopicResponse]
    node_endpoints: list[NodeEndpoint]


class ShareFetchableTopicResponse(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    acknowledge_error_code: Int16 = 0
    acknowledge_error_message: str | None = None
    current_leader: CurrentLeader
    records: Records
    acquired_records: list[AcquiredRecords]


class CurrentLeader(Message):
    """The current leader, for a client that sent its request to another broker. Both fields are 0 if there is nothing to tell."""

    leader_id: Int32 = 0
    leader_epoch: Int32 = 0


class AcquiredRecords(Message):
    first_offset: Int64
    last_offset: Int64
    delivery_count: Int16


SHARE_FETCH = Api(78, versions(1, 2), ShareFetchRequest, ShareFetchResponse)
