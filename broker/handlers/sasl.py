"""SaslHandshake and SaslAuthenticate of clients that need not authenticate: `authentication.py` answers those of clients that do."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest, SaslAuthenticateResponse
from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from ..api.context import Context
from ..api.registry import handles


@handles(SASL_HANDSHAKE)
def sasl_handshake(_request: SaslHandshakeRequest, _context: Context) -> SaslHandshakeResponse:
    """Always returns ILLEGAL_SASL_STATE. The connection stays open."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])


@handles(SASL_AUTHENTICATE)
def sasl_authenticate(_request: SaslAuthenticateRequest, _context: Context) -> SaslAuthenticateResponse:
    """Always returns ILLEGAL_SASL_STATE. The connection stays open."""
    message = "SaslAuthenticate request received after successful authentication"
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=message, auth_bytes=b"")
