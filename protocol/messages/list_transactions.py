"""ListTransactions (66): lists the transactional ids that a broker coordinates (KIP-664).

v1 added a filter by duration (KIP-994), v2 one by a pattern for transactional ids (KIP-1152).
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, field, versions


class ListTransactionsRequest(Message):
    flexible_from = 0
    state_filters: list[str]
    producer_id_filters: list[Int64]
    duration_filter: Int64 = field(since=1, default=-1)
    transactional_id_pattern: str | None = field(since=2, default=None)


class ListTransactionsResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    unknown_state_filters: list[str]
    transaction_states: list[TransactionState]


class TransactionState(Message):
    transactional_id: str
    producer_id: Int64
    transaction_state: str


LIST_TRANSACTIONS = Api(66, versions(0, 2), ListTransactionsRequest, ListTransactionsResponse)
