"""Asks the brokers of a cluster, over the wire, whether they answer.

Two tiny fixed frames are packed here by hand: a health check is a process of its own, every few seconds, and should not
load the protocol for that.
"""

from __future__ import annotations

import socket
from collections.abc import Mapping
from struct import Struct
from struct import error as StructError  # noqa: N812

from .settings.endpoints import EVERYWHERE, LOOPBACK, listening_endpoints, with_listeners_of_old_names
from .settings.environment import settings_of

METADATA, API_VERSIONS = 3, 18
TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1 << 24
REQUEST = Struct(">ihhih")  # size, api key, api version, correlation id, length of the client id
INT16, INT32 = Struct(">h"), Struct(">i")
CLIENT_ID = b"odradek-healthcheck"
REACHABLE = {"": LOOPBACK, EVERYWHERE: LOOPBACK, "::": "::1"}
"""Where a broker that listens on all interfaces is reached on its own machine."""


class Unhealthy(Exception):
    """A broker that does not answer as it should; the text says which and why."""


def check(host: str, port: int) -> None:
    """Asks host:port who the brokers are, and each of them for the versions it speaks. Raises Unhealthy."""
    where = f"{host}:{port}"
    brokers = _brokers(_ask(host, port, METADATA, 1, INT32.pack(0)), where)
    if not brokers:
        raise Unhealthy(f"{where} knows of no broker")
    for node_id, broker_host, broker_port in brokers:
        _check_answers(broker_host, broker_port, f"broker {node_id} at ")


def check_listeners(environ: Mapping[str, str]) -> None:
    """Asks each listener that the environment describes for the versions it speaks. Raises Unhealthy, and InvalidConfig.

    The advertised addresses are not asked, because those of a container may be reachable only from outside.
    """
    endpoints = listening_endpoints(with_listeners_of_old_names(settings_of(environ)))
    for endpoint in endpoints:
        _check_answers(REACHABLE.get(endpoint.host, endpoint.host), endpoint.port, f"listener {endpoint.name} at ")


def _check_answers(host: str, port: int, who: str) -> None:
    body = _ask(host, port, API_VERSIONS, 0, b"", who)
    error_code = INT16.unpack_from(body)[0] if len(body) >= INT16.size else None
    if error_code != 0:
        raise Unhealthy(f"{who}{host}:{port} answers ApiVersions with error {error_code}")


def _ask(host: str, port: int, api_key: int, api_version: int, body: bytes, who: str = "") -> bytes:
    size = REQUEST.size - INT32.size + len(CLIENT_ID) + len(body)
    try:
        with socket.create_connection((host, port), TIMEOUT_S) as connection:
            connection.sendall(REQUEST.pack(size, api_key, api_version, 0, len(CLIENT_ID)) + CLIENT_ID + body)
            response_size = INT32.unpack(_receive(connection, INT32.size))[0]
            if not INT32.size <= response_size <= MAX_RESPONSE_BYTES:
                raise Unhealthy(f"{who}{host}:{port} does not speak Kafka's protocol")
            return _receive(connection, response_size)[INT32.size :]
    except OSError as error:
        raise Unhealthy(f"{who}{host}:{port} does not answer: {error}") from None


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("it closed the connection")
        data += part
    return data


def _brokers(body: bytes, where: str) -> list[tuple[int, str, int]]:
    """(node id, host, port) of each broker in a Metadata v1 response."""
    brokers, position = [], INT32.size
    try:
        for _ in range(INT32.unpack_from(body)[0]):
            node_id, length = Struct(">ih").unpack_from(body, position)
            position += 6
            host, port, rack_length = Struct(f">{length}sih").unpack_from(body, position)
            position += length + 6 + max(rack_length, 0)
            brokers.append((node_id, host.decode(), port))
    except (StructError, UnicodeDecodeError):
        raise Unhealthy(f"{where} answers Metadata with bytes that make no sense") from None
    return brokers
