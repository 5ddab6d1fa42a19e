"""Security settings that do not fit: clients that do not speak the protocol of their listener, certificates that TLS does not trust, and
requests that ACLs deny. Clients often show such an error late, or only in their log.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...plurals import counted
from ..exchange import Exchange
from .finding import Finding, evidence
from .history import ClientHistory, ConnectionHistory, WireHistory

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


def is_misunderstood(connection: ConnectionHistory) -> bool:
    """Returns whether a connection ended because its client spoke another protocol, or because its TLS handshake failed."""
    return bool(_cause(connection))


def _cause(connection: ConnectionHistory) -> str:
    if connection.handshake is not None:
        return connection.handshake.text
    return connection.reason if connection.ended_by_broker and connection.reason.startswith(_LOOKS_LIKE) else ""


def failed_handshakes(history: WireHistory) -> Iterable[Finding]:
    """Finds clients with other security settings than the listener has."""
    for client in history.clients:
        for cause, connections in _by_cause(client).items():
            advice, settings = next((cure for begin, cure in _CURES.items() if cause.startswith(begin)), _CERTIFICATE)
            problem = f"{counted(len(connections), 'connection')} ended before any request was served: {cause}"
            entries = [entry for connection in connections for entry in connection.entries]
            yield Finding("a connection that is not understood", str(client), problem, advice, settings, evidence(entries))


def _by_cause(client: ClientHistory) -> dict[str, list[ConnectionHistory]]:
    """Returns the connections that were not understood by their causes, without the sizes of frames that were none."""
    found: dict[str, list[ConnectionHistory]] = {}
    for connection in client.connections:
        if cause := _cause(connection).partition(": a frame of")[0]:
            found.setdefault(cause, []).append(connection)
    return found


_RESOURCES = {
    "TOPIC_AUTHORIZATION_FAILED": "topic",
    "GROUP_AUTHORIZATION_FAILED": "group",
    "TRANSACTIONAL_ID_AUTHORIZATION_FAILED": "transactional id",
    "CLUSTER_AUTHORIZATION_FAILED": "cluster",
    "DELEGATION_TOKEN_AUTHORIZATION_FAILED": "delegation token",
}
_OPERATIONS = {
    "AddOffsetsToTxn": "READ",
    "AddPartitionsToTxn": "WRITE",
    "AlterConfigs": "ALTER_CONFIGS",
    "CreateTopics": "CREATE",
    "DeleteGroups": "DELETE",
    "DeleteRecords": "DELETE",
    "DeleteTopics": "DELETE",
    "Fetch": "READ",
    "IncrementalAlterConfigs": "ALTER_CONFIGS",
    "InitProducerId": "WRITE",
    "JoinGroup": "READ",
    "ListOffsets": "DESCRIBE",
    "Metadata": "DESCRIBE",
    "OffsetCommit": "READ",
    "OffsetFetch": "DESCRIBE",
    "Produce": "WRITE",
    "SyncGroup": "READ",
    "TxnOffsetCommit": "READ",
}
"""The operations that requests need on the resources that they name."""


def denials(history: WireHistory) -> Iterable[Finding]:
    """Finds clients to which an ACL is missing, or whose requests one denies."""
    for client in history.clients:
        for (error, name), exchanges in _denied_requests(client).items():
            principal, resource = exchanges[-1].principal, f"{_RESOURCES[error]} {name}".strip()
            apis = ", ".join(dict.fromkeys(exchange.api for exchange in exchanges))
            problem = f"{principal} may not use {resource}: {counted(len(exchanges), 'request')} ({apis}) failed with {error}"
            needed = " and ".join(dict.fromkeys(_OPERATIONS[exchange.api] for exchange in exchanges if exchange.api in _OPERATIONS))
            advice = f"add an ACL that allows {needed or 'the operation'} on {resource} to {principal}, or let the client use another user"
            settings = ("sasl.username", "sasl.jaas.config", "authorizer.class.name", "super.users")
            yield Finding("denied by an ACL", str(client), problem, advice, settings, evidence(exchanges))


def _denied_requests(client: ClientHistory) -> dict[tuple[str, str], list[Exchange]]:
    """Returns the denied requests by their error and the names that they contain."""
    found: dict[tuple[str, str], list[Exchange]] = {}
    for exchange, errors in client.failures:
        for error in _RESOURCES.keys() & set(errors):
            names = {"topic": exchange.topics, "group": exchange.groups}.get(_RESOURCES[error], ())
            found.setdefault((error, ", ".join(names)), []).append(exchange)
    return found
