"""SASL, delegation tokens and client metrics on a listener without security: Kafka refuses them and keeps the connection open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN
from odradek.protocol.messages.describe_delegation_token import DESCRIBE_DELEGATION_TOKEN
from odradek.protocol.messages.expire_delegation_token import EXPIRE_DELEGATION_TOKEN
from odradek.protocol.messages.get_telemetry_subscriptions import GET_TELEMETRY_SUBSCRIPTIONS
from odradek.protocol.messages.metadata import METADATA
from odradek.protocol.messages.push_telemetry import PUSH_TELEMETRY
from odradek.protocol.messages.renew_delegation_token import RENEW_DELEGATION_TOKEN
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE
from odradek.protocol.schema import Api

from ..case import Case, Send, all_versions
from ..requests import request_of

ALICE = {"principal_type": "User", "principal_name": "alice"}
GROUP = {"principal_type": "Group", "principal_name": "staff"}
STILL_THERE = Send(METADATA, 1, request_of(METADATA, {"topics": []}))

SUBSCRIPTIONS = {1: -725132338, 60: -1531499602, 80: -725132322}
"""The subscription id that Kafka assigns to a client, by the first byte of the client instance id."""


def cases() -> Iterator[Case]:
    for make in (_sasl, _tokens, _telemetry):
        yield from make()


def _each_version(name: str, api: Api, fields: Mapping[str, Any]) -> Iterator[Case]:
    for version in all_versions(api):
        yield Case(f"security.{name}.v{version}", (), (Send(api, version, request_of(api, fields)), STILL_THERE))


def _sasl() -> Iterator[Case]:
    for mechanism in ("PLAIN", "GSSAPI", "SCRAM-SHA-256", "no-such", ""):
        yield from _each_version(f"handshake.{mechanism}", SASL_HANDSHAKE, {"mechanism": mechanism})
    for word, token in (("plain", b"\0alice\0secret"), ("empty", b"")):
        yield from _each_version(f"authenticate.{word}", SASL_AUTHENTICATE, {"auth_bytes": token})
    handshake = Send(SASL_HANDSHAKE, 1, request_of(SASL_HANDSHAKE, {"mechanism": "PLAIN"}))
    authenticate = Send(SASL_AUTHENTICATE, 2, request_of(SASL_AUTHENTICATE, {"auth_bytes": b"\0alice\0secret"}))
    yield Case("security.login", (), (handshake, authenticate, handshake, authenticate, STILL_THERE))


def _tokens() -> Iterator[Case]:
    for word, renewers in (("plain", []), ("renewers", [ALICE, ALICE]), ("group", [GROUP])):
        yield from _each_version(f"create.{word}", CREATE_DELEGATION_TOKEN, {"renewers": renewers, "max_lifetime_ms": -1})
    owner = {"owner_principal_type": "User", "owner_principal_name": "alice"}
    for word, fields in (
        ("owner", owner),
        ("owner-half", {"owner_principal_type": "User"}),
        ("owner-empty", {**owner, "owner_principal_name": ""}),
    ):
        requested = request_of(CREATE_DELEGATION_TOKEN, {"renewers": [], "max_lifetime_ms": 1000, **fields})
        yield Case(f"security.create.{word}", (), (Send(CREATE_DELEGATION_TOKEN, 3, requested), STILL_THERE))
    yield from _each_version("renew", RENEW_DELEGATION_TOKEN, {"hmac": b"secret", "renew_period_ms": 1000})
    yield from _each_version("expire", EXPIRE_DELEGATION_TOKEN, {"hmac": b"secret", "expiry_time_period_ms": 1000})
    for word, owners in (("all", None), ("none", []), ("one", [ALICE])):
        yield from _each_version(f"describe.{word}", DESCRIBE_DELEGATION_TOKEN, {"owners": owners})


def _telemetry() -> Iterator[Case]:
    def subscriptions(client: bytes, **options: Any) -> Send:
        return Send(GET_TELEMETRY_SUBSCRIPTIONS, 0, request_of(GET_TELEMETRY_SUBSCRIPTIONS, {"client_instance_id": client}), **options)

    def push(client: bytes, subscription: int, terminating: bool = False, compression: int = 0, size: int = 2, **options: Any) -> Send:
        fields = {
            "client_instance_id": client,
            "subscription_id": subscription,
            "terminating": terminating,
            "compression_type": compression,
            "metrics": bytes(size),
        }
        return Send(PUSH_TELEMETRY, 0, request_of(PUSH_TELEMETRY, fields), **options)

    def client(number: int) -> bytes:
        return bytes(range(number, number + 16))

    zero, one, known = bytes(16), bytes(15) + b"\1", client(1)
    for word, requests in (
        ("reserved", (subscriptions(one), push(one, 1), push(zero, 1))),
        ("known", (subscriptions(known), subscriptions(known), push(known, -1), push(known, -1))),
        ("push-first", (push(client(20), 5), subscriptions(client(20)), subscriptions(client(20)), push(client(20), 5))),
        ("terminating", (push(client(40), 5, True), push(client(40), 5, True), push(client(40), 5), subscriptions(client(40)))),
        ("pushed", (push(client(1), SUBSCRIPTIONS[1], True), push(client(1), SUBSCRIPTIONS[1]))),
        ("compression", (push(client(60), SUBSCRIPTIONS[60], compression=99), push(client(60), SUBSCRIPTIONS[60], True, compression=5))),
        ("large", (push(client(80), SUBSCRIPTIONS[80], size=1_048_577), push(client(80), SUBSCRIPTIONS[80], True, size=1_048_576))),
        ("empty", (push(client(100), 5, size=0),)),
    ):
        yield Case(f"security.telemetry.{word}", (), (*requests, STILL_THERE))
