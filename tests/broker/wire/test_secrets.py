"""Passwords, proofs and tokens appear in no output: requests, entries, lines, JSON, the stream and the log."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Iterator

import pytest

from odradek.broker.security.startup import Security
from odradek.broker.wire.exchange import TOKEN_API, Exchange
from odradek.broker.wire.json_form import json_of_entry
from odradek.broker.wire.lines import Lines
from odradek.protocol.frame import LENGTH
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialUpsertion,
)
from odradek.protocol.messages.create_delegation_token import CREATE_DELEGATION_TOKEN, CreateDelegationTokenRequest
from odradek.protocol.messages.incremental_alter_configs import (
    INCREMENTAL_ALTER_CONFIGS,
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.broker.harness import World
from tests.broker.sasl_client import handshake, plain, scram
from tests.broker.wire.recorded_worlds import record_of

PASSWORD = "correct-horse-battery"
SALTED = b"salted-password-of-32-bytes-here"
KEY_PASSWORD = "keystore-secret"

SCRAM_SHA_256 = 1
INCREMENTAL_SET = 0
BROKER = 4


@pytest.fixture
def world(caplog: pytest.LogCaptureFixture) -> Iterator[World]:
    caplog.set_level(logging.DEBUG)
    yield World(nodes=1, security=Security(users={"alice": PASSWORD}))
    assert not found_in(caplog.text, PASSWORD)


def forms_of(secret: str | bytes) -> list[str]:
    """Returns a secret in the forms that outputs might use."""
    data = secret.encode() if isinstance(secret, str) else secret
    encoded = [base64.b64encode(data).decode().rstrip("=")[:-1], data.hex(), repr(data)[2:-1]]
    return [*encoded, *([secret] if isinstance(secret, str) else [])]


def found_in(output: str, secret: str | bytes) -> list[str]:
    return [form for form in forms_of(secret) if form in output]


def outputs(world: World) -> dict[str, str]:
    """Returns all that shows the record."""
    entries = list(record_of(world).entries())
    heads = [
        frame.head for entry in entries if isinstance(entry, Exchange) for frame in (entry.request_frame, entry.response_frame) if frame
    ]
    return {
        "entries": repr(entries),
        "messages": repr([(entry.request, entry.response) for entry in entries if isinstance(entry, Exchange)]),
        "lines": "\n".join(Lines(verbose=True, colours=True).of(entry) for entry in entries),
        "json": json.dumps([json_of_entry(entry, verbose=True, frames=True) for entry in entries]),
        "frames": "\n".join(f"{head!r} {base64.b64encode(head)!r} {head.hex()}" for head in heads),
    }


def check(world: World, *secrets: str | bytes) -> None:
    for name, output in outputs(world).items():
        for secret in secrets:
            assert not found_in(output, secret), f"{name} contain {secret!r}"


def shown_apis(world: World) -> list[str]:
    return [entry.api for entry in record_of(world).entries() if isinstance(entry, Exchange)]


def test_password_of_plain_is_not_shown(world: World) -> None:
    client = world.client()
    assert not plain(client, "alice", PASSWORD).error_code
    assert plain(world.client(), "alice", "another-secret") is None
    check(world, PASSWORD, "another-secret")
    assert shown_apis(world) == ["SaslHandshake", "SaslAuthenticate"] * 2


def test_password_in_a_frame_without_header_is_not_shown(world: World) -> None:
    """After a SaslHandshake of version 0, tokens are frames of their own (KIP-43)."""
    client = world.client()
    assert not handshake(client, version=0).error_code
    client.feed(framed(f"\0alice\0{PASSWORD}".encode()))
    assert client.connection.client.principal == "User:alice"
    check(world, PASSWORD)
    assert shown_apis(world) == ["SaslHandshake", TOKEN_API]


def test_password_of_a_confused_client_is_not_shown(world: World) -> None:
    """A client that sends its token without a handshake is refused, and the bytes that it sent are not shown."""
    for data in (f"\0alice\0{PASSWORD}".encode(), PASSWORD.encode(), b"\0\x24\0\2" + PASSWORD.encode()):
        client = world.client()
        client.feed(framed(data))
        assert client.closed
    check(world, PASSWORD)


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_proofs_of_scram_are_not_shown(world: World, mechanism: str) -> None:
    client = world.client()
    sent: list[bytes] = []
    feed = client.feed
    client.feed = lambda data: (sent.append(data), feed(data))[1]  # type: ignore[func-returns-value, method-assign]
    assert not scram(client, mechanism, "alice", PASSWORD).error_code
    (proof,) = re.findall(rb"p=([A-Za-z0-9+/=]+)", b"".join(sent))
    (nonce,) = re.findall(rb"n=alice,r=([!-+\--~]+)", b"".join(sent))
    check(world, PASSWORD, proof.decode(), nonce.decode())


def test_secrets_of_administration_are_not_shown(world: World) -> None:
    client = world.client()
    assert not plain(client, "alice", PASSWORD).error_code
    upsertion = ScramCredentialUpsertion(name="bob", mechanism=SCRAM_SHA_256, iterations=8192, salt=b"salt", salted_password=SALTED)
    client.call(ALTER_USER_SCRAM_CREDENTIALS, 0, AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion]))
    config = AlterableConfig(name="ssl.keystore.password", config_operation=INCREMENTAL_SET, value=KEY_PASSWORD)
    resource = AlterConfigsResource(resource_type=BROKER, resource_name="1", configs=[config])
    client.call(INCREMENTAL_ALTER_CONFIGS, 1, IncrementalAlterConfigsRequest(resources=[resource], validate_only=True))
    check(world, PASSWORD, SALTED, KEY_PASSWORD)
    assert shown_apis(world)[-2:] == ["AlterUserScramCredentials", "IncrementalAlterConfigs"]


def test_mac_of_a_delegation_token_is_not_shown() -> None:
    settings = {"delegation.token.secret.key": "the-key-of-all-tokens"}
    world = World(nodes=1, settings=settings, security=Security(users={"alice": PASSWORD}))
    client = world.client()
    assert not plain(client, "alice", PASSWORD).error_code
    created = client.call(CREATE_DELEGATION_TOKEN, 2, CreateDelegationTokenRequest(renewers=[], max_lifetime_ms=-1))
    assert created.error_code == 0
    check(world, PASSWORD, bytes(created.hmac), "the-key-of-all-tokens")


def test_names_around_secrets_are_still_shown(world: World) -> None:
    """The search finds what it looks for: user names are not secret and are in the outputs of administration."""
    client = world.client()
    assert not plain(client, "alice", PASSWORD).error_code
    upsertion = ScramCredentialUpsertion(name="robert", mechanism=SCRAM_SHA_256, iterations=8192, salt=b"salt", salted_password=SALTED)
    client.call(ALTER_USER_SCRAM_CREDENTIALS, 0, AlterUserScramCredentialsRequest(deletions=[], upsertions=[upsertion]))
    assert all(found_in(output, "robert") for name, output in outputs(world).items() if name != "entries")


def framed(data: bytes) -> bytes:
    return LENGTH.pack(len(data)) + data
