"""Connections to SASL listeners: which requests are answered in which state, and what happens to clients that are refused."""

from __future__ import annotations

import logging
from struct import pack

import pytest

from odradek.broker.security.startup import Security
from odradek.protocol.errors import ErrorCode
from odradek.protocol.frame import encode_request
from odradek.protocol.messages import APIS
from odradek.protocol.messages.alter_user_scram_credentials import (
    ALTER_USER_SCRAM_CREDENTIALS,
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
)
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.messages.sasl_authenticate import SASL_AUTHENTICATE, SaslAuthenticateRequest
from odradek.protocol.messages.sasl_handshake import SASL_HANDSHAKE
from odradek.protocol.schema import Api, specs
from tests.broker.harness import Client, World, a_batch, produce_request
from tests.broker.requests import minimal
from tests.broker.sasl_client import handshake, plain, scram, token

MECHANISMS = ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"]
VERSIONS = ApiVersionsRequest(client_software_name="test", client_software_version="1")
NO_TOPICS = MetadataRequest(topics=[])
DELAY_MS = 100
NOT_BEFORE = [api for api in APIS.values() if api not in (API_VERSIONS, SASL_HANDSHAKE)]


def secured(**settings: str) -> World:
    return World(nodes=1, settings=settings, security=Security(users={"alice": "secret", "bob": "hunter2"}))


@pytest.fixture
def world() -> World:
    return secured()


def principal_of(client: Client) -> str:
    return client.connection.client.principal


def raw(client: Client, data: bytes) -> bytes:
    """Sends a token without a request, and returns the answer."""
    client.feed(pack(">i", len(data)) + data)
    size = int.from_bytes(client.sent[:4], "big")
    answer = bytes(client.sent[4 : 4 + size])
    del client.sent[: 4 + size]
    return answer


def test_authentication_by_plain_identifies_the_client(world: World) -> None:
    client = world.client()
    assert principal_of(client) == "User:ANONYMOUS"
    response = plain(client)
    assert (response.error_code, response.error_message, response.auth_bytes, response.session_lifetime_ms) == (0, "", b"", 0)
    assert principal_of(client) == "User:alice"
    assert client.call(METADATA, 9, NO_TOPICS).brokers


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_authentication_by_scram_identifies_the_client(world: World, mechanism: str) -> None:
    client = world.client()
    assert scram(client, mechanism, "bob", "hunter2").error_code == 0
    assert principal_of(client) == "User:bob"


def test_authentication_with_raw_tokens_is_served(world: World) -> None:
    client = world.client()
    assert handshake(client, version=0).error_code == 0
    assert raw(client, b"\0alice\0secret") == b""
    assert principal_of(client) == "User:alice"
    assert client.call(METADATA, 9, NO_TOPICS).brokers


def test_authentication_with_wrong_raw_token_closes_unanswered(world: World) -> None:
    client = world.client()
    handshake(client, version=0)
    assert raw(client, b"\0alice\0wrong") == b""
    assert client.closed is None
    world.advance(DELAY_MS)
    assert client.closed and not client.sent


def test_authentication_with_malformed_raw_token_closes_at_once(world: World) -> None:
    client = world.client()
    handshake(client, "SCRAM-SHA-256", version=0)
    assert raw(client, b"") == b""
    assert client.closed == "invalid credentials with SASL mechanism SCRAM-SHA-256"


def test_handshake_lists_mechanisms_and_refuses_others(world: World) -> None:
    assert sorted(handshake(world.client()).mechanisms) == MECHANISMS
    client = world.client()
    client.send(SASL_HANDSHAKE, 1, SASL_HANDSHAKE.request(mechanism="GSSAPI"))
    assert client.receive() is None
    world.advance(DELAY_MS)
    response = client.receive()
    assert (response.error_code, sorted(response.mechanisms)) == (ErrorCode.UNSUPPORTED_SASL_MECHANISM, MECHANISMS)
    assert client.closed == "Unsupported SASL mechanism 'GSSAPI'"


@pytest.mark.parametrize("delay_ms", [0, 1, 5000])
def test_wrong_password_is_answered_after_the_delay(delay_ms: int) -> None:
    world = secured(**{"connection.failed.authentication.delay.ms": str(delay_ms)})
    client = world.client()
    response = plain(client, password="wrong")
    if delay_ms:
        world.advance(delay_ms - 1)
        assert (response, client.receive(), client.closed) == (None, None, None)
        world.advance(1)
        response = client.receive()
    assert (response.error_code, response.error_message) == (
        ErrorCode.SASL_AUTHENTICATION_FAILED,
        "Authentication failed: Invalid username or password",
    )
    assert client.closed


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
@pytest.mark.parametrize("user", ["alice", "nobody"])
def test_wrong_scram_password_gets_a_general_message(world: World, mechanism: str, user: str) -> None:
    client = world.client()
    assert scram(client, mechanism, user, "wrong") is None
    world.advance(DELAY_MS)
    response = client.receive()
    text = f"Authentication failed during authentication due to invalid credentials with SASL mechanism {mechanism}"
    assert (response.error_code, response.error_message) == (ErrorCode.SASL_AUTHENTICATION_FAILED, text)
    assert client.closed == text


def test_requests_of_a_refused_client_are_not_served(world: World) -> None:
    client = world.client()
    plain(client, password="wrong")
    client.send(METADATA, 9, NO_TOPICS)
    assert not client.wants_data()
    world.advance(DELAY_MS)
    assert client.receive().error_code == ErrorCode.SASL_AUTHENTICATION_FAILED
    assert (bytes(client.sent), client.wants_data()) == (b"", True)


def test_refused_client_that_disconnects_leaves_nothing(world: World) -> None:
    client = world.client()
    plain(client, password="wrong")
    client.connection.lost("gone")
    world.advance(DELAY_MS)
    assert (bytes(client.sent), client.connection.parked) == (b"", None)


@pytest.mark.parametrize("api", NOT_BEFORE, ids=lambda api: api.name)
def test_other_requests_before_the_handshake_close(world: World, api: Api, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    client = world.client()
    client.call(API_VERSIONS, 3, VERSIONS)
    client.feed(b"".join(encode_request(api, api.versions.last, 1, "", minimal(api))))
    assert not client.sent
    assert client.closed and client.closed.startswith(f"unexpected {api.name} request during SASL handshake")
    assert "the listener's, SASL_PLAINTEXT" in caplog.text


@pytest.mark.parametrize("api", [api for api in APIS.values() if api is not SASL_AUTHENTICATE], ids=lambda api: api.name)
def test_other_requests_instead_of_a_token_are_refused(world: World, api: Api) -> None:
    client = world.client()
    handshake(client)
    client.send(api, api.versions.last, minimal(api))
    assert client.receive() is None
    world.advance(DELAY_MS)
    assert client.closed and client.closed.startswith("Unexpected Kafka request of type ")
    response = client.receive()
    fields = [spec.name for spec in specs(type(response)) if spec.name == "error_code" and spec.present(api.versions.last)]
    assert all(getattr(response, name) == ErrorCode.ILLEGAL_SASL_STATE for name in fields)


def test_second_api_versions_closes(world: World) -> None:
    client = world.client()
    client.call(API_VERSIONS, 3, VERSIONS)
    client.send(API_VERSIONS, 3, VERSIONS)
    assert (client.receive(), bool(client.closed)) == (None, True)


def test_api_versions_with_an_error_may_be_repeated(world: World) -> None:
    client = world.client()
    nameless = ApiVersionsRequest(client_software_name="", client_software_version="1")
    assert client.call(API_VERSIONS, 3, nameless).error_code == ErrorCode.INVALID_REQUEST
    client.feed(pack(">ihhihb", 11, API_VERSIONS.key, 99, 1, -1, 0))
    assert int.from_bytes(client.sent[8:10], "big") == ErrorCode.UNSUPPORTED_VERSION
    client.sent.clear()
    assert client.call(API_VERSIONS, 3, VERSIONS).error_code == 0


def test_handshake_after_authentication_is_an_error(world: World) -> None:
    client = world.client()
    plain(client)
    assert handshake(client).error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert token(client, b"\0alice\0secret").error_code == ErrorCode.ILLEGAL_SASL_STATE
    assert client.call(METADATA, 9, NO_TOPICS).brokers


@pytest.mark.parametrize("size", [524_289, 2**31 - 1, -1])
def test_frame_over_the_limit_before_authentication_closes(world: World, size: int) -> None:
    client = world.client()
    client.feed(pack(">i", size))
    assert client.closed and "524288" in client.closed


def test_frame_limit_after_authentication_is_that_of_requests(world: World) -> None:
    client = world.client()
    plain(client)
    world.cluster.topics.create("t", 1, 1, configs={"max.message.bytes": "10000000"})
    response = client.call(API_VERSIONS, 3, VERSIONS)
    assert not response.error_code
    request = produce_request("t", a_batch(bytes(600_000)))
    assert client.call(PRODUCE, 9, request).responses[0].partition_responses[0].error_code == 0


@pytest.mark.parametrize("size", [0, 1, 7, 100])
def test_bytes_that_are_no_request_close(world: World, size: int) -> None:
    client = world.client()
    client.feed(pack(">i", size) + b"\x60" * size)
    assert client.closed and not client.sent


def test_huge_array_before_authentication_takes_no_memory(world: World) -> None:
    client = world.client()
    body = pack(">hhih", API_VERSIONS.key, 3, 1, -1) + b"\0" + b"\xff\xff\xff\xff\x07"  # CVE-2022-34917
    client.feed(pack(">i", len(body)) + body)
    assert client.closed
    client = world.client()
    handshake(client)
    body = pack(">hhih", SASL_AUTHENTICATE.key, 2, 1, -1) + b"\0" + b"\xff\xff\xff\xff\x07"
    client.feed(pack(">i", len(body)) + body)
    assert client.closed


def test_frames_in_single_bytes_authenticate(world: World) -> None:
    client = world.client()
    frames = b"".join(encode_request(API_VERSIONS, 3, 1, "", VERSIONS))
    frames += b"".join(encode_request(SASL_HANDSHAKE, 1, 2, "", SASL_HANDSHAKE.request(mechanism="PLAIN")))
    frames += b"".join(encode_request(SASL_AUTHENTICATE, 2, 3, "", SaslAuthenticateRequest(auth_bytes=b"\0alice\0secret")))
    for byte in frames:
        client.feed(bytes([byte]))
    assert principal_of(client) == "User:alice"


def test_user_altered_at_run_time_authenticates_by_scram_only(world: World) -> None:
    client = world.client()
    plain(client)
    deletion = ScramCredentialDeletion(name="bob", mechanism=1)
    request = AlterUserScramCredentialsRequest(deletions=[deletion], upsertions=[])
    assert client.call(ALTER_USER_SCRAM_CREDENTIALS, 0, request).results[0].error_code == 0
    for mechanism, accepted in (("SCRAM-SHA-256", False), ("SCRAM-SHA-512", True)):
        response = scram(world.client(), mechanism, "bob", "hunter2")
        assert (response is not None and not response.error_code) == accepted


def test_no_log_entry_contains_a_password(world: World, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for password in ("secret", "wrong-pass"):
        plain(world.client(), password=password)
        scram(world.client(), "SCRAM-SHA-256", password=password)
        client = world.client()
        handshake(client, version=0)
        raw(client, f"\0alice\0{password}".encode())
    client = world.client()
    client.feed(pack(">i", 14) + b"\0alice\0secret\0")
    world.advance(DELAY_MS)
    assert caplog.text
    assert "secret" not in caplog.text and "wrong-pass" not in caplog.text


# Re-authentication

REAUTH_MS = 10_000


@pytest.fixture
def limited() -> World:
    return secured(**{"connections.max.reauth.ms": str(REAUTH_MS)})


def test_expired_session_is_closed_by_its_next_request(limited: World) -> None:
    client = limited.client()
    assert plain(client).session_lifetime_ms == REAUTH_MS
    limited.advance(REAUTH_MS)
    assert client.call(METADATA, 9, NO_TOPICS).brokers
    limited.advance(1)
    assert client.closed is None
    client.send(METADATA, 9, NO_TOPICS)
    assert (client.receive(), client.closed) == (None, "the session has expired, and the client has not authenticated again")


def test_client_that_authenticates_again_keeps_its_connection(limited: World) -> None:
    client = limited.client()
    for _ in range(5):
        assert scram(client, "SCRAM-SHA-256").session_lifetime_ms == REAUTH_MS
        limited.advance(REAUTH_MS - 1)
        assert client.call(METADATA, 9, NO_TOPICS).brokers
    assert principal_of(client) == "User:alice"


def test_requests_during_a_re_authentication_are_refused(limited: World) -> None:
    client = limited.client()
    plain(client)
    handshake(client)
    client.send(METADATA, 9, NO_TOPICS)
    limited.advance(DELAY_MS)
    assert client.closed and client.closed.startswith("Unexpected Kafka request of type METADATA")


def test_api_versions_during_a_re_authentication_is_refused(limited: World) -> None:
    client = limited.client()
    plain(client)
    handshake(client)
    client.send(API_VERSIONS, 3, VERSIONS)
    limited.advance(DELAY_MS)
    assert client.closed


def test_re_authentication_as_another_user_closes(limited: World) -> None:
    client = limited.client()
    plain(client)
    assert plain(client, "bob", "hunter2") is None
    limited.advance(DELAY_MS)
    response = client.receive()
    text = "Cannot change principals during re-authentication from User.alice: User.bob"
    assert (response.error_code, response.error_message) == (ErrorCode.SASL_AUTHENTICATION_FAILED, text)
    assert (bool(client.closed), principal_of(client)) == (True, "User:alice")


@pytest.mark.parametrize("max_ms", [0, REAUTH_MS])
def test_produce_shortcut_serves_sessions_that_do_not_expire(max_ms: int) -> None:
    world = secured(**{"connections.max.reauth.ms": str(max_ms)})
    client = world.client()
    plain(client)
    world.cluster.topics.create("t", 1, 1)
    client.call(PRODUCE, 9, produce_request("t", a_batch(b"v")))
    assert (client.connection._shortcut is None) == bool(max_ms)


def test_expired_session_is_closed_in_the_produce_shortcut(limited: World) -> None:
    client = limited.client()
    plain(client)
    limited.cluster.topics.create("t", 1, 1)
    for _ in range(3):
        assert not client.call(PRODUCE, 9, produce_request("t", a_batch(b"v"))).responses[0].partition_responses[0].error_code
    limited.advance(REAUTH_MS + 1)
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"v")))
    assert (client.receive(), bool(client.closed)) == (None, True)
    assert limited.cluster.topics["t"].partitions[0].log.end_offset == 3


def test_re_authentication_with_disabled_mechanism_closes(limited: World) -> None:
    client = limited.client()
    plain(client)
    client.send(SASL_HANDSHAKE, 1, SASL_HANDSHAKE.request(mechanism="GSSAPI"))
    assert (client.receive(), client.closed) == (None, "Unsupported SASL mechanism 'GSSAPI'")
