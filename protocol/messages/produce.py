"""Produce (0): appends record batches to partitions.

v1 added the throttle time, v2 the log append time, v3 the record batch v2 and transactional ids, v5 the log start offset, v7 zstd, v8
per-record errors (KIP-467), v9 the flexible encoding, v10 the new leader in the response (KIP-951), v11 and v12 transactions v2
(KIP-890), v13 topic ids (KIP-516).
"""

from __future__ import annotations

from ..schema import ZERO_UUID, Api, Int16, Int32, Int64, Message, Records, Uuid, field, versions
from .common import LeaderIdAndEpoch, NodeEndpoint


class ProduceRequest(Message):
    flexible_from = 9
    transactional_id: str | None = field(since=3, default=None)
    acks: Int16
    timeout_ms: Int32
    topic_data: list[TopicProduceData]


class TopicProduceData(Message):
    name: str = field(until=12, default="")
    topic_id: Uuid = field(since=13, default=ZERO_UUID)
    partition_data: list[PartitionProduceData]


class PartitionProduceData(Message):
    index: Int32
    records: Records | None


class ProduceResponse(Message):
    flexible_from = 9
    responses: list[TopicProduceResponse]
    throttle_time_ms: Int32 = field(since=1, default=0)
    node_endpoints: list[NodeEndpoint] = field(since=10, tag=0, default_factory=list)


class TopicProduceResponse(Message):
    name: str = field(until=12, default="")
    topic_id: Uuid = field(since=13, default=ZERO_UUID)
    partition_responses: list[PartitionProduceResponse]


class PartitionProduceResponse(Message):
    index: Int32
    error_code: Int16 = 0
    base_offset: Int64
    log_append_time_ms: Int64 = field(since=2, default=-1)
    log_start_offset: Int64 = field(since=5, default=-1)
    record_errors: list[BatchIndexAndErrorMessage] = field(since=8, default_factory=list)
    error_message: str | None = field(since=8, default=None)
    current_leader: LeaderIdAndEpoch | None = field(since=10, tag=0, default=None)


class BatchIndexAndErrorMessage(Message):
    batch_index: Int32
    batch_index_error_message: str | None = None


PRODUCE = Api(0, versions(3, 13), ProduceRequest, ProduceResponse, 0)
