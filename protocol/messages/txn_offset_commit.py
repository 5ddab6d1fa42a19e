"""TxnOffsetCommit (28): commits offsets of a group as part of a transaction.

v2 added leader epochs, v3 the consumer's generation (KIP-447) and the flexible encoding, v4 the error
TRANSACTION_ABORTABLE. From v5 on the group need not be added to the transaction by AddOffsetsToTxn (KIP-890).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class TxnOffsetCommitRequest(Message):
    flexible_from = 3
    transactional_id: str
    group_id: str
    producer_id: Int64
    producer_epoch: Int16
    generation_id: Int32 = field(since=3, default=-1)
    member_id: str = field(since=3, default="")
    group_instance_id: str | None = field(since=3, default=None)
    topics: list[TxnOffsetCommitRequestTopic]


class TxnOffsetCommitRequestTopic(Message):
    name: str
    partitions: list[TxnOffsetCommitRequestPartition]


class TxnOffsetCommitRequestPartition(Message):
    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Int32 = field(since=2, default=-1)
    committed_metadata: str | None


class TxnOffsetCommitResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = 0
    topics: list[TxnOffsetCommitResponseTopic]


class TxnOffsetCommitResponseTopic(Message):
    name: str
    partitions: list[TxnOffsetCommitResponsePartition]


class TxnOffsetCommitResponsePartition(Message):
    partition_index: Int32
    error_code: Int16 = 0


TXN_OFFSET_COMMIT = Api(28, versions(0, 5), TxnOffsetCommitRequest, TxnOffsetCommitResponse)
