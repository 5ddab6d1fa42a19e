"""Checks over the network whether the brokers of a cluster answer.

The two requests, Metadata v1 and ApiVersions v0, are packed by hand. A container runtime starts a health check as a new process every few
seconds, and importing the protocol package would take longer than the check.
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
"""The local address of a broker that listens on all interfaces, by its host."""


class Unhealthy(Exception):
    """Raised for a broker that does not answer correctly. The text contains the broker and the reason."""


def check(host: str, port: int) -> None:
    """Requests the list of brokers from host:port, and ApiVersions from each of them. Raises Unhealthy."""
    where = f"{host}:{port}"
    brokers = _brokers(_request(host, port, METADATA, 1, INT32.pack(0)), where)
    if not brokers:
        raise Unhealthy(f"{where} returned an empty list of brokers")
    for node_id, broker_host, broker_port in brokers:
        _check_answers(broker_host, broker_port, f"broker {node_id} at ")


def check_listeners(environ: Mapping[str, str]) -> None:
    """Requests ApiVersions from each listener that the environment configures. Raises Unhealthy or InvalidConfig.

    Advertised addresses are not used, because those of a container may be reachable only from outside.
    """
    endpoints = listening_endpoints(with_listeners_of_old_names(settings_of(environ)))
    for endpoint in endpoints:
        _check_answers(REACHABLE.get(endpoint.host, endpoint.host), endpoint.port, f"listener {endpoint.name} at ")


def _check_answers(host: str, port: int, label: str) -> None:
    body = _request(host, port, API_VERSIONS, 0, b"", label)
    error_code = INT16.unpack_from(body)[0] if len(body) >= INT16.size else None
    if error_code != 0:
        raise Unhealthy(f"{label}{host}:{port} answered ApiVersions with error code {error_code}")


def _request(host: str, port: int, api_key: int, api_version: int, body: bytes, label: str = "") -> bytes:
    size = REQUEST.size - INT32.size + len(CLIENT_ID) + len(body)
    try:
        with socket.create_connection((host, port), TIMEOUT_S) as connection:
            connection.sendall(REQUEST.pack(size, api_key, api_version, 0, len(CLIENT_ID)) + CLIENT_ID + body)
            response_size = INT32.unpack(_receive(connection, INT32.size))[0]
            if not INT32.size <= response_size <= MAX_RESPONSE_BYTES:
                raise Unhealthy(f"{label}{host}:{port} does not use the Kafka protocol")
            return _receive(connection, response_size)[INT32.size :]
    except OSError as error:
        raise Unhealthy(f"{label}{host}:{port} does not answer: {error}") from None


def _receive(connection: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        part = connection.recv(size - len(data))
        if not part:
            raise ConnectionError("the connection was closed")
        data += part
    return data


def _brokers(body: bytes, where: str) -> list[tuple[int, str, int]]:
    """Returns (node id, host, port) of each broker in a Metadata v1 response. Raises Unhealthy."""
    brokers, position = [], INT32.size
    try:
        for _ in range(INT32.unpack_from(body)[0]):
            node_id, length = Struct(">ih").unpack_from(body, position)
            position += 6
            host, port, rack_length = Struct(f">{length}sih").unpack_from(body, position)
            position += length + 6 + max(rack_length, 0)
            brokers.append((node_id, host.decode(), port))
    except (StructError, UnicodeDecodeError):
        raise Unhealthy(f"{where} returned a malformed Metadata response") from None
    return brokers
