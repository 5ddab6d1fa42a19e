"""The interface of a SASL mechanism for the state machine (`sasl.py`): it evaluates tokens until the client is identified or refused."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Identity(NamedTuple):
    """An authenticated user. `expires_ms` is the time (since the Unix epoch) at which the credentials expire, None if they do not.

    `by_token` states that the user has authenticated with a delegation token, which must not be used to create further tokens.
    """

    user: str
    expires_ms: int | None = None
    by_token: bool = False


class Mechanism(Protocol):
    """The server side of one exchange of a SASL mechanism. `identity` is None until the exchange is complete."""

    identity: Identity | None

    def evaluate(self, token: bytes) -> bytes:
        """Returns the challenge to a token of the client, or the last message of the exchange, which may be empty.

        Raises InvalidCredentials or AuthenticationFailed.
        """


class InvalidCredentials(Exception):
    """The token is malformed or its credentials are wrong (Java's SaslException).

    The client receives a general message, because the text of the exception may reveal whether the user exists.
    """


class AuthenticationFailed(Exception):
    """The client is refused with the text of the exception (Kafka's SaslAuthenticationException)."""
