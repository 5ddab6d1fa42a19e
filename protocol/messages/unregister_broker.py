"""UnregisterBroker (64): removes the registration of a broker that will not return (KIP-500).

There is one version so far.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Message, versions


class UnregisterBrokerRequest(Message):
    flexible_from = 0
    broker_id: Int32


class UnregisterBrokerResponse(Message):
    flexible_from = 0
    throttle_time_ms: Int32 = 0
    error_code: Int16 = 0
    error_message: str | None


UNREGISTER_BROKER = Api(64, versions(0, 0), UnregisterBrokerRequest, UnregisterBrokerResponse)
