"""InitializeShareGroupState (83): creates the stored state of share partitions (KIP-932). Brokers send it to each other."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, Uuid, versions


class InitializeShareGroupStateRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[InitializeStateData]


class InitializeStateData(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition: Int32
    state_epoch: Int32
    start_offset: Int64


class InitializeShareGroupStateResponse(Message):
    flexible_from = 0
    results: list[InitializeStateResult]


class InitializeStateResult(Message):
    topic_id: Uuid
    partitions: list[PartitionResult]


class PartitionResult(Message):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None


INITIALIZE_SHARE_GROUP_STATE = Api(83, versions(0, 0), InitializeShareGroupStateRequest, InitializeShareGroupStateResponse)
