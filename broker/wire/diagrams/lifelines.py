"""The lifelines of a sequence diagram: which client and which node an entry belongs to.

A lifeline of a client stands for all its connections. Connections belong to the same client if they have the same client id, software and
host, because the protocol says no more. Programs on one host that do not set `client.id` therefore share a lifeline. The schema registry
has a lifeline of its own behind the nodes, and its clients are known by their `User-Agent` and host only.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass

from ....protocol.messages.api_versions import ApiVersionsRequest
from ..exchange import REGISTRY_REQUEST, Entry, Event, Exchange
from ..labels import shorten

MAX_NAME_LENGTH = 48
_LIBRDKAFKA = re.compile(r"-(?:lib)?rdkafka-(\d+(?:\.\d+)+)")
"""How libraries built on librdkafka name it: "confluent-kafka-python 2.16.1-rdkafka-2.16.0"."""


@dataclass(frozen=True, slots=True)
class Lifeline:
    """A client, a node or the schema registry, which counts as a node. The detail of a client is its software, that of a node is empty."""

    name: str
    detail: str
    is_node: bool


class Lifelines:
    """The lifelines of some entries: clients in the order in which they appear, then nodes by their ids."""

    def __init__(self, entries: Iterable[Entry]) -> None:
        self._clients: dict[Hashable, tuple[str, str, str]] = {}
        """The client of each connection, and of events of the schema registry: its name, its software and its host."""
        nodes: dict[Hashable, str] = {}
        for entry in entries:
            if isinstance(entry, Exchange):
                self._note_client(entry)
                nodes[_node_key(entry)] = _node_name(entry)
            elif entry.kind == REGISTRY_REQUEST:
                self._clients[_registry_client(entry)] = (_registry_client(entry)[0], "", _registry_client(entry)[1])
                nodes[REGISTRY_REQUEST] = REGISTRY_REQUEST
            elif entry.node is not None:
                nodes[entry.node] = f"node {entry.node}"
        clients = list(dict.fromkeys(self._clients.values()))
        in_order = sorted(nodes, key=lambda key: (key == REGISTRY_REQUEST, isinstance(key, str), key))
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

    def client(self, entry: Entry) -> int | None:
        """Returns the number of the client of an entry, None if it has none, or one that has sent no request."""
        key = _registry_client(entry) if isinstance(entry, Event) and entry.kind == REGISTRY_REQUEST else entry.connection
        return None if key not in self._clients else self._client_numbers[self._clients[key]]

    def node(self, entry: Entry) -> int | None:
        """Returns the number of the node of an entry, None if the entry belongs to no node."""
        if isinstance(entry, Exchange):
            return self._node_numbers.get(_node_key(entry))
        return self._node_numbers.get(REGISTRY_REQUEST if entry.kind == REGISTRY_REQUEST else entry.node)


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


def _registry_client(event: Event) -> tuple[str, str]:
    """Returns the name of a client of the schema registry, its software or else its host, and the host."""
    host = str(event.fields["peer"]).rpartition(":")[0]
    return short_software(str(event.fields.get("software", ""))) or host, host


def _node_key(exchange: Exchange) -> Hashable:
    """Returns the id of a node. In a capture file the id may be unknown; then the listener, which is an address, stands for the node."""
    return exchange.listener if exchange.node is None else exchange.node


def _node_name(exchange: Exchange) -> str:
    return exchange.listener if exchange.node is None else f"node {exchange.node}"
