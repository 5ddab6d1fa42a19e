"""The state machine of SASL: sessions that expire, and re-authentication (KIP-368)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from odradek.broker.security.mechanism import AuthenticationFailed, Identity, InvalidCredentials
from odradek.broker.security.sasl import SaslRefused, SaslSession, SaslState, Violation
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from odradek.protocol.messages.sasl_handshake import SaslHandshakeRequest

EXPIRY_MS = 5000


class Steps:
    """A mechanism of two steps: any token, then `user` or `user@expiry`."""

    def __init__(self) -> None:
        self.identity: Identity | None = None
        self._tokens = 0

    def evaluate(self, token: bytes) -> bytes:
        self._tokens += 1
        if token == b"wrong":
            raise InvalidCredentials("secret reason")
        if token == b"failed":
            raise AuthenticationFailed("public reason")
        if token == b"failed at length":
            raise AuthenticationFailed("reason " * 10_000)
        if self._tokens == 1:
            return b"challenge"
        user, _, expiry = token.decode().partition("@")
        self.identity = Identity(user, int(expiry) if expiry else None)
        return b"done"


class Clock:
    def __init__(self) -> None:
        self.now_ms = 1000


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def new_session(clock: Clock) -> Callable[..., SaslSession]:
    return lambda max_ms=0: SaslSession(["A", "B"], lambda name: Steps(), lambda name: max_ms, lambda: clock.now_ms)


def send(session: SaslSession, *tokens: bytes, mechanism: str = "A") -> SaslAuthenticateResponse:
    session.handshake(SaslHandshakeRequest(mechanism=mechanism), 1)
    return [session.authenticate(SaslAuthenticateRequest(auth_bytes=token)) for token in tokens][-1]


def test_session_is_complete_after_the_last_token(new_session: Callable[..., SaslSession]) -> None:
    session = new_session()
    assert session.state is SaslState.HANDSHAKE_OR_VERSIONS
    session.versions_answered()
    assert session.state is SaslState.HANDSHAKE
    assert send(session, b"first").auth_bytes == b"challenge"
    assert session.state is SaslState.AUTHENTICATE
    response = session.authenticate(SaslAuthenticateRequest(auth_bytes=b"alice"))
    assert (response.auth_bytes, response.session_lifetime_ms, session.state) == (b"done", 0, SaslState.COMPLETE)
    assert (session.identity, session.expires_ms, session.is_expired) == (Identity("alice"), None, False)


@pytest.mark.parametrize(
    ("max_ms", "user", "lifetime_ms"), [(0, b"a", 0), (300, b"a", 300), (300, b"a@1200", 200), (100, b"a@1200", 100), (0, b"a@900", 0)]
)
def test_session_lifetime_is_the_smallest_limit(
    new_session: Callable[..., SaslSession], clock: Clock, max_ms: int, user: bytes, lifetime_ms: int
) -> None:
    session = new_session(max_ms)
    assert send(session, b"first", user).session_lifetime_ms == lifetime_ms
    limited = max_ms or b"@" in user
    assert session.expires_ms == (1000 + lifetime_ms if limited else None)
    clock.now_ms += lifetime_ms
    assert not session.is_expired
    clock.now_ms += 1
    assert session.is_expired == bool(limited)


def test_session_refuses_with_a_text_that_a_response_can_contain(new_session: Callable[..., SaslSession]) -> None:
    """The authorization id of a client may be longer than a string of the protocol."""
    with pytest.raises(SaslRefused) as refused:
        send(new_session(), b"failed at length")
    response = refused.value.response
    assert isinstance(response, SaslAuthenticateResponse)
    assert response.error_message is not None and len(response.error_message) <= 32_767


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"wrong", "Authentication failed during authentication due to invalid credentials with SASL mechanism A"),
        (b"failed", "public reason"),
    ],
)
def test_session_refuses_with_the_text_for_the_client(new_session: Callable[..., SaslSession], token: bytes, text: str) -> None:
    with pytest.raises(SaslRefused) as refused:
        send(new_session(), token)
    response = refused.value.response
    assert isinstance(response, SaslAuthenticateResponse)
    assert (response.error_code, response.error_message, str(refused.value)) == (ErrorCode.SASL_AUTHENTICATION_FAILED, text, text)


def test_session_with_raw_tokens_refuses_without_a_response(new_session: Callable[..., SaslSession]) -> None:
    session = new_session()
    session.handshake(SaslHandshakeRequest(mechanism="A"), 0)
    assert session.raw_tokens and session.raw_token(b"first") == b"challenge"
    with pytest.raises(SaslRefused, match="public reason") as refused:
        session.raw_token(b"failed")
    assert refused.value.response is None
    with pytest.raises(Violation):
        session.raw_token(b"wrong")


def test_session_without_expiry_does_not_begin_again(new_session: Callable[..., SaslSession]) -> None:
    session = new_session()
    send(session, b"first", b"alice")
    assert not session.try_reauthentication() and session.state is SaslState.COMPLETE


def test_session_begins_again_at_most_once_a_second(new_session: Callable[..., SaslSession], clock: Clock) -> None:
    session = new_session(EXPIRY_MS)
    send(session, b"first", b"alice")
    assert session.try_reauthentication() and session.state is SaslState.HANDSHAKE
    assert send(session, b"first", b"alice").session_lifetime_ms == EXPIRY_MS
    clock.now_ms += 999
    assert not session.try_reauthentication()
    clock.now_ms += 1
    assert session.try_reauthentication()


def test_session_begins_again_after_it_has_expired(new_session: Callable[..., SaslSession], clock: Clock) -> None:
    session = new_session(EXPIRY_MS)
    send(session, b"first", b"alice")
    clock.now_ms += EXPIRY_MS + 1
    assert session.is_expired and session.try_reauthentication()
    send(session, b"first", b"alice")
    assert not session.is_expired


def test_session_cannot_change_its_user(new_session: Callable[..., SaslSession]) -> None:
    session = new_session(EXPIRY_MS)
    send(session, b"first", b"alice")
    session.try_reauthentication()
    with pytest.raises(SaslRefused, match=r"^Cannot change principals during re-authentication from User\.alice: User\.bob$"):
        send(session, b"first", b"bob")


def test_session_cannot_change_its_mechanism(new_session: Callable[..., SaslSession]) -> None:
    """Kafka accepts the handshake, and refuses the token after it without a response."""
    session = new_session(EXPIRY_MS)
    send(session, b"first", b"alice")
    session.try_reauthentication()
    with pytest.raises(SaslRefused, match="cannot be changed by a re-authentication") as refused:
        send(session, b"first", mechanism="B")
    assert refused.value.response is None


def test_session_names_the_re_authentication_in_its_refusal(new_session: Callable[..., SaslSession]) -> None:
    session = new_session(EXPIRY_MS)
    send(session, b"first", b"alice")
    session.try_reauthentication()
    with pytest.raises(SaslRefused, match="failed during re-authentication due to invalid credentials"):
        send(session, b"wrong")
