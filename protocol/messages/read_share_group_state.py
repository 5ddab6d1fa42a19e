"""ReadShareGroupState (84): reads the stored state of share partitions (KIP-932). Brokers send it to each other."""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Int64, Message, Uuid, versions


class ReadShareGroupStateRequest(Message):
    flexible_from = 0
    group_id: str
    topics: list[ReadStateData]


class ReadStateData(Message):
    topic_id: Uuid
    partitions: list[PartitionData]


class PartitionData(Message):
    partition: Int32
    leader_epoch: Int32


class ReadShareGroupStateResponse(Message):
    flexible_from = 0
    results: list[ReadStateResult]


class ReadStateResult(Message):
    topic_id: Uuid
    partitions: list[PartitionResult]


class PartitionResult(Message):
    partition: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    state_epoch: Int32 = 0
    start_offset: Int64 = 0
    state_batches: list[StateBatch]


class StateBatch(Message):
    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


READ_SHARE_GROUP_STATE = Api(84, versions(0, 0), ReadShareGroupStateRequest, ReadShareGroupStateResponse)
