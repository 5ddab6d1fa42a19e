"""Checks over the network whether the brokers of a cluster answer.

The two requests, Metadata v1 and ApiVersions v0, are packed by hand. A container runtime starts a health check as a new process every few
seconds, and importing the protocol package would take longer than the check. Only a check of a secured cluster, which needs the messages of
SASL, imports it.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import TYPE_CHECKING, Any

from ..settings.endpoints import EVERYWHERE, LOOPBACK, listening_endpoints, with_listeners_of_old_names
from ..settings.environment import settings_of

if TYPE_CHECKING:
    from ...protocol.client_security.settings import ClientSecurity
    from ...protocol.schema import Api, Message

METADATA, API_VERSIONS = 3, 18
TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1 << 24
REQUEST = Struct(">ihhih")  # size, api key, api version, correlation id, length of the client id
INT16, INT32 = Struct(">h"), Struct(">i")
CLIENT_ID = b"odradek-healthcheck"
Secure = Callable[[socket.socket, str], AbstractContextManager[socket.socket]]
"""Returns a connection to a host after what makes it secure."""
REACHABLE = {"": LOOPBACK, EVERYWHERE: LOOPBACK, "::": "::1"}
"""The local address of a broker that listens on all interfaces, by its host."""


class Unhealthy(Exception):
    """Raised for a broker that does not answer correctly. The text contains the broker and the reason."""


class Refused(Exception):
    """Raised if the broker refuses the credentials."""


class NotKafka(Exception):
    """Raised for a response that is not one of Kafka's."""


def check(host: str, port: int, security: ClientSecurity | None = None) -> None:
    """Requests the list of brokers from host:port, and ApiVersions from each of them. Raises Unhealthy."""
    where, secure = f"{host}:{port}", partial(secured, security=security)
    brokers = _brokers(_request(host, port, METADATA, 1, INT32.pack(0), secure), where)
    if not brokers:
        raise Unhealthy(f"{where} returned an empty list of brokers")
    for node_id, broker_host, broker_port in brokers:
        _check_answers(broker_host, broker_port, f"broker {node_id} at ", secure)


def check_listeners(environ: Mapping[str, str], security: ClientSecurity | None = None) -> None:
    """Requests ApiVersions from each listener that the environment configures. Raises Unhealthy or InvalidConfig.

    Advertised addresses are not used, because those of a container may be reachable only from outside. Without `security`, a listener that
    uses TLS may have any certificate, because that of `--tls auto` is not known to a check in another process.
    """
    properties = with_listeners_of_old_names(settings_of(environ))
    endpoints = listening_endpoints(properties)
    encrypted = _listeners_with_tls([endpoint.name for endpoint in endpoints], properties) if security is None else set()
    for endpoint in endpoints:
        secure = tls_of_any_certificate if endpoint.name in encrypted else partial(secured, security=security)
        _check_answers(REACHABLE.get(endpoint.host, endpoint.host), endpoint.port, f"listener {endpoint.name} at ", secure)


def _listeners_with_tls(names: Sequence[str], properties: Mapping[str, str]) -> set[str]:
    """Returns those of the listeners that use TLS. Raises InvalidConfig."""
    if not any("SSL" in text.upper() for text in [*names, properties.get("listener.security.protocol.map", "")]):
        return set()
    from ..settings.listeners import TLS_PROTOCOLS, protocols_of  # imported only if needed, because a check should be fast

    return {name for name, protocol in protocols_of(names, properties).items() if protocol in TLS_PROTOCOLS}


def _check_answers(host: str, port: int, label: str, secure: Secure) -> None:
    body = _request(host, port, API_VERSIONS, 0, b"", secure, label)
    error_code = INT16.unpack_from(body)[0] if len(body) >= INT16.size else None
    if error_code != 0:
        raise Unhealthy(f"{label}{host}:{port} answered ApiVersions with error code {error_code}")


def _request(host: str, port: int, api_key: int, api_version: int, body: bytes, secure: Secure, label: str = "") -> bytes:
    """Returns the body of the response. Raises Unhealthy."""
    try:
        with socket.create_connection((host, port), TIMEOUT_S) as opened, secure(opened, host) as connection:
            size = REQUEST.size - INT32.size + len(CLIENT_ID) + len(body)
            connection.sendall(REQUEST.pack(size, api_key, api_version, 0, len(CLIENT_ID)) + CLIENT_ID + body)
            return _receive_frame(connection)[INT32.size :]
    except NotKafka:
        raise Unhealthy(f"{label}{host}:{port} does not use the Kafka protocol") from None
    except (OSError, Refused) as error:
        raise Unhealthy(f"{label}{host}:{port} does not answer: {error}") from None


@contextmanager
def tls_of_any_certificate(connection: socket.socket, host: str) -> Iterator[socket.socket]:
    """Provides the connection after a TLS handshake in which the certificate is not verified. Raises OSError."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with context.wrap_socket(connection, server_hostname=host) as encrypted:
        yield encrypted


@contextmanager
def secured(connection: socket.socket, host: str, security: ClientSecurity | None) -> Iterator[socket.socket]:
    """Provides the connection after the TLS handshake and the authentication that `security` requires. Raises OSError, Refused."""
    if security is None:
        yield connection
        return
    import secrets
    import time

    from ...protocol.client_security.login import authenticate
    from ...protocol.client_security.mechanisms import AuthenticationFailed
    from ...protocol.client_security.tls import tls_context

    if security.tls is not None:
        connection = tls_context(security.tls).wrap_socket(connection, server_hostname=host)
    with connection:
        if security.uses_sasl:
            try:
                authenticate(partial(_call, connection), security, secrets.token_hex(), time.time())
            except AuthenticationFailed as error:
                raise Refused(f"authentication failed: {error}") from None
        yield connection


def _call(connection: socket.socket, api: Api, request: Message) -> Any:
    """Sends a request of SASL in a version that brokers of each release serve, and returns its response."""
    from ...protocol.frame import decode_response, encode_request
    from ...protocol.messages.sasl_handshake import SASL_HANDSHAKE

    version = 1 if api is SASL_HANDSHAKE else 0
    connection.sendall(b"".join(encode_request(api, version, 0, CLIENT_ID.decode(), request)))
    return decode_response(api, version, memoryview(_receive_frame(connection)))[1]


def _receive_frame(connection: socket.socket) -> bytes:
    """Returns a response without its length. Raises OSError, NotKafka."""
    size = INT32.unpack(_receive(connection, INT32.size))[0]
    if not INT32.size <= size <= MAX_RESPONSE_BYTES:
        raise NotKafka
    return _receive(connection, size)


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
