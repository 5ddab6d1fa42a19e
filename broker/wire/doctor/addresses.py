"""Advertised addresses that a client cannot reach.

Such a client connects to a bootstrap server, gets the addresses of the nodes, and closes the connection in order to connect to those. No
connection arrives there, so that the client returns to the bootstrap server, again and again. librdkafka does so; Java's client and
kafka-python stay away, which looks like a program that has only asked for metadata, and is not reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import cast

from ....protocol.messages.metadata import MetadataResponse
from ..exchange import Exchange
from .finding import Finding, shown, span_s
from .history import Client, Connection, History, received_ms

FEWEST = 3
"""The number of such connections that makes a finding."""


def unreachable_addresses(history: History) -> Iterable[Finding]:
    """Finds clients that search for the nodes, and do no work."""
    for client in history.clients:
        searches = [each for each in client.connections if searches_nodes(each) and not history.excuses(*each.entries)]
        if len(searches) >= FEWEST and not any(connection.work for connection in client.connections):
            yield _finding(client, [exchange for connection in searches for exchange in _answers(connection)])


def searches_nodes(connection: Connection) -> bool:
    """Returns whether a client has closed a connection after it got the addresses of the nodes, with which it wanted to work."""
    wants = any(exchange.api == "FindCoordinator" or exchange.topics for exchange in connection.exchanges)
    gone = connection.closed is not None and not connection.ended_by_broker
    return wants and gone and not connection.work and bool(_answers(connection))


def _answers(connection: Connection) -> list[Exchange]:
    return [exchange for exchange in connection.exchanges if isinstance(exchange.partial_response, MetadataResponse)]


def _finding(client: Client, asked: Sequence[Exchange]) -> Finding:
    used = asked[-1]
    node = "" if used.node is None else f" of node {used.node}"
    problem = (
        f"{len(asked)} Metadata requests within {span_s(received_ms(asked[0]), received_ms(used))} through listener {used.listener}{node}, "
        f"and no connection to the addresses that it was given: {_addresses(used)}"
    )
    advice = "set advertised.listeners to addresses that the client can resolve and reach, for the listener that it uses"
    return Finding("unreachable advertised addresses", str(client), problem, advice, ("advertised.listeners", "listeners"), shown(asked))


def _addresses(exchange: Exchange) -> str:
    response = cast(MetadataResponse, exchange.partial_response)
    return ", ".join(f"node {broker.node_id} at {broker.host}:{broker.port}" for broker in response.brokers)
