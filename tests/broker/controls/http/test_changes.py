"""The stream of changes, and streams in general: clients that go or do not read, and errors."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncGenerator, Iterator

import pytest

from odradek import Cluster
from odradek.broker.controls.cluster_controls import ClusterControls
from odradek.broker.controls.http import connection as control_connection
from odradek.broker.controls.http import listener as control_listener
from odradek.broker.controls.http.listener import CHANGE, CHANGES_PATH, KEEP_ALIVE
from odradek.broker.controls.http.requests import Request
from odradek.broker.controls.http.routes import Stream
from tests.broker.controls.http.http_requests import ask, connected, get


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}, control="127.0.0.1:0") as running:
        yield running


def address_of(cluster: Cluster) -> str:
    assert cluster.control is not None
    return cluster.control


def opened(address: str, path: str = CHANGES_PATH) -> socket.socket:
    client = connected(address)
    client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
    return client


def read_until(client: socket.socket, wanted: bytes) -> bytes:
    received = b""
    while wanted not in received:
        data = client.recv(65536)
        assert data, f"the connection ended after {received[-200:]!r}"
        received += data
    return received


def serve(cluster: Cluster, path: str, stream: Stream) -> None:
    """Adds a stream to the listener of a cluster."""
    listener = cluster._embedded._listener
    assert listener is not None
    listener.resources[path] = stream


def test_change_stream_begins_with_an_event_and_reports_changes(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_listener, "PAUSE_S", 0)
    with opened(address_of(cluster)) as client:
        head = read_until(client, CHANGE)
        assert b"HTTP/1.1 200 OK\r\n" in head
        assert b"\r\nContent-Type: text/event-stream\r\n" in head
        assert b"\r\nCache-Control: no-store\r\n" in head
        assert b"Content-Length" not in head
        for _ in range(3):
            cluster.produce("orders", ["value"])
            read_until(client, CHANGE)


def test_change_stream_without_changes_keeps_the_connection(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(control_listener, "PAUSE_S", 0)
    monkeypatch.setattr(control_listener, "KEEP_ALIVE_S", 0.01)
    with opened(address_of(cluster)) as client:
        read_until(client, KEEP_ALIVE * 3)
        cluster.produce("orders", ["value"])
        read_until(client, CHANGE)


def test_change_stream_needs_the_token_and_the_own_origin() -> None:
    with Cluster(nodes=1, control="127.0.0.1:0", control_token="s3cret") as cluster:
        assert ask(address_of(cluster), "GET", CHANGES_PATH).status == 401
        assert ask(address_of(cluster), "GET", CHANGES_PATH, Authorization="Bearer s3cret", Origin="http://evil.example").status == 403
        assert ask(address_of(cluster), "POST", CHANGES_PATH, Authorization="Bearer s3cret").status == 405


def test_head_of_a_stream_ends_at_once(cluster: Cluster) -> None:
    with connected(address_of(cluster)) as client:
        client.sendall(f"HEAD {CHANGES_PATH} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        received = b""
        while data := client.recv(65536):
            received += data
    assert received.startswith(b"HTTP/1.1 200 OK\r\n")
    assert received.endswith(b"\r\n\r\n")


def test_client_that_closes_ends_its_stream(cluster: Cluster) -> None:
    closed = threading.Event()

    async def waiting(request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
        try:
            yield CHANGE
            await asyncio.Event().wait()
        finally:
            closed.set()

    serve(cluster, "/waiting", Stream("text/event-stream", waiting))
    with opened(address_of(cluster), "/waiting") as client:
        read_until(client, CHANGE)
        assert not closed.is_set()
    assert closed.wait(10)


def test_client_that_does_not_read_stops_its_stream(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    """The stream is not asked for events that nobody reads, and the connection ends after the time for a request."""
    monkeypatch.setattr(control_connection, "REQUEST_S", 0.2)
    ended = threading.Event()
    produced = 0

    async def endless(request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
        nonlocal produced
        try:
            while True:
                produced += 1
                yield b"data: " + b"x" * 65536 + b"\n\n"
        finally:
            ended.set()

    serve(cluster, "/endless", Stream("text/event-stream", endless))
    with opened(address_of(cluster), "/endless"):
        assert ended.wait(20)
        assert produced < 500  # the buffers of both sockets, not more
        assert get(address_of(cluster), "/clock/show").status == 200


def test_error_of_a_stream_is_logged_and_ends_it(cluster: Cluster, caplog: pytest.LogCaptureFixture) -> None:
    async def failing(request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
        yield CHANGE
        raise KeyError("broken")

    serve(cluster, "/failing", Stream("text/event-stream", failing))
    with opened(address_of(cluster), "/failing") as client:
        received = read_until(client, CHANGE)
        while data := client.recv(65536):
            received += data
    assert received.endswith(CHANGE)
    assert "an internal error in GET /failing" in caplog.text
