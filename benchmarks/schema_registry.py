"""The schema registry: rates of registering schemas and of getting them by id, and the memory for 10,000 subjects.

The requests are sent over plain sockets with one in flight on each connection, because an HTTP client would take longer than the registry.
"""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from .brokers import ODRADEK, Broker, free_port, odradek, start_process
from .rows import Figures, Measure, Row, Target

SUBJECTS, WARM_UP = 10_000, 20
CONNECTIONS = 16
TIMEOUT_S = 30
MEDIA_TYPE = "application/vnd.schemaregistry.v1+json"
FIELDS = [
    {"name": "id", "type": "long"},
    {"name": "customer", "type": "string"},
    {"name": "amount", "type": {"type": "bytes", "logicalType": "decimal", "precision": 12, "scale": 2}},
    {"name": "note", "type": ["null", "string"], "default": None},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
]


class Refused(Exception):
    """The registry has refused a request, or closed the connection."""


def registration(number: int) -> bytes:
    """Returns the request to register a schema that no other number has, for a subject of its own."""
    schema = {"type": "record", "name": f"Order{number}", "namespace": "shop", "fields": FIELDS}
    return _request("POST", f"/subjects/orders-{number}-value/versions", json.dumps({"schema": json.dumps(schema)}).encode())


def reading(schema_id: int) -> bytes:
    """Returns the request for the schema with an id."""
    return _request("GET", f"/schemas/ids/{schema_id}", b"")


def _request(method: str, path: str, body: bytes) -> bytes:
    content = [f"Content-Type: {MEDIA_TYPE}", f"Content-Length: {len(body)}"] if body else []
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Accept: {MEDIA_TYPE}", *content]
    return "\r\n".join([*lines, "", ""]).encode() + body


class Connections:
    """Connections to a registry on 127.0.0.1. A context manager."""

    def __init__(self, port: int) -> None:
        self._open = ExitStack()
        self._sockets = [self._open.enter_context(_connected(port)) for _ in range(CONNECTIONS)]

    def __enter__(self) -> Connections:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def run(self, requests: Sequence[bytes]) -> float:
        """Sends requests, each as soon as a connection is free. Returns their number in a second. Raises Refused."""
        began, count = time.perf_counter(), len(self._sockets)
        for number, request in enumerate(requests):
            connection = self._sockets[number % count]
            if number >= count:
                _receive(connection)
            connection.sendall(request)
        for connection in self._sockets[: len(requests)]:
            _receive(connection)
        return len(requests) / (time.perf_counter() - began)


def _connected(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), TIMEOUT_S)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _receive(connection: socket.socket) -> None:
    """Receives a response. Raises Refused if it is an error."""
    response = b""
    while (end := response.find(b"\r\n\r\n")) < 0 or len(response) < end + 4 + _length(response[:end]):
        received = connection.recv(65536)
        if not received:
            raise Refused("the registry has closed the connection")
        response += received
    if not response.startswith(b"HTTP/1.1 200 "):
        raise Refused(response[end + 4 :].decode())


def _length(head: bytes) -> int:
    return int(head.lower().partition(b"\r\ncontent-length:")[2].partition(b"\r\n")[0])


def registry(broker: Broker) -> Figures:
    """Measures a registry whose subjects have one schema each. The other brokers have none, or another process has it."""
    if broker.name != ODRADEK:
        return {}
    port = free_port()
    command = [str(Path(sys.executable).with_name("odradek")), "serve", "--nodes", "1", "--port", "0"]
    with start_process(ODRADEK, [*command, "--schema-registry", f"127.0.0.1:{port}"], odradek) as served, Connections(port) as connections:
        connections.run([registration(number) for number in range(WARM_UP)])
        before = served.resident_bytes()
        registered = connections.run([registration(WARM_UP + number) for number in range(SUBJECTS)])
        memory = served.resident_bytes() - before
        read = connections.run([reading(1 + number) for number in range(SUBJECTS)])
    return {
        "schema registry: register": registered,
        "schema registry: get by id": read,
        "schema registry: memory for 10,000 subjects": memory / 2**20,
    }


MEASURES = (
    Measure(
        (
            Row("schema registry: register", "1/s", (Target(2000, at_least=True),)),
            Row("schema registry: get by id", "1/s", (Target(5000, at_least=True),)),
            Row("schema registry: memory for 10,000 subjects", "MiB", (Target(60),)),
        ),
        registry,
    ),
)
