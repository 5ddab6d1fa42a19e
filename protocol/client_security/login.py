"""Authenticates a connection by SaslHandshake and SaslAuthenticate (KIP-43, KIP-152)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ErrorCode
from ..messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from ..messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from ..schema import Api, Message
from .mechanisms import AuthenticationFailed, mechanism_of
from .settings import ClientSecurity


def authenticate(call: Callable[[Api, Message], Any], security: ClientSecurity, nonce: str, now_s: float) -> None:
    """Authenticates by requests that `call` sends and whose responses it returns. Raises AuthenticationFailed."""
    mechanism = mechanism_of(security, nonce, now_s)
    handshake = call(SASL_HANDSHAKE, SaslHandshakeRequest(mechanism=security.mechanism))
    if handshake.error_code:
        offered = ", ".join(handshake.mechanisms) or "none"
        raise AuthenticationFailed(f"the broker does not support the SASL mechanism {security.mechanism}; it supports {offered}")
    challenge = b""
    while (message := mechanism.next(challenge)) is not None:
        answer = call(SASL_AUTHENTICATE, SaslAuthenticateRequest(auth_bytes=message))
        if answer.error_code:
            raise AuthenticationFailed(answer.error_message or ErrorCode(answer.error_code).name)
        challenge = answer.auth_bytes
    if not mechanism.complete:
        raise AuthenticationFailed("the broker did not complete the authentication")
