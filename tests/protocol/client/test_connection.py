"""Connections to a peer that sends scripted responses, which no real broker would send."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from odradek.protocol.client.connection import ClientConnection, ClientVersions
from odradek.protocol.client.line import Address
from odradek.protocol.errors import ErrorCode, KafkaError
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersion, ApiVersionsResponse
from odradek.protocol.messages.fetch import FETCH
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.schema import Api, ProtocolError

SERVES_METADATA = struct.pack(">hi3h", 0, 1, METADATA.key, 0, 1)


@contextmanager
def scripted(*bodies: bytes) -> Iterator[Address]:
    """A peer that responds to each request with the next of `bodies`, with the correlation id in place of CORR."""

    def serve() -> None:
        with suppress(OSError), closing(server.accept()[0]) as peer:
            for body in bodies:
                request = peer.recv(4096)
                peer.sendall(body.replace(b"CORR", request[8:12]))

    with closing(socket.create_server(("127.0.0.1", 0))) as server:
        thread = threading.Thread(target=serve)
        thread.start()
        yield server.getsockname()
        thread.join()


def response_frame(body: bytes) -> bytes:
    return struct.pack(">i", 4 + len(body)) + b"CORR" + body


def test_connection_uses_the_highest_common_version() -> None:
    with scripted(response_frame(SERVES_METADATA)) as address, closing(ClientConnection(address, "me", 1.0)) as connection:
        assert connection.version_of(METADATA) == 1
    for lowest, highest in [(14, 15), (0, -1)]:
        body = struct.pack(">hi3h", 0, 1, METADATA.key, lowest, highest)
        with (
            scripted(response_frame(body)) as address,
            closing(ClientConnection(address, "me", 1.0)) as old,
            pytest.raises(KafkaError, match="does not support Metadata"),
        ):
            old.version_of(METADATA)


def test_connection_error_of_api_versions_raises() -> None:
    with scripted(response_frame(struct.pack(">hi", 35, 0))) as address, pytest.raises(KafkaError, match="UNSUPPORTED_VERSION"):
        ClientConnection(address, "me", 1.0)


@pytest.mark.parametrize(
    ("bytes_", "error"),
    [
        (struct.pack(">i", -1), ProtocolError),
        (struct.pack(">i", 4) + b"oops", ProtocolError),
        (struct.pack(">i", 8) + b"CORR", ConnectionResetError),
        (response_frame(b"\0"), ProtocolError),
        (struct.pack(">i", 16) + b"oops" + bytes(12), ProtocolError),  # the response to another request
    ],
)
def test_connection_malformed_response_raises(bytes_: bytes, error: type[Exception]) -> None:
    with (
        scripted(response_frame(SERVES_METADATA), bytes_) as address,
        closing(ClientConnection(address, "me", 1.0)) as connection,
        pytest.raises(error),
    ):
        connection.call(METADATA, MetadataRequest(topics=None))


def served(api_key: int, lowest: int, highest: int) -> ApiVersionsResponse:
    return ApiVersionsResponse(api_keys=[ApiVersion(api_key=api_key, min_version=lowest, max_version=highest)])


def test_versions_before_the_response_are_those_of_every_broker() -> None:
    versions = ClientVersions()
    assert (versions.highest(API_VERSIONS, 0), versions.highest(METADATA, 0)) == (0, None)


@pytest.mark.parametrize(
    ("api", "lowest", "highest", "found"),
    [(FETCH, 0, 5, 5), (FETCH, 0, 99, 12), (FETCH, 0, 3, None), (FETCH, 13, 14, None), (METADATA, 0, 99, METADATA.versions.last)],
)
def test_highest_is_what_both_sides_support(api: Api, lowest: int, highest: int, found: int | None) -> None:
    versions = ClientVersions()
    versions.learn(served(api.key, lowest, highest))
    assert versions.highest(api, 4) == found


def test_learn_from_an_error_raises() -> None:
    with pytest.raises(KafkaError) as raised:
        ClientVersions().learn(ApiVersionsResponse(error_code=ErrorCode.UNSUPPORTED_VERSION, api_keys=[]))
    assert raised.value.code is ErrorCode.UNSUPPORTED_VERSION
