"""The lifelines of a sequence diagram: which client and which node an entry belongs to.

A lifeline of a client stands for all its connections. Connections belong to the same client if they have the same client id, software and
host, because the protocol says no more. Programs on one host that do not set `client.id` therefore share a lifeline.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ....protocol.messages.api_versions import ApiVersionsRequest
from ..exchange import Entry, Exchange
from ..labels import shorten

MAX_NAME_LENGTH = 48
_LIBRDKAFKA = re.compile(r"-(?:lib)?rdkafka-(\d+(?:\.\d+)+)")
"""How libraries built on librdkafka name it: "confluent-kafka-python 2.16.1-rdkafka-2.16.0"."""


@dataclass(frozen=True, slots=True)
class Lifeline:
    """A client or a node. The detail of a client is its software, that of a node is empty."""

    name: str
    detail: str
    is_node: bool


class Lifelines:
    """The lifelines of some entries: clients in the order in which they appear, then nodes by their ids."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._clients: dict[int, tuple[str, str, str]] = {}
        """The client of each connection: its name, its software and its host."""
        nodes: dict[Hashable, str] = {}
        for entry in entries:
            if isinstance(entry, Exchange):
                self._note_client(entry)
                nodes[_node_key(entry)] = _node_name(entry)
            elif entry.node is not None:
                nodes[entry.node] = f"node {entry.node}"
        clients = list(dict.fromkeys(self._clients.values()))
        in_order = sorted(nodes, key=lambda key: (isinstance(key, str), key))
        self.all = [
            Lifeline(shorten(name, MAX_NAME_LENGTH), shorten(short_software(software), MAX_NAME_LENGTH), False)
            for name, software, _ in clients
        ]
        self._client_numbers = {client: number for number, client in enumerate(clients)}
        self._node_numbers = {key: number for number, key in enumerate(in_order, len(clients))}
        self.all += [Lifeline(shorten(nodes[key], MAX_NAME_LENGTH), "", True) for key in in_order]

    def _note_client(self, exchange: Exchange) -> None:
        """Notes the client of a connection."""
        host = exchange.peer.rpartition(":")[0]
        name, software, _ = self._clients.get(exchange.connection, ("", "", host))
        self._clients[exchange.connection] = exchange.client_id or name or exchange.peer, software_of(exchange) or software, host

    def client(self, connection: int | None) -> int | None:
        """Returns the number of the client of a connection, None if it has sent no request."""
        return None if connection is None or connection not in self._clients else self._client_numbers[self._clients[connection]]

    def node(self, entry: Entry) -> int | None:
        """Returns the number of the node of an entry, None if the entry belongs to no node."""
        key = _node_key(entry) if isinstance(entry, Exchange) else entry.node
        return self._node_numbers.get(key)


def software_of(exchange: Exchange) -> str:
    """Returns the software of a client. It names that in its ApiVersions request, before which the broker does not know it."""
    request = exchange.request if exchange.api == "ApiVersions" and not exchange.software else None
    if not isinstance(request, ApiVersionsRequest):
        return exchange.software
    return f"{request.client_software_name} {request.client_software_version}".strip()


def short_software(software: str) -> str:
    """Returns the name and version of the library that speaks to the broker: that of librdkafka for the libraries built on it."""
    found = _LIBRDKAFKA.search(software)
    return software if found is None else f"librdkafka {found[1]}"


def _node_key(exchange: Exchange) -> Hashable:
    """Returns the id of a node. In a capture file the id may be unknown; then the listener, which is an address, stands for the node."""
    return exchange.listener if exchange.node is None else exchange.node


def _node_name(exchange: Exchange) -> str:
    return exchange.listener if exchange.node is None else f"node {exchange.node}"
