"""ReadShareGroupStateSummary (87): reads the offsets and epochs of share partitions (KIP-932). Brokers send it to each other.

v1 added the number of records whose delivery is complete (KIP-1226).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, Uuid, field, versions
from .read_share_group_state import PartitionData


class ReadShareGroupStateSummaryRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[ReadStateSummaryData]


class ReadStateSummaryData(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class ReadShareGroupStateSummaryResponse(Message):
    flexible_from = 0
    results: list[ReadStateSummaryResult]


class ReadStateSummaryResult(Message):
    topic_id: Uuid
    partitions: list[PartitionResult]


class PartitionResult(Message):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    state_epoch: Int32 = 0
    leader_epoch: Int32 = 0
    start_offset: Int64 = 0
    delivery_complete_count: Int32 = field(since=1, default=-1)


READ_SHARE_GROUP_STATE_SUMMARY = Api(87, versions(0, 1), ReadShareGroupStateSummaryRequest, ReadShareGroupStateSummaryResponse)
