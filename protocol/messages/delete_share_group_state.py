"""DeleteShareGroupState (86): removes the stored state of share partitions (KIP-932). Brokers send it to each other."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, Uuid, versions


class DeleteShareGroupStateRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[DeleteStateData]


class DeleteStateData(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition: Int32


class DeleteShareGroupStateResponse(Message):
    flexible_from = 0
    results: list[DeleteStateResult]


class DeleteStateResult(Message):
    topic_id: Uuid
    partitions: list[PartitionResult]


class PartitionResult(Message):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


DELETE_SHARE_GROUP_STATE = Api(86, versions(0, 0), DeleteShareGroupStateRequest, DeleteShareGroupStateResponse)
