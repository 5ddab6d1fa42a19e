"""Checks over the network whether the brokers of a cluster answer.

The two requests, Metadata v1 and ApiVersions v0, are packed by hand. A container runtime starts a health check as a new process every few
seconds, and importing messages and codecs would take longer than the check. Only a check of a secured cluster, which needs the messages of
SASL, imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from struct import Struct
from struct import error as StructError  # noqa: N812
from typing import TYPE_CHECKING

from ...protocol.client.line import Address, Line, LoginFailed, NotKafka, open_line
from ..settings.endpoints import EVERYWHERE, LOOPBACK, listening_endpoints, with_listeners_of_old_names
from ..settings.properties import settings_of

if TYPE_CHECKING:
    from ...protocol.client.settings import ClientSecurity

METADATA, API_VERSIONS = 3, 18
TIMEOUT_S = 5.0
MAX_RESPONSE_BYTES = 1 << 24
REQUEST = Struct(">ihhih")  # size, api key, api version, correlation id, length of the client id
INT16, INT32 = Struct(">h"), Struct(">i")
CLIENT_ID = "odradek-healthcheck"
OpenLine = Callable[[Address], Line]
"""Opens a line to an address."""
REACHABLE = {"": LOOPBACK, EVERYWHERE: LOOPBACK, "::": "::1"}
"""The local address of a broker that listens on all interfaces, by its host."""


class Unhealthy(Exception):
    """Raised for a broker that does not answer correctly. The text contains the broker and the reason."""


def check(host: str, port: int, security: ClientSecurity | None = None) -> None:
    """Requests the list of brokers from host:port, and ApiVersions from each of them. Raises Unhealthy."""
    where, open_secure = f"{host}:{port}", _secure(security)
    brokers = _brokers(_request(host, port, METADATA, 1, INT32.pack(0), open_secure), where)
    if not brokers:
        raise Unhealthy(f"{where} returned an empty list of brokers")
    for node_id, broker_host, broker_port in brokers:
        _check_answers(broker_host, broker_port, f"broker {node_id} at ", open_secure)


def check_listeners(environ: Mapping[str, str], security: ClientSecurity | None = None) -> None:
    """Requests ApiVersions from each listener that the environment configures. Raises Unhealthy or InvalidConfig.

    Advertised addresses are not used, because those of a container may be reachable only from outside. Without `security`, a listener that
    uses TLS may have any certificate, because that of `--tls auto` is not known to a check in another process.
    """
    properties = with_listeners_of_old_names(settings_of(environ))
    endpoints = listening_endpoints(properties)
    encrypted = _listeners_with_tls([endpoint.name for endpoint in endpoints], properties) if security is None else set()
    for endpoint in endpoints:
        open_any = _line_with_any_certificate if endpoint.name in encrypted else _secure(security)
        _check_answers(REACHABLE.get(endpoint.host, endpoint.host), endpoint.port, f"listener {endpoint.name} at ", open_any)


def _listeners_with_tls(names: Sequence[str], properties: Mapping[str, str]) -> set[str]:
    """Returns those of the listeners that use TLS. Raises InvalidConfig."""
    if not any("SSL" in text.upper() for text in [*names, properties.get("listener.security.protocol.map", "")]):
        return set()
    from ..settings.listeners import TLS_PROTOCOLS, protocols_of

    return {name for name, protocol in protocols_of(names, properties).items() if protocol in TLS_PROTOCOLS}


def _check_answers(host: str, port: int, label: str, open_line: OpenLine) -> None:
    body = _request(host, port, API_VERSIONS, 0, b"", open_line, label)
    error_code = INT16.unpack_from(body)[0] if len(body) >= INT16.size else None
    if error_code != 0:
        raise Unhealthy(f"{label}{host}:{port} answered ApiVersions with error code {error_code}")


def _request(host: str, port: int, api_key: int, api_version: int, body: bytes, open_line: OpenLine, label: str = "") -> bytes:
    """Returns the body of the response. Raises Unhealthy."""
    try:
        with closing(open_line((host, port))) as line:
            size = REQUEST.size - INT32.size + len(CLIENT_ID) + len(body)
            line.send(REQUEST.pack(size, api_key, api_version, 0, len(CLIENT_ID)) + CLIENT_ID.encode() + body)
            return bytes(line.receive(MAX_RESPONSE_BYTES))[INT32.size :]
    except NotKafka:
        raise Unhealthy(f"{label}{host}:{port} does not use the Kafka protocol") from None
    except LoginFailed as error:
        raise Unhealthy(f"{label}{host}:{port} does not answer: authentication failed: {error}") from None
    except OSError as error:
        raise Unhealthy(f"{label}{host}:{port} does not answer: {error}") from None


def _secure(security: ClientSecurity | None) -> OpenLine:
    return partial(open_line, client_id=CLIENT_ID, timeout_s=TIMEOUT_S, security=security)


def _line_with_any_certificate(address: Address) -> Line:
    """Returns a line after a TLS handshake in which the certificate is not verified. Raises OSError."""
    import ssl

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return Line(address, TIMEOUT_S, context)


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
