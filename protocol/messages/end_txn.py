"""EndTxn (26): commits or aborts a transaction.

v2 added the error PRODUCER_FENCED (KIP-588), v3 the flexible encoding, v4 the error TRANSACTION_ABORTABLE, v5 a new epoch for each
transaction (KIP-890).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class EndTxnRequest(Message):
    flexible_from = 3
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    committed: bool


class EndTxnResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = field(since=5, default=-1)
    producer_epoch: Int16 = field(since=5, default=-1)


END_TXN = Api(26, versions(0, 5), EndTxnRequest, EndTxnResponse)
