"""DescribeProducers (61): returns the states of the producers of partitions, and their open transactions (KIP-664)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class DescribeProducersRequest(Message):
    flexible_from = 0
    topics: list[TopicRequest]


class TopicRequest(Message):
    name: str
    partition_indexes: list[Int32]


class DescribeProducersResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    topics: list[TopicResponse]


class TopicResponse(Message):
    name: str
    partitions: list[PartitionResponse]


class PartitionResponse(Message):
    partition_index: Int32
    error_code: Int16 = 0
    error_message: str | None = None
    active_producers: list[ProducerState]


class ProducerState(Message):
    producer_id: Int64
    producer_epoch: Int32
    last_sequence: Int32 = -1
    last_timestamp: Int64 = -1
    coordinator_epoch: Int32
    current_txn_start_offset: Int64 = -1


DESCRIBE_PRODUCERS = Api(61, versions(0, 0), DescribeProducersRequest, DescribeProducersResponse)
