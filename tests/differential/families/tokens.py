"""Delegation tokens (KIP-48): their APIs for owners, renewers and others, and authentication with a token."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN
from odradek.protocol.messages.describe_delegation_token import DESCRIBE_DELEGATION_TOKEN
from odradek.protocol.messages.expire_delegation_token import EXPIRE_DELEGATION_TOKEN
from odradek.protocol.messages.renew_delegation_token import RENEW_DELEGATION_TOKEN

from ..case import Case, Pause, ScramExchange, Send, Step, TokenRequest, all_versions
from ..requests import request_of
from ..scram_exchange import TOKEN_SECRET
from .sasl import LISTENER, STILL_OPEN, login
from .sasl import SETTINGS as SASL_SETTINGS

SETTINGS = {
    **SASL_SETTINGS,
    "delegation.token.secret.key": TOKEN_SECRET,
    "delegation.token.max.lifetime.ms": "300000",
    "delegation.token.expiry.time.ms": "200000",
}
GROUP = {"principal_type": "Group", "principal_name": "alice"}
LAST = CREATE_DELEGATION_TOKEN.versions.last


def cases() -> Iterator[Case]:
    for name, steps in (*_lives(), *_created(), *_logins()):
        yield Case(f"tokens.{name}", (), (*login("alice"), *steps))


def user(name: str) -> dict[str, str]:
    """Returns a principal. Each case that describes tokens has a renewer of its own, because tokens of other cases may exist."""
    return {"principal_type": "User", "principal_name": name}


def create(*renewers: dict[str, str], lifetime_ms: int = -1, version: int = LAST, **fields: Any) -> Send:
    request = request_of(CREATE_DELEGATION_TOKEN, {"renewers": list(renewers), "max_lifetime_ms": lifetime_ms, **fields})
    return Send(CREATE_DELEGATION_TOKEN, version, request, listener=LISTENER, binds={"token": "token_id"}, settles=True)


def describe(*owners: dict[str, str], version: int = DESCRIBE_DELEGATION_TOKEN.versions.last) -> Send:
    return Send(DESCRIBE_DELEGATION_TOKEN, version, request_of(DESCRIBE_DELEGATION_TOKEN, {"owners": list(owners)}), listener=LISTENER)


def renew(period_ms: int, version: int = RENEW_DELEGATION_TOKEN.versions.last, token: str = "token") -> TokenRequest:
    return TokenRequest(RENEW_DELEGATION_TOKEN, version, {"renew_period_ms": period_ms}, token, LISTENER)


def expire(period_ms: int, version: int = EXPIRE_DELEGATION_TOKEN.versions.last, token: str = "token") -> TokenRequest:
    return TokenRequest(EXPIRE_DELEGATION_TOKEN, version, {"expiry_time_period_ms": period_ms}, token, LISTENER)


SETTLED = Pause(1500)
"""The time after which Kafka's brokers know a new token, whose credentials they compute first."""


def _lives() -> Iterator[tuple[str, tuple[Step, ...]]]:
    for version in all_versions(CREATE_DELEGATION_TOKEN):
        used = min(version, RENEW_DELEGATION_TOKEN.versions.last)
        renewer = user(f"renewer-{version}")
        created = (create(renewer, version=version), SETTLED)
        yield f"renewed.v{version}", (*created, renew(60_000, used), describe(renewer, version=version), expire(-1, used))
        yield f"expired.v{version}", (*created, expire(-1, used), describe(renewer, version=version), renew(1, used), expire(1, used))
    for period_ms in (-1, 0, 1, 2**62):
        yield f"renew.{period_ms}", (create(), SETTLED, renew(period_ms), expire(-1))
    for period_ms in (0, 1, 2**62):
        yield f"expire.{period_ms}", (create(), SETTLED, expire(period_ms), SETTLED, renew(60_000), expire(60_000), expire(-1))
    yield "unknown", (renew(1000, token="none"), expire(1000, token="none"), expire(-1, token="none"))


def _created() -> Iterator[tuple[str, tuple[Step, ...]]]:
    for lifetime_ms in (-1, 0, 1, 60_000, 2**62):
        yield f"lifetime.{lifetime_ms}", (create(lifetime_ms=lifetime_ms), SETTLED, expire(60_000), expire(-1))
    zoe, yan = user("zoe"), user("yan")
    yield "renewers", (create(zoe, zoe), SETTLED, describe(zoe), describe(yan, zoe), describe(), expire(-1), describe(zoe))
    yield "renewer-group", (create(GROUP), create(zoe, GROUP))
    owner: dict[str, Any] = {"owner_principal_type": "User", "owner_principal_name": "yan"}
    yield "owner", (create(**owner), SETTLED, describe(yan), renew(60_000), expire(60_000), expire(-1))
    yield "owner-group", (create(**{**owner, "owner_principal_type": "Group"}), SETTLED, expire(-1))
    yield "owner-half", (create(owner_principal_type="User"), SETTLED, expire(-1))
    yield "owner-empty", (create(owner_principal_type="User", owner_principal_name=""), SETTLED, expire(-1))


def _logins() -> Iterator[tuple[str, tuple[Step, ...]]]:
    drop = Send(CREATE_DELEGATION_TOKEN, LAST, b"\xff" * 4, listener=LISTENER)
    created = (create(), SETTLED, drop)
    for mechanism in ("SCRAM-SHA-256", "SCRAM-SHA-512"):
        exchange = ScramExchange(mechanism, "n,,n=$token,r=abc,tokenauth=true", "token")
        yield f"login.{mechanism}", (*created, exchange, STILL_OPEN, create(), describe(GROUP), renew(1), expire(-1))
        yield f"login.no-extension.{mechanism}", (*created, exchange._replace(first="n,,n=$token,r=abc"), STILL_OPEN)
        yield f"login.wrong.{mechanism}", (*created, exchange._replace(password="wrong"), STILL_OPEN)
        yield f"login.removed.{mechanism}", (create(), SETTLED, expire(-1), SETTLED, drop, exchange, STILL_OPEN)
        yield f"login.expired.{mechanism}", (create(), SETTLED, expire(1), SETTLED, drop, exchange, STILL_OPEN)
    bob = user("bob")
    yield "other-user", (*created, *login("bob"), renew(60_000), expire(60_000), expire(-1))
    yield "renewer", (create(bob), SETTLED, drop, *login("bob"), renew(60_000), expire(60_000), expire(-1))
