"""AddPartitionsToTxn (24): adds partitions to a transaction, before it writes to them.

v3 added the flexible encoding; brokers send v4 and v5, which add or only verify the partitions of several transactions (KIP-890).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class AddPartitionsToTxnRequest(Message):
    flexible_from = 3
    transactions: list[AddPartitionsToTxnTransaction] = field(since=4, default_factory=list)
    v3_and_below_transactional_id: str = field(until=3, default="")
    v3_and_below_producer_id: Int64 = field(until=3, default=0)
    v3_and_below_producer_epoch: Int16 = field(until=3, default=0)
    v3_and_below_topics: list[AddPartitionsToTxnTopic] = field(until=3, default_factory=list)


class AddPartitionsToTxnTransaction(Message):
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    verify_only: bool = False
    topics: list[AddPartitionsToTxnTopic]


class AddPartitionsToTxnTopic(Message):
    name: str
    partitions: list[Int32]


class AddPartitionsToTxnResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = 0
    error_code: Int16 = field(since=4, default=0)
    results_by_transaction: list[AddPartitionsToTxnResult] = field(since=4, default_factory=list)
    results_by_topic_v3_and_below: list[AddPartitionsToTxnTopicResult] = field(until=3, default_factory=list)


class AddPartitionsToTxnResult(Message):
    transactional_id: str
    topic_results: list[AddPartitionsToTxnTopicResult]


class AddPartitionsToTxnTopicResult(Message):
    name: str
    results_by_partition: list[AddPartitionsToTxnPartitionResult]


class AddPartitionsToTxnPartitionResult(Message):
    partition_index: Int32
    partition_error_code: Int16


ADD_PARTITIONS_TO_TXN = Api(24, versions(0, 5), AddPartitionsToTxnRequest, AddPartitionsToTxnResponse)
