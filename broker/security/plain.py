"""The SASL mechanism PLAIN (RFC 4616; Kafka's PlainSaslServer and PlainServerCallbackHandler)."""

from __future__ import annotations

import hmac
from collections.abc import Iterator, Mapping

from .mechanism import AuthenticationFailed, Identity

_KEY = b"odradek"  # makes digests of equal length, which compare_digest compares in constant time


class PlainUsers:
    """The users of PLAIN with the digests of their passwords."""

    def __init__(self, digests: Mapping[str, bytes]) -> None:
        self._digests = digests
        self._unknown = _digest("")

    def __len__(self) -> int:
        return len(self._digests)

    def __iter__(self) -> Iterator[str]:
        return iter(self._digests)

    def accepts(self, user: str, password: str) -> bool:
        """Returns whether the password is the user's. Unknown users take the same time as known ones."""
        expected = self._digests.get(user, self._unknown)
        return hmac.compare_digest(_digest(password), expected) and user in self._digests


def digests_of(passwords: Mapping[str, str]) -> dict[str, bytes]:
    """Returns digests by user. They are kept instead of the passwords, so that logs and snapshots contain no passwords."""
    return {user: _digest(password) for user, password in passwords.items()}


def _digest(password: str) -> bytes:
    return hmac.digest(_KEY, password.encode("utf-8", "surrogatepass"), "sha256")


class PlainServer:
    """One exchange of PLAIN, which consists of a single token: authorization id, user name and password, separated by NUL."""

    def __init__(self, users: PlainUsers) -> None:
        self._users = users
        self.identity: Identity | None = None

    def evaluate(self, token: bytes) -> bytes:
        """Returns an empty message if the password is right. Raises AuthenticationFailed."""
        parts = token.decode("utf-8", "replace").split("\0")
        if len(parts) != 3:
            raise AuthenticationFailed(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        authorization_id, user, password = parts
        if not user:
            raise AuthenticationFailed("Authentication failed: username not specified")
        if not password:
            raise AuthenticationFailed("Authentication failed: password not specified")
        if not self._users.accepts(user, password):
            raise AuthenticationFailed("Authentication failed: Invalid username or password")
        if authorization_id not in ("", user):
            raise AuthenticationFailed("Authentication failed: Client requested an authorization id that is different from username")
        self.identity = Identity(user)
        return b""
