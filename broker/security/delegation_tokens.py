"""Delegation tokens (KIP-48; Kafka's DelegationTokenControlManager and DelegationTokenManager).

A user creates a token that belongs to this user or to another one. A client that knows its HMAC authenticates as the owner by SCRAM, with
the id of the token as user name and the HMAC in Base64 as password, until the token expires. Owner and renewers may prolong a token up to
its maximum lifetime, and end it early. Expired tokens are removed at intervals.
"""

from __future__ import annotations

import hmac
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from random import Random
from uuid import UUID

from ...protocol.errors import ErrorCode, KafkaError
from ..scheduling.timers import Check, Timers
from ..settings.values import BrokerConfig
from .scram_credentials import MECHANISMS, SALT_BITS, ScramCredential, salt_of

USER_TYPE = "User"
_TIMER = "delegation tokens"


@dataclass(slots=True)
class DelegationToken:
    """A token. Principals are written as `type:name`; times are milliseconds since the Unix epoch."""

    token_id: str
    owner: str
    requester: str
    renewers: tuple[str, ...]
    issue_ms: int
    max_ms: int
    expiry_ms: int
    hmac: bytes = field(repr=False)
    credentials: dict[int, ScramCredential] = field(repr=False)

    def belongs_to(self, principal: str) -> bool:
        """Returns whether the principal owns, has requested or may renew the token."""
        return principal == self.requester or self.may_be_renewed_by(principal)

    def may_be_renewed_by(self, principal: str) -> bool:
        return principal in (self.owner, *self.renewers)


class DelegationTokens:
    """The tokens of a cluster, which has some only with a secret key (`is_enabled`).

    Without one, iteration and the methods of requests raise KafkaError with DELEGATION_TOKEN_AUTH_DISABLED. `on_change` is called after
    each change of the tokens.
    """

    def __init__(self, config: BrokerConfig, timers: Timers, random: Random, on_change: Callable[[], object]) -> None:
        self._secret = config.texts.get("delegation.token.secret.key", "").encode()
        self._max_lifetime_ms = config.integers["delegation.token.max.lifetime.ms"]
        self._renew_ms = config.integers["delegation.token.expiry.time.ms"]
        check_interval_ms = config.integers["delegation.token.expiry.check.interval.ms"]
        self.check = Check(self.remove_expired, lambda: check_interval_ms, self._next_due_ms)
        self._timers = timers
        self._random = random
        self._on_change = on_change
        self._tokens: dict[str, DelegationToken] = {}
        self._by_hmac: dict[bytes, DelegationToken] = {}

    def __iter__(self) -> Iterator[DelegationToken]:
        self._check_enabled()
        return iter(self._tokens.values())

    @property
    def is_enabled(self) -> bool:
        """Whether the cluster has a secret key."""
        return bool(self._secret)

    def get(self, token_id: str) -> DelegationToken | None:
        """Returns a token that has not been removed, None if there is none with this id."""
        return self._tokens.get(token_id)

    def create(self, owner: str, requester: str, renewers: Collection[str], max_lifetime_ms: int) -> DelegationToken:
        """Creates a token. A lifetime that is not positive stands for `delegation.token.max.lifetime.ms`, which limits all others.

        Raises KafkaError with INVALID_PRINCIPAL_TYPE for a renewer that is not a user. This takes milliseconds.
        """
        self._check_enabled()
        if any(not renewer.startswith(f"{USER_TYPE}:") for renewer in renewers):
            raise KafkaError(ErrorCode.INVALID_PRINCIPAL_TYPE)
        now_ms = self._timers.now_ms
        max_ms = now_ms + (min(self._max_lifetime_ms, max_lifetime_ms) if max_lifetime_ms > 0 else self._max_lifetime_ms)
        token_id = urlsafe_b64encode(UUID(bytes=self._random.randbytes(16), version=4).bytes).decode().rstrip("=")
        expiry_ms = min(max_ms, now_ms + self._renew_ms)
        token = self.load(token_id, owner, requester, renewers, now_ms, max_ms, expiry_ms)
        self._on_change()
        return token

    def load(
        self, token_id: str, owner: str, requester: str, renewers: Iterable[str], issue_ms: int, max_ms: int, expiry_ms: int
    ) -> DelegationToken:
        """Adds a token. Its HMAC follows from the secret key, which has to be that of the brokers that have created it."""
        mac = hmac.digest(self._secret, token_id.encode(), "sha512")
        salt, password = salt_of(self._random.getrandbits(SALT_BITS)), b64encode(mac)
        credentials = {number: ScramCredential.of_password(mechanism, password, salt) for number, mechanism in MECHANISMS.items()}
        token = DelegationToken(token_id, owner, requester, tuple(renewers), issue_ms, max_ms, expiry_ms, mac, credentials)
        self._tokens[token_id] = self._by_hmac[mac] = token
        if _TIMER not in self._timers:
            self._timers.set(_TIMER, self.check.interval_ms(), self.check)
        return token

    def renew(self, mac: bytes, principal: str, period_ms: int) -> int:
        """Prolongs a token and returns its new expiry. A period that is not positive stands for `delegation.token.expiry.time.ms`.

        Raises KafkaError for an unknown or expired token, and for a principal that may not renew it.
        """
        token = self._find(mac, principal)
        self._check_not_expired(token)
        return self._set_expiry(token, min(self._renew_ms, period_ms) if period_ms > 0 else self._renew_ms)

    def expire(self, mac: bytes, principal: str, period_ms: int) -> int:
        """Lets a token expire after a period, a negative one at once, and returns its expiry. Raises KafkaError as `renew` does."""
        token = self._find(mac, principal)
        if period_ms < 0:
            self._remove([token])
            return self._timers.now_ms
        self._check_not_expired(token)
        return self._set_expiry(token, period_ms)

    def _set_expiry(self, token: DelegationToken, period_ms: int) -> int:
        token.expiry_ms = min(token.max_ms, self._timers.now_ms + period_ms)
        self._on_change()
        return token.expiry_ms

    def _find(self, mac: bytes, principal: str) -> DelegationToken:
        self._check_enabled()
        token = self._by_hmac.get(bytes(mac))
        if token is None:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_NOT_FOUND)
        if not token.may_be_renewed_by(principal):
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_OWNER_MISMATCH)
        return token

    def _check_not_expired(self, token: DelegationToken) -> None:
        if token.expiry_ms < self._timers.now_ms:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_EXPIRED)

    def _check_enabled(self) -> None:
        if not self.is_enabled:
            raise KafkaError(ErrorCode.DELEGATION_TOKEN_AUTH_DISABLED)

    def remove_expired(self) -> None:
        now_ms = self._timers.now_ms
        self._remove([token for token in self._tokens.values() if token.expiry_ms < now_ms])
        if self._tokens:
            self._timers.set(_TIMER, self.check.interval_ms(), self.check)

    def _next_due_ms(self) -> float:
        """Returns when a token may be removed, 0 if none is left, so that the timer ends."""
        return min((token.expiry_ms + 1 for token in self._tokens.values()), default=0)

    def _remove(self, tokens: Iterable[DelegationToken]) -> None:
        for token in tokens:
            del self._tokens[token.token_id], self._by_hmac[token.hmac]
            self._on_change()
