"""Authenticates a connection by SaslHandshake and SaslAuthenticate (KIP-43, KIP-152)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..errors import ErrorCode
from ..frame import decode_response, encode_request
from ..messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from ..messages.sasl_handshake import SASL_HANDSHAKE, SaslHandshakeRequest
from ..schema import Api, Message
from .line import Line, LoginFailed
from .mechanisms import mechanism_of
from .settings import ClientSecurity


def log_in(line: Line, client_id: str, security: ClientSecurity, nonce: str, now_s: float) -> None:
    """Authenticates a line. Raises OSError, LoginFailed, NotKafka."""

    def call(api: Api, request: Message) -> Any:
        version = 1 if api is SASL_HANDSHAKE else 0  # brokers of each release serve these
        line.send(b"".join(encode_request(api, version, 0, client_id, request)))
        return decode_response(api, version, line.receive())[1]

    authenticate(call, security, nonce, now_s)


def authenticate(call: Callable[[Api, Message], Any], security: ClientSecurity, nonce: str, now_s: float) -> None:
    """Authenticates by requests that `call` sends and whose responses it returns. Raises LoginFailed."""
    mechanism = mechanism_of(security, nonce, now_s)
    handshake = call(SASL_HANDSHAKE, SaslHandshakeRequest(mechanism=security.mechanism))
    if handshake.error_code:
        offered = ", ".join(handshake.mechanisms) or "none"
        raise LoginFailed(f"the broker does not support the SASL mechanism {security.mechanism}; it supports {offered}")
    challenge = b""
    while (message := mechanism.next(challenge)) is not None:
        answer = call(SASL_AUTHENTICATE, SaslAuthenticateRequest(auth_bytes=message))
        if answer.error_code:
            raise LoginFailed(answer.error_message or ErrorCode(answer.error_code).name)
        challenge = answer.auth_bytes
    if not mechanism.complete:
        raise LoginFailed("the broker did not complete the authentication")
