"""Sessions that expire, and re-authentication (KIP-368)."""

from __future__ import annotations

from collections.abc import Iterator

from ..case import Case, Pause, ScramExchange, Step
from .sasl import SETTINGS as SASL_SETTINGS
from .sasl import STILL_OPEN, VERSIONS, handshake, login, raw, token, users

LIFETIME_MS = 2000
SETTINGS = {
    **SASL_SETTINGS,
    "connections.max.reauth.ms": str(LIFETIME_MS),
    "listener.name.sasl.scram-sha-512.connections.max.reauth.ms": "0",
}
CAROL = ScramExchange("SCRAM-SHA-256", "n,,n=carol,r=abc", "carol-secret")


def cases() -> Iterator[Case]:
    yield Case("sasl_sessions.set-up", (), tuple(users()))
    for name, steps in _steps():
        yield Case(f"sasl_sessions.{name}", (), steps)


def _steps() -> Iterator[tuple[str, tuple[Step, ...]]]:
    alice, bob = login("alice"), login("bob")
    wrong = login("alice", "wrong")
    expired, later = Pause(LIFETIME_MS + 100), Pause(1100)
    yield "lifetime", (*alice, STILL_OPEN)
    yield "no-lifetime", (CAROL._replace(mechanism="SCRAM-SHA-512"), expired, STILL_OPEN, handshake("SCRAM-SHA-512"), STILL_OPEN)
    yield "expired", (*alice, expired, STILL_OPEN, STILL_OPEN)
    yield "expired-versions", (*alice, expired, VERSIONS)
    yield "expired-handshake", (*alice, expired, *alice, STILL_OPEN)
    yield "again", (*alice, *alice, STILL_OPEN)
    yield "again-at-once-twice", (*alice, *alice, *alice, STILL_OPEN)
    yield "again-later-twice", (*alice, *alice, later, *alice, STILL_OPEN)
    yield "again-keeps-open", (*alice, later, *alice, later, STILL_OPEN)
    yield "again-other-user", (*alice, *bob, STILL_OPEN)
    yield "again-wrong", (*alice, *wrong, STILL_OPEN)
    yield "again-malformed", (*alice, handshake("PLAIN"), token(b""), STILL_OPEN)
    yield "again-other-mechanism", (*alice, CAROL, STILL_OPEN)
    yield "again-no-mechanism", (*alice, handshake("no-such"), STILL_OPEN)
    yield "again-versions", (*alice, handshake("PLAIN"), VERSIONS, STILL_OPEN)
    yield "again-request", (*alice, handshake("PLAIN"), STILL_OPEN, STILL_OPEN)
    yield "again-handshake", (*alice, handshake("PLAIN"), handshake("PLAIN"), STILL_OPEN)
    yield "again-token-only", (*alice, token(b"\0alice\0alice-secret"), STILL_OPEN)
    yield "scram", (CAROL, CAROL, STILL_OPEN)
    yield "raw", (handshake("PLAIN", 0), raw(b"\0alice\0alice-secret"), STILL_OPEN, expired, STILL_OPEN)
    yield "raw-again", (handshake("PLAIN", 0), raw(b"\0alice\0alice-secret"), *alice, STILL_OPEN)
