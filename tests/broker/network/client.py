"""A client of one connection, for tests on sockets; the event loops on which a cluster can run."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from odradek.broker.network.driver import uvloop
from odradek.protocol.frame import decode_response, encode_request
from odradek.protocol.schema import Api, Message

LOOPS: list[Any] = [pytest.param("asyncio", id="asyncio")]
if uvloop is not None:
    LOOPS.append(pytest.param("uvloop", id="uvloop"))


def connect(address: str) -> socket.socket:
    host, port = address.rsplit(":", 1)
    return socket.create_connection((host, int(port)), 5)


def read_exactly(connection: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size:
        received = connection.recv(size - len(data))
        assert received, "the connection has ended"
        data += received
    return bytes(data)


def read(connection: socket.socket, api: Api, version: int) -> Any:
    size = int.from_bytes(read_exactly(connection, 4), "big")
    return decode_response(api, version, memoryview(read_exactly(connection, size)))[1]


def send(connection: socket.socket, api: Api, version: int, request: Message) -> None:
    connection.sendall(b"".join(encode_request(api, version, 1, "test", request)))


def ask(connection: socket.socket, api: Api, version: int, request: Message) -> Any:
    send(connection, api, version, request)
    return read(connection, api, version)


def ended(connection: socket.socket) -> bool:
    """Returns whether the broker closes the connection without a response."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True
