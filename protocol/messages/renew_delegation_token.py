"""RenewDelegationToken (39): extends the life of a delegation token (KIP-48).

v2 added the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int32, Int64, Message, versions


class RenewDelegationTokenRequest(Message):
    flexible_from = 2
    hmac: bytes
    renew_period_ms: Int64


class RenewDelegationTokenResponse(Message):
    flexible_from = 2
    error_code: Int16 = 0
    expiry_timestamp_ms: Int64
    throttle_time_ms: Int32 = 0


RENEW_DELEGATION_TOKEN = Api(39, versions(1, 2), RenewDelegationTokenRequest, RenewDelegationTokenResponse, 0)
