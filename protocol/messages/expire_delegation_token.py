"""ExpireDelegationToken (40): sets the time at which a delegation token expires (KIP-48).

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class ExpireDelegationTokenRequest(Message):
    flexible_from = 2
    hmac: bytes
    expiry_time_period_ms: Int64


class ExpireDelegationTokenResponse(Message):
    flexible_from = 2
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0


EXPIRE_DELEGATION_TOKEN = Api(40, versions(1, 2), ExpireDelegationTokenRequest, ExpireDelegationTokenResponse, 0)
