"""The state machine with which a connection to a SASL listener authenticates (Kafka's SaslServerAuthenticator).

    HANDSHAKE_OR_VERSIONS   accepts ApiVersions and SaslHandshake
    HANDSHAKE               accepts SaslHandshake, because ApiVersions was answered
    AUTHENTICATE            accepts tokens of the mechanism: in SaslAuthenticate requests (KIP-152), or raw ones after SaslHandshake v0
    COMPLETE                all requests are served; SaslHandshake begins a re-authentication if the session expires (KIP-368)

`SaslRefused` ends the authentication: after `connection.failed.authentication.delay.ms` the client gets the response, if there is one, and
the connection is closed. `Violation` closes the connection at once. `broker/connections/authentication.py` reads and writes the frames.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum, auto

from ...protocol.errors import ErrorCode, shorten_message
from ...protocol.messages.sasl_authenticate import SaslAuthenticateRequest, SaslAuthenticateResponse
from ...protocol.messages.sasl_handshake import SaslHandshakeRequest, SaslHandshakeResponse
from ...protocol.schema import Message
from .mechanism import AuthenticationFailed, Identity, InvalidCredentials, Mechanism

MIN_REAUTHENTICATION_INTERVAL_MS = 1000


class SaslState(Enum):
    """The requests that a session accepts, as the docstring of this module lists them."""

    HANDSHAKE_OR_VERSIONS = auto()
    HANDSHAKE = auto()
    AUTHENTICATE = auto()
    COMPLETE = auto()


class SaslRefused(Exception):
    """The client is refused with `response`, or without a response if it is None. The text is the reason for the log."""

    def __init__(self, reason: str, response: Message | None = None) -> None:
        super().__init__(reason)
        self.response = response


class Violation(Exception):
    """The client does not follow the protocol of SASL. The text is the reason for the log."""


class SaslSession:
    """The authentication of one connection.

    `enabled` are the names of the enabled mechanisms. `create` returns the server side of one, and `max_session_ms` its
    `connections.max.reauth.ms`, 0 for no limit. `now_ms` returns the time since the Unix epoch.
    """

    def __init__(
        self,
        enabled: Sequence[str],
        create: Callable[[str], Mechanism],
        max_session_ms: Callable[[str], int],
        now_ms: Callable[[], int],
    ) -> None:
        self.state = SaslState.HANDSHAKE_OR_VERSIONS
        self.raw_tokens = False
        """Whether tokens are not in SaslAuthenticate requests."""
        self.identity: Identity | None = None
        self.expires_ms: int | None = None
        """The time at which the session expires, None if it does not."""
        self._enabled = enabled
        self._create = create
        self._max_session_ms = max_session_ms
        self._now_ms = now_ms
        self._mechanism: Mechanism | None = None
        self._mechanism_name = ""
        self._reauthenticated_ms: int | None = None

    def versions_answered(self) -> None:
        """Called after an ApiVersions request was answered without an error."""
        self.state = SaslState.HANDSHAKE

    def handshake(self, request: SaslHandshakeRequest, version: int) -> SaslHandshakeResponse:
        """Selects a mechanism. Raises SaslRefused if it is not enabled, and Violation in a re-authentication.

        A re-authentication with another mechanism is refused only at its first token, as in Kafka.
        """
        name = request.mechanism
        if name not in self._enabled and self.identity is not None:
            raise Violation(f"Unsupported SASL mechanism {_shorten(name)}")
        if name not in self._enabled:
            response = SaslHandshakeResponse(error_code=ErrorCode.UNSUPPORTED_SASL_MECHANISM, mechanisms=list(self._enabled))
            raise SaslRefused(f"Unsupported SASL mechanism {_shorten(name)}", response)
        self._mechanism = None
        if self.identity is None or name == self._mechanism_name:
            self._mechanism, self._mechanism_name = self._create(name), name
        self.raw_tokens = version == 0
        self.state = SaslState.AUTHENTICATE
        return SaslHandshakeResponse(mechanisms=list(self._enabled))

    def authenticate(self, request: SaslAuthenticateRequest) -> SaslAuthenticateResponse:
        """Evaluates a token. Raises SaslRefused."""
        try:
            challenge, lifetime_ms = self._evaluate(request.auth_bytes)
        except AuthenticationFailed as failed:
            reason = str(failed)
        except InvalidCredentials:
            doing = "authentication" if self.identity is None else "re-authentication"
            reason = f"Authentication failed during {doing} due to invalid credentials with SASL mechanism {self._mechanism_name}"
        else:
            return SaslAuthenticateResponse(error_message="", auth_bytes=challenge, session_lifetime_ms=lifetime_ms)
        code = ErrorCode.SASL_AUTHENTICATION_FAILED
        raise SaslRefused(reason, SaslAuthenticateResponse(error_code=code, error_message=shorten_message(reason), auth_bytes=b""))

    def raw_token(self, token: bytes) -> bytes:
        """Evaluates a token that is not in a SaslAuthenticate request. Raises SaslRefused, or Violation for a malformed token."""
        try:
            return self._evaluate(token)[0]
        except AuthenticationFailed as failed:
            raise SaslRefused(str(failed)) from None
        except InvalidCredentials:
            raise Violation(f"invalid credentials with SASL mechanism {self._mechanism_name}") from None

    def _evaluate(self, token: bytes) -> tuple[bytes, int]:
        """Returns the answer to a token, and the lifetime of the session in ms, 0 if the session does not expire or is not complete."""
        if self._mechanism is None:
            raise SaslRefused(f"the SASL mechanism {self._mechanism_name} cannot be changed by a re-authentication")
        answer = self._mechanism.evaluate(token)
        identity = self._mechanism.identity
        if identity is None:
            return answer, 0
        if self.identity is not None and identity.user != self.identity.user:
            change = f"from User.{self.identity.user}: User.{identity.user}"
            raise AuthenticationFailed(f"Cannot change principals during re-authentication {change}")
        self.identity, self.state = identity, SaslState.COMPLETE
        lifetime_ms = self._lifetime_ms(identity)
        self.expires_ms = None if lifetime_ms is None else self._now_ms() + lifetime_ms
        return answer, lifetime_ms or 0

    def _lifetime_ms(self, identity: Identity) -> int | None:
        limits = [limit] if (limit := self._max_session_ms(self._mechanism_name)) > 0 else []
        if identity.expires_ms is not None:
            limits.append(max(0, identity.expires_ms - self._now_ms()))
        return min(limits, default=None)

    # Sessions

    @property
    def is_expired(self) -> bool:
        """Whether the session has expired, so that a request closes the connection."""
        return self.expires_ms is not None and self._now_ms() > self.expires_ms

    def try_reauthentication(self) -> bool:
        """Begins a re-authentication, because a SaslHandshake has come, and returns True.

        Returns False if the session does not expire, or if the last re-authentication began less than a second ago.
        """
        now_ms, last_ms = self._now_ms(), self._reauthenticated_ms
        if self.expires_ms is None or (last_ms is not None and now_ms - last_ms < MIN_REAUTHENTICATION_INTERVAL_MS):
            return False
        self._reauthenticated_ms = now_ms
        self.state = SaslState.HANDSHAKE
        return True


def _shorten(name: str) -> str:
    return repr(name[:40])
