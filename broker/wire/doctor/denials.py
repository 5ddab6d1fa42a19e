"""Requests that ACLs deny. Clients often show such an error late, or only in their log."""

from __future__ import annotations

from collections.abc import Iterable

from ...plurals import counted
from ..exchange import Exchange
from .finding import Finding, shown
from .history import Client, History

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


def denials(history: History) -> Iterable[Finding]:
    """Finds clients to which an ACL is missing, or whose requests one denies."""
    for client in history.clients:
        for (error, name), exchanges in _denied(client).items():
            principal, resource = exchanges[-1].principal, f"{_RESOURCES[error]} {name}".strip()
            apis = ", ".join(dict.fromkeys(exchange.api for exchange in exchanges))
            problem = f"{principal} may not use {resource}: {counted(len(exchanges), 'request')} ({apis}) failed with {error}"
            needed = " and ".join(dict.fromkeys(_OPERATIONS[exchange.api] for exchange in exchanges if exchange.api in _OPERATIONS))
            advice = f"add an ACL that allows {needed or 'the operation'} on {resource} to {principal}, or let the client use another user"
            settings = ("sasl.username", "sasl.jaas.config", "authorizer.class.name", "super.users")
            yield Finding("denied by an ACL", str(client), problem, advice, settings, shown(exchanges))


def _denied(client: Client) -> dict[tuple[str, str], list[Exchange]]:
    """Returns the denied requests by their error and the names that they contain."""
    found: dict[tuple[str, str], list[Exchange]] = {}
    for exchange, errors in client.failed:
        for error in _RESOURCES.keys() & set(errors):
            names = {"topic": exchange.topics, "group": exchange.groups}.get(_RESOURCES[error], ())
            found.setdefault((error, ", ".join(names)), []).append(exchange)
    return found
