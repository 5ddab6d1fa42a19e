"""The SASL mechanism PLAIN."""

from __future__ import annotations

import pytest

from odradek.broker.security.mechanism import AuthenticationFailed, Identity
from odradek.broker.security.plain import PlainServer, PlainUsers, digests_of

USERS = PlainUsers(digests_of({"alice": "secret", "bob": "hunter2", "émile": "pässword"}))


@pytest.mark.parametrize(
    ("token", "user"),
    [
        (b"\0alice\0secret", "alice"),
        (b"bob\0bob\0hunter2", "bob"),
        ("\0émile\0pässword".encode(), "émile"),
    ],
)
def test_plain_right_password_identifies_the_user(token: bytes, user: str) -> None:
    server = PlainServer(USERS)
    assert (server.evaluate(token), server.identity) == (b"", Identity(user))


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
        (b"\0alice", "Invalid SASL/PLAIN response: expected 3 tokens, got 2"),
        (b"\0alice\0secret\0more", "Invalid SASL/PLAIN response: expected 3 tokens, got 4"),
        (b"\0\0secret", "Authentication failed: username not specified"),
        (b"\0alice\0", "Authentication failed: password not specified"),
        (b"\xff\xfe", "Invalid SASL/PLAIN response: expected 3 tokens, got 1"),
    ],
)
def test_plain_malformed_token_is_refused(token: bytes, text: str) -> None:
    server = PlainServer(USERS)
    with pytest.raises(AuthenticationFailed, match=f"^{text}$"):
        server.evaluate(token)
    assert server.identity is None


@pytest.mark.parametrize("token", [b"\0alice\0wrong", b"\0alice\0secret2", b"\0nobody\0secret", b"\0Alice\0secret", b"\0nobody\0x"])
def test_plain_wrong_password_is_refused_like_unknown_user(token: bytes) -> None:
    server = PlainServer(USERS)
    with pytest.raises(AuthenticationFailed, match=r"^Authentication failed: Invalid username or password$"):
        server.evaluate(token)
    assert server.identity is None


def test_plain_other_authorization_id_is_refused() -> None:
    server = PlainServer(USERS)
    with pytest.raises(AuthenticationFailed, match="authorization id that is different"):  # CVE-2017-12610
        server.evaluate(b"bob\0alice\0secret")
    assert server.identity is None


def test_plain_users_hold_no_passwords() -> None:
    assert "secret" not in f"{vars(USERS)}"
