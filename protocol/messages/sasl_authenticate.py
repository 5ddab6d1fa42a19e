"""SaslAuthenticate (36): carries a token of the SASL mechanism (KIP-152).

v1 added the lifetime of the session (KIP-368), v2 the flexible encoding.
"""

from __future__ import annotations

from ..schema import Api, Int16, Int64, Message, field, versions


class SaslAuthenticateRequest(Message):
    flexible_from = 2
    auth_bytes: bytes


class SaslAuthenticateResponse(Message):
    flexible_from = 2
    error_code: Int16 = 0
    error_message: str | None
    auth_bytes: bytes
    session_lifetime_ms: Int64 = field(since=1, default=0)


SASL_AUTHENTICATE = Api(36, versions(0, 2), SaslAuthenticateRequest, SaslAuthenticateResponse)
