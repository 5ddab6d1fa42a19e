"""AddOffsetsToTxn (25): adds the offsets of a group to a transaction, before they are committed with TxnOffsetCommit.

v3 added the flexible encoding, v4 the error TRANSACTION_ABORTABLE (KIP-890).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class AddOffsetsToTxnRequest(Message):
    flexible_from = 3
    transactional_id: str
    producer_id: Int64
    producer_epoch: Int16
    group_id: str


class AddOffsetsToTxnResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0


ADD_OFFSETS_TO_TXN = Api(25, versions(0, 4), AddOffsetsToTxnRequest, AddOffsetsToTxnResponse)
