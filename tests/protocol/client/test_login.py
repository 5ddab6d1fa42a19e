"""The requests of an authentication, and the errors of a broker."""

from __future__ import annotations

import json
from base64 import b64encode, urlsafe_b64decode
from typing import Any

import pytest
from scramp import ScramMechanism

from odradek.protocol.client.line import LoginFailed
from odradek.protocol.client.login import ScramClient, authenticate, mechanism_of, unsecured_token
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


NONCE = "client-nonce"


def fetch_token() -> str:
    """The callable of a test."""
    return "from.a.callable"


def failing() -> str:
    raise ValueError("a secret")


def of(mechanism: str, user: str = "", password: str = "", token: str = "", token_callable: str = "") -> ClientSecurity:
    return ClientSecurity("SASL_PLAINTEXT", mechanism, user, password, token=token, token_callable=token_callable)


def test_plain_sends_user_and_password_once() -> None:
    mechanism = mechanism_of(of("PLAIN", user="alice", password="pässword"), NONCE, 0)
    assert mechanism.next(b"") == "\0alice\0pässword".encode()
    assert mechanism.next(b"") is None
    assert mechanism.complete


@pytest.mark.parametrize(
    ("security", "token"),
    [
        (of("OAUTHBEARER", token="a.b.c"), "a.b.c"),
        (of("OAUTHBEARER", token_callable=f"{__name__}:fetch_token"), "from.a.callable"),
        (of("OAUTHBEARER", user="alice"), unsecured_token("alice", 1000)),
    ],
)
def test_oauthbearer_sends_its_token(security: ClientSecurity, token: str) -> None:
    assert mechanism_of(security, NONCE, 1000).next(b"") == f"n,,\x01auth=Bearer {token}\x01\x01".encode()


def test_oauthbearer_acknowledges_an_error() -> None:
    mechanism = mechanism_of(of("OAUTHBEARER", token="a.b.c"), NONCE, 0)
    mechanism.next(b"")
    assert mechanism.next(b'{"status":"invalid_token"}') == b"\x01"
    assert not mechanism.complete


@pytest.mark.parametrize("name", [f"{__name__}:failing", f"{__name__}:missing", "no_such_module:f"])
def test_failing_callable_reveals_only_its_error_type(name: str) -> None:
    with pytest.raises(LoginFailed, match=r"sasl.login.callback.handler.class=.* raised \w+Error") as caught:
        mechanism_of(of("OAUTHBEARER", token_callable=name), NONCE, 0)
    assert "a secret" not in str(caught.value)


def test_unsecured_token_is_a_jws_without_signature() -> None:
    header, claims, signature = unsecured_token("alice", 1000).split(".")
    assert json.loads(urlsafe_b64decode(header + "==")) == {"alg": "none"}
    assert json.loads(urlsafe_b64decode(claims + "==")) == {"sub": "alice", "iat": 1000, "exp": 4600}
    assert signature == ""


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("user", ["alice", "with,comma=sign"])
def test_scram_client_agrees_with_scramp(mechanism: str, user: str) -> None:
    server_side = ScramMechanism(mechanism)
    asked: list[str] = []

    def credentials(name: str) -> Any:
        asked.append(name)
        return server_side.make_auth_info("secret")

    server = server_side.make_server(credentials)
    client = mechanism_of(of(mechanism, user=user, password="secret"), NONCE, 0)
    server.set_client_first(_text(client.next(b"")))
    server.set_client_final(_text(client.next(server.get_server_first().encode())))
    assert asked == [user]
    assert not client.complete
    assert client.next(server.get_server_final().encode()) is None
    assert client.complete


def _text(message: bytes | None) -> str:
    assert message is not None
    return message.decode()


def test_scram_with_a_delegation_token_says_so() -> None:
    client = ScramClient("sha256", "id", "hmac", NONCE, by_token=True)
    assert client.next(b"") == b"n,,n=id,r=client-nonce,tokenauth=true"


SALT = b64encode(b"salt").decode()


@pytest.mark.parametrize(
    ("challenge", "message"),
    [
        ("e=other-error", "the server's first SCRAM message is invalid"),
        (f"r=other-nonce,s={SALT},i=4096", "the server's first SCRAM message is invalid"),
        (f"r={NONCE},s={SALT},i=4096", "the server's first SCRAM message is invalid"),
        (f"r={NONCE}more,s==,i=4096", "the server's first SCRAM message is invalid"),
        (f"r={NONCE}more,s={SALT},i=1", "the server wants 1 iterations; 4096 to 1000000 are accepted"),
        (f"r={NONCE}more,s={SALT},i=999999999", "the server wants 999999999 iterations"),
    ],
)
def test_invalid_first_message_of_a_server_is_refused(challenge: str, message: str) -> None:
    client = ScramClient("sha256", "alice", "secret", NONCE)
    client.next(b"")
    with pytest.raises(LoginFailed, match=message):
        client.next(challenge.encode())


def test_server_without_the_password_is_refused() -> None:
    client = ScramClient("sha256", "alice", "secret", NONCE)
    client.next(b"")
    client.next(f"r={NONCE}more,s={SALT},i=4096".encode())
    with pytest.raises(LoginFailed, match="the server did not prove that it knows the password"):
        client.next(b"v=" + b64encode(b"x" * 32))
    assert not client.complete
