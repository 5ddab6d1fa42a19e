"""Advertised addresses that a client cannot reach: it finds the cluster, and no connection to the addresses of its nodes arrives."""

from __future__ import annotations

from collections.abc import Iterable

from ....protocol.messages.metadata import MetadataResponse
from ..exchange import Exchange
from .finding import Finding, shown, span_s
from .history import Client, History, received_ms

FEWEST_REQUESTS, LONG_MS = 3, 1_000.0
"""A client that asks for metadata this often, over this time, and does nothing else is searching for the nodes."""


def unreachable_addresses(history: History) -> Iterable[Finding]:
    """Finds clients that only ask for metadata, on the connection by which they found the cluster."""
    for client in history.clients:
        asked = [exchange for exchange in client.of("Metadata") if isinstance(exchange.partial_response, MetadataResponse)]
        if len(asked) < FEWEST_REQUESTS or received_ms(asked[-1]) - received_ms(asked[0]) < LONG_MS or _has_worked(client):
            continue
        if len({exchange.connection for exchange in asked}) == 1 and not any(exchange.errors for exchange in asked):
            yield _finding(client, asked)


def _has_worked(client: Client) -> bool:
    return any(connection.work for connection in client.connections)


def _finding(client: Client, asked: list[Exchange]) -> Finding:
    used = asked[-1]
    problem = (
        f"{len(asked)} Metadata requests within {span_s(received_ms(asked[0]), received_ms(asked[-1]))} through listener {used.listener}"
        f"{'' if used.node is None else f' of node {used.node}'}, and no request to the addresses that it was given: {_addresses(used)}"
    )
    advice = "set advertised.listeners to addresses that the client can resolve and reach, for the listener that it uses"
    return Finding("unreachable advertised addresses", str(client), problem, advice, ("advertised.listeners", "listeners"), shown(asked))


def _addresses(exchange: Exchange) -> str:
    response = exchange.partial_response
    assert isinstance(response, MetadataResponse)
    return ", ".join(f"node {broker.node_id} at {broker.host}:{broker.port}" for broker in response.brokers)
