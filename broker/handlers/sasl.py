"""SaslHandshake and SaslAuthenticate. No listener asks for authentication yet, so both are out of place."""

from __future__ import annotations

from ...protocol.errors import ErrorCode
from ...protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest, SaslAuthenticateResponse
from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest, SaslHandshakeResponse
from ..context import Context
from ..registry import handles


@handles(SASL_HANDSHAKE)
def sasl_handshake(request: SaslHandshakeRequest, context: Context) -> SaslHandshakeResponse:
    """Always ILLEGAL_SASL_STATE; the connection goes on."""
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])


@handles(SASL_AUTHENTICATE)
def sasl_authenticate(request: SaslAuthenticateRequest, context: Context) -> SaslAuthenticateResponse:
    """Always ILLEGAL_SASL_STATE; the connection goes on."""
    message = "SaslAuthenticate request received after successful authentication"
    return SaslAuthenticateResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, error_message=message, auth_bytes=b"")
