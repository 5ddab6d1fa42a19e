"""FindCoordinator (10): finds the broker that coordinates a group or a transaction.

v1 added the key's type, v3 the flexible encoding, v4 several keys at once (KIP-699), v5 the error TRANSACTION_ABORTABLE
(KIP-890), v6 share groups (KIP-932).
"""

from __future__ import annotations

from ..schema import Api, Int8, Int16, Int32, Message, field, versions


class FindCoordinatorRequest(Message):
    flexible_from = 3
    key: str = field(until=3, default="")
    key_type: Int8 = field(since=1, default=0)
    coordinator_keys: list[str] = field(since=4, default_factory=list)


class FindCoordinatorResponse(Message):
    flexible_from = 3
    throttle_time_ms: Int32 = field(since=1, default=0)
    error_code: Int16 = field(until=3, default=0)
    error_message: str | None = field(since=1, until=3, default=None)
    node_id: Int32 = field(until=3, default=0)
    host: str = field(until=3, default="")
    port: Int32 = field(until=3, default=0)
    coordinators: list[Coordinator] = field(since=4, default_factory=list)


class Coordinator(Message):
    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16 = 0
    error_message: str | None


FIND_COORDINATOR = Api(10, versions(0, 6), FindCoordinatorRequest, FindCoordinatorResponse)
