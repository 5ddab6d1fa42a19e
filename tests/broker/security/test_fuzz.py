"""Clients that send damaged frames of an authentication; SEED=... repeats a run."""

from __future__ import annotations

import logging
import os
from random import Random
from struct import pack

import pytest
from hypothesis import settings

from odradek.broker.security.startup import Security
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE
from tests.broker.harness import World
from tests.broker.sasl_client import plain

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "OAUTHBEARER"]
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
NO_TOPICS = MetadataRequest(topics=[])
FRAMES = 1000 * settings().max_examples


@pytest.fixture
def world() -> World:
    settings = {"sasl.enabled.mechanisms": ",".join(MECHANISMS), "delegation.token.secret.key": "key of tokens"}
    return World(nodes=1, settings=settings, security=Security(users={"alice": "secret"}))


def test_fuzzed_frames_leave_a_canary_undisturbed(world: World, caplog: pytest.LogCaptureFixture) -> None:
    """Each connection sends mutated frames of an authentication. An authenticated client must be answered as if it were alone."""
    caplog.set_level(logging.WARNING)
    seed = int(os.environ.get("SEED", "0")) or Random().getrandbits(32)
    print(f"SEED={seed}")  # noqa: T201
    random, canary, sent = Random(seed), world.client(), 0
    plain(canary)
    while sent < FRAMES:
        client = world.client()
        for frame in fuzzed(random):
            client.feed(frame)
            sent += 1
            if client.closed or not client.wants_data():
                break
        client.connection.lost("gone")
        if sent % 500 < 3:
            assert canary.call(METADATA, 9, NO_TOPICS).brokers
            world.advance(1)
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR], caplog.text[:2000]
    assert canary.connection.client.principal == "User:alice"
    assert len(world.timers) < 100


def fuzzed(random: Random) -> list[bytes]:
    mechanism = random.choice([*MECHANISMS, "GSSAPI", "", "\0"])
    version = random.choice([0, 1])
    tokens = [
        b"\0alice\0secret",
        b"n,,n=alice,r=abc",
        b"c=biws,r=abc,p=AAAA",
        b"n,,\x01auth=Bearer a.b.c\x01\x01",
        random.randbytes(random.randrange(40)),
    ]
    frames = [encode_request(API_VERSIONS, random.choice([0, 3]), 1, "", VERSIONS)] if random.random() < 0.5 else []
    frames.append(encode_request(SASL_HANDSHAKE, version, 1, "", SASL_HANDSHAKE.request(mechanism=mechanism)))
    for _ in range(3):
        data = random.choice(tokens)
        request = SaslAuthenticateRequest(auth_bytes=data)
        frames.append(
            [pack(">i", len(data)), data] if not version else encode_request(SASL_AUTHENTICATE, random.choice([0, 1, 2]), 1, "", request)
        )
    return [mutated(b"".join(parts), random) for parts in frames]


def mutated(frame: bytes, random: Random) -> bytes:
    """Changes up to three bytes or the length of a frame; the length stays consistent with it in most cases."""
    body = bytearray(frame[4:])
    for _ in range(random.choice([0, 0, 1, 1, 2, 3])):
        if body:
            body[random.randrange(len(body))] = random.randrange(256)
    if random.random() < 0.1:
        body = body[: random.randrange(len(body) + 1)]
    size = len(body) if random.random() < 0.95 else random.choice([-1, 0, 1, 2**31 - 1, 524_288, 524_289])
    return pack(">i", size) + bytes(body)
