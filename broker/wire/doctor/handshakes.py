"""Connections that ended because client and listener do not speak the same protocol, or because TLS does not trust a certificate."""

from __future__ import annotations

from collections.abc import Iterable

from .finding import Finding, shown
from .history import Client, Connection, History

_LOOKS_LIKE = "this looks like"
_CURES = {
    "this looks like plaintext": (
        "set security.protocol of the client to that of the listener, SSL or SASL_SSL",
        ("security.protocol", "listener.security.protocol.map"),
    ),
    "this looks like TLS": (
        "set security.protocol of the client to that of the listener, PLAINTEXT or SASL_PLAINTEXT, or use a TLS listener",
        ("security.protocol", "listener.security.protocol.map"),
    ),
    "this looks like HTTP": (
        "connect to a Kafka listener with a Kafka client only; the control listener answers HTTP",
        ("bootstrap.servers",),
    ),
    "the client has shown no certificate": (
        "give the client a certificate and its key, or do not demand one with ssl.client.auth",
        ("ssl.certificate.location", "ssl.keystore.location", "ssl.client.auth"),
    ),
    "the client's certificate": (
        "use a client certificate that an authority in the broker's trust store has signed",
        ("ssl.truststore.location", "ssl.keystore.location", "ssl.certificate.location"),
    ),
    "the client offers no": (
        "let client and broker have a version of TLS and a cipher suite in common",
        ("ssl.enabled.protocols", "ssl.protocol", "ssl.cipher.suites"),
    ),
}
_CERTIFICATE = (
    "give the client the authority (CA) that has signed the broker's certificate, and connect to a host name that it contains; "
    "of --tls auto and tls=True, that is cluster.tls.ca_file",
    ("ssl.ca.location", "ssl.truststore.location", "ssl.endpoint.identification.algorithm"),
)
"""The cure for all other reasons: they are alerts by which a client refuses the broker's certificate."""


def is_misunderstood(connection: Connection) -> bool:
    """Returns whether a connection ended because its client spoke another protocol, or because its TLS handshake failed."""
    return bool(_cause(connection))


def _cause(connection: Connection) -> str:
    if connection.handshake is not None:
        return connection.handshake.text
    return connection.reason if connection.ended_by_broker and connection.reason.startswith(_LOOKS_LIKE) else ""


def failed_handshakes(history: History) -> Iterable[Finding]:
    """Finds clients with other security settings than the listener has."""
    for client in history.clients:
        for cause, connections in _by_cause(client).items():
            advice, settings = next((cure for begin, cure in _CURES.items() if cause.startswith(begin)), _CERTIFICATE)
            problem = f"{len(connections)} connection{'s' * (len(connections) != 1)} ended before any request was served: {cause}"
            entries = [entry for connection in connections for entry in connection.entries]
            yield Finding("a connection that is not understood", str(client), problem, advice, settings, shown(entries))


def _by_cause(client: Client) -> dict[str, list[Connection]]:
    """Returns the connections that were not understood by their causes, without the sizes of frames that were none."""
    found: dict[str, list[Connection]] = {}
    for connection in client.connections:
        if cause := _cause(connection).partition(": a frame of")[0]:
            found.setdefault(cause, []).append(connection)
    return found
