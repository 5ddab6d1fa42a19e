"""DescribeTransactions (65): returns the states of transactional ids (KIP-664)."""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class DescribeTransactionsRequest(Message):
    flexible_from = 0
    transactional_ids: list[str]


class DescribeTransactionsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    transaction_states: list[TransactionState]


class TransactionState(Message):
    error_code: Int16 = 0
    transactional_id: str
    transaction_state: str
    transaction_timeout_ms: Int32
    transaction_start_time_ms: Int64
    producer_id: Int64
    producer_epoch: Int16
    topics: list[TopicData]


class TopicData(Message):
    topic: str
    partitions: list[Int32]


DESCRIBE_TRANSACTIONS = Api(65, versions(0, 0), DescribeTransactionsRequest, DescribeTransactionsResponse)
