"""InitProducerId (22): returns a producer id and epoch, and fences older instances of a transactional producer.

v2 added the flexible encoding, v3 requests to raise the epoch of a producer (KIP-360), v4 the error PRODUCER_FENCED (KIP-588), v5 the
error TRANSACTION_ABORTABLE (KIP-890), v6 two-phase commit (KIP-939). v6 is declared but not served, because it is unstable in Kafka.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class InitProducerIdRequest(Message):
    flexible_from = 2
    transactional_id: str | None
    transaction_timeout_ms: Int32
    producer_id: Int64 = field(since=3, default=-1)
    producer_epoch: Int16 = field(since=3, default=-1)
    enable2_pc: bool = field(since=6, default=False)
    keep_prepared_txn: bool = field(since=6, default=False)


class InitProducerIdResponse(Message):
    flexible_from = 2
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    producer_id: Int64 = -1
    producer_epoch: Int16
    ongoing_txn_producer_id: Int64 = field(since=6, default=-1)
    ongoing_txn_producer_epoch: Int16 = field(since=6, default=-1)


INIT_PRODUCER_ID = Api(22, versions(0, 5), InitProducerIdRequest, InitProducerIdResponse)
