"""InitProducerId (22): gives a producer its id and epoch.

v2 brought the compact form, v3 the bump of an epoch that the producer has (KIP-360), v4 PRODUCER_FENCED (KIP-588), v5 abortable errors
(KIP-890), v6 two-phase commit (KIP-939, unstable: declared, not served).
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
