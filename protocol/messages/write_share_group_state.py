"""WriteShareGroupState (85): stores changes of the state of share partitions (KIP-932). Brokers send it to each other.

v1 added the number of records whose delivery is complete (KIP-1226).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, Uuid, field, versions
from .read_share_group_state import StateBatch


class WriteShareGroupStateRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[WriteStateData]


class WriteStateData(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    delivery_complete_count: Int32 = field(since=1, default=-1)
    state_batches: list[StateBatch]


class WriteShareGroupStateResponse(Message):
    flexible_from = 0
    results: list[WriteStateResult]


class WriteStateResult(Message):
    topic_id: Uuid
    partitions: list[PartitionResult]


class PartitionResult(Message):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


WRITE_SHARE_GROUP_STATE = Api(85, versions(0, 1), WriteShareGroupStateRequest, WriteShareGroupStateResponse)
