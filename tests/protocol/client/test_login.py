"""The requests of an authentication, and the errors of a broker."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.client.line import LoginFailed
from odradek.protocol.client.login import authenticate
from odradek.protocol.client.settings import ClientSecurity
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.sasl_authenticate import SaslAuthenticateResponse
from odradek.protocol.messages.sasl_handshake import SaslHandshakeResponse
from odradek.protocol.schema import Api, Message

SECURITY = ClientSecurity("SASL_PLAINTEXT", "PLAIN", "alice", "secret")
ACCEPTED = SaslHandshakeResponse(mechanisms=["PLAIN"])


def authenticated(*answers: Message) -> list[Message]:
    """Returns the requests that an authentication sends to a broker with these answers."""
    remaining, sent = list(answers), []

    def call(api: Api, request: Message) -> Any:
        sent.append(request)
        return remaining.pop(0)

    authenticate(call, SECURITY, "nonce", 0)
    return sent


def test_authentication_sends_handshake_and_token() -> None:
    handshake, token = authenticated(ACCEPTED, SaslAuthenticateResponse(error_message=None, auth_bytes=b""))
    assert handshake.mechanism == "PLAIN"  # type: ignore[attr-defined]
    assert token.auth_bytes == b"\0alice\0secret"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (
            [SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=["SCRAM-SHA-256"])],
            "the broker does not support the SASL mechanism PLAIN; it supports SCRAM-SHA-256",
        ),
        ([SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE, mechanisms=[])], "it supports none"),
        (
            [ACCEPTED, SaslAuthenticateResponse(error_code=58, error_message="Authentication failed: Invalid", auth_bytes=b"")],
            "Authentication failed: Invalid",
        ),
        ([ACCEPTED, SaslAuthenticateResponse(error_code=58, error_message=None, auth_bytes=b"")], "SASL_AUTHENTICATION_FAILED"),
        (
            [
                ACCEPTED,
                SaslAuthenticateResponse(error_message=None, auth_bytes=b"error"),
                SaslAuthenticateResponse(error_message=None, auth_bytes=b"again"),
                SaslAuthenticateResponse(error_message=None, auth_bytes=b""),
            ],
            "the broker did not complete the authentication",
        ),
    ],
)
def test_refused_authentication_raises(answers: list[Message], message: str) -> None:
    with pytest.raises(LoginFailed, match=message):
        authenticated(*answers)
