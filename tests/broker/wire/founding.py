"""The scenarios of the posts that this project started from, each as a function that writes a capture of it.

Each scenario ends a connection in another way: `acks_0_above_the_limit`, `idle`, `request_above_the_limit` and `silent_firewall`.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from odradek import Cluster
from odradek.protocol.frame import encode_request
from odradek.protocol.messages.api_versions import API_VERSIONS, ApiVersionsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from odradek.protocol.messages.produce import PRODUCE
from odradek.protocol.schema import Api, Message
from tests.broker.harness import a_batch, produce_request
from tests.broker.network.client import connect, read

IDLE_MS = 600_000
TIMEOUT_S = 30
Scenario = Callable[..., None]


def ended(connection: socket.socket) -> str:
    """Waits for the end of a connection and returns how the client sees it."""
    connection.settimeout(TIMEOUT_S)
    try:
        return "FIN" if connection.recv(1) == b"" else "data"
    except ConnectionResetError:
        return "RST"


class Client:
    """A client that numbers its requests, as real ones do."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._correlation_id = 0

    def send(self, api: Api, version: int, request: Message) -> None:
        self._correlation_id += 1
        self._connection.sendall(b"".join(encode_request(api, version, self._correlation_id, "founding", request)))

    def greet(self) -> None:
        """Sends the requests with which a client begins."""
        self.send(API_VERSIONS, 3, ApiVersionsRequest(client_software_name="founding", client_software_version="1"))
        read(self._connection, API_VERSIONS, 3)
        self.send(METADATA, 9, MetadataRequest(topics=None))
        read(self._connection, METADATA, 9)


def acks_0_above_the_limit(capture: Path, **options: Any) -> None:
    """A producer with acks=0 sends a batch that is larger than message.max.bytes. The broker cannot answer, and closes the connection."""
    cluster = Cluster(nodes=1, topics={"orders": 1}, settings={"message.max.bytes": 1000}, capture=capture, **options)
    with cluster, connect(cluster.bootstrap_servers) as client:
        requests = Client(client)
        requests.greet()
        requests.send(PRODUCE, 7, produce_request("orders", a_batch(bytes(5000)), acks=0))
        assert ended(client) == "FIN"


def idle(capture: Path, **options: Any) -> None:
    """A client sends nothing for connections.max.idle.ms. The broker closes the connection."""
    with Cluster(nodes=1, capture=capture, **options) as cluster, connect(cluster.bootstrap_servers) as client:
        Client(client).greet()
        cluster.clock.advance(IDLE_MS / 1000)
        assert ended(client) == "FIN"


def request_above_the_limit(capture: Path, **options: Any) -> None:
    """A client announces a request that is larger than socket.request.max.bytes. The broker does not read it, and resets the connection."""
    cluster = Cluster(nodes=1, topics={"orders": 1}, settings={"socket.request.max.bytes": 10_000}, capture=capture, **options)
    with cluster, connect(cluster.bootstrap_servers) as client:
        requests = Client(client)
        requests.greet()
        requests.send(PRODUCE, 7, produce_request("orders", a_batch(bytes(20_000))))
        assert ended(client) in ("FIN", "RST")
        cluster.wait_until(lambda: not cluster.connections())  # RST follows if the client is still open then


def silent_firewall(capture: Path, **options: Any) -> None:
    """A firewall between client and broker begins to drop packets. The connection is half-open until connections.max.idle.ms has passed."""
    cluster = Cluster(nodes=1, capture=capture, **options)
    with cluster, firewall(cluster.bootstrap_servers) as (address, drop), connect(address) as client:
        requests = Client(client)
        requests.greet()
        drop()
        requests.send(METADATA, 9, MetadataRequest(topics=None))
        client.settimeout(0)
        cluster.clock.advance(IDLE_MS / 1000)
        with_nothing_received(client)


def with_nothing_received(client: socket.socket) -> None:
    try:
        raise AssertionError(f"the firewall has let {client.recv(1)!r} through")
    except BlockingIOError:
        pass


@contextmanager
def firewall(server: str) -> Iterator[tuple[str, Callable[[], None]]]:
    """Provides the address of a relay to a server, and a function after which the relay drops everything without closing connections."""
    dropping, over = threading.Event(), threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        host, port = listener.getsockname()
        relay = threading.Thread(target=_relay, args=(listener, server, dropping, over))
        relay.start()
        try:
            yield f"{host}:{port}", dropping.set
        finally:
            over.set()
            relay.join(TIMEOUT_S)


def _relay(listener: socket.socket, server: str, dropping: threading.Event, over: threading.Event) -> None:
    """Passes on the bytes of one connection in both directions. The connection to the client stays open until the scenario is over."""
    client, _ = listener.accept()
    with client, connect(server) as broker:
        broker.settimeout(TIMEOUT_S)
        to_broker = threading.Thread(target=_pass_on, args=(client, broker, dropping))
        to_broker.start()
        _pass_on(broker, client, dropping)
        over.wait(TIMEOUT_S)
        client.shutdown(socket.SHUT_RD)
        to_broker.join(TIMEOUT_S)


def _pass_on(source: socket.socket, target: socket.socket, dropping: threading.Event) -> None:
    while data := source.recv(65536):
        if not dropping.is_set():
            target.sendall(data)


SCENARIOS: dict[str, Scenario] = {
    "message.max.bytes": acks_0_above_the_limit,
    "connections.max.idle.ms": idle,
    "socket.request.max.bytes": request_above_the_limit,
    "connections.max.idle.ms behind a firewall": silent_firewall,
}
"""The scenarios by the setting that ends the connection."""
