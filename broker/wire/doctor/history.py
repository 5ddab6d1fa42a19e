"""A list of entries by clients and connections, as the checks look at it.

A client is all connections with the same client id, software and host (as in `diagrams/lifelines.py`). A connection without any request
belongs to a client that has only an address.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from ..diagrams.lifelines import short_software, software_of
from ..exchange import Entry, Event, Exchange
from .disturbances import Disturbances
from .schema_use import SchemaUse

PRELIMINARY = frozenset(
    (
        "ApiVersions",
        "Metadata",
        "SaslHandshake",
        "SaslAuthenticate",
        "SaslToken",
        "FindCoordinator",
        "GetTelemetrySubscriptions",
        "PushTelemetry",
        "DescribeCluster",
    )
)
"""The APIs by which a client finds its way. The other requests are its work."""


_NUMBER = re.compile(r"[-_#]\d+$")


class ConnectionHistory:
    """A connection. `opened` and `closed` are None if the record does not contain these events."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.opened: Event | None = None
        self.closed: Event | None = None
        self.handshake: Event | None = None
        """The event of a TLS handshake that has failed."""
        self.exchanges: list[Exchange] = []

    @property
    def node(self) -> int | None:
        return next((entry.node for entry in (self.opened, *self.exchanges, self.closed) if entry is not None), None)

    @property
    def entries(self) -> list[Entry]:
        """All entries of the connection in order."""
        found = (self.opened, self.handshake, *self.exchanges, self.closed)
        return [entry for entry in found if entry is not None]

    @property
    def host(self) -> str:
        """The address of the client without its port."""
        return self.peer.rpartition(":")[0]

    @cached_property
    def peer(self) -> str:
        if self.exchanges:
            return self.exchanges[0].peer
        return next((str(event.fields["peer"]) for event in (self.opened, self.closed) if event and "peer" in event.fields), "")

    @property
    def opened_ms(self) -> float | None:
        """The time at which it was opened, by the wall clock."""
        return None if self.opened is None else self.opened.at.wall_ms

    @property
    def work(self) -> list[Exchange]:
        """The requests for which the connection was opened."""
        return [exchange for exchange in self.exchanges if exchange.api not in PRELIMINARY]

    @property
    def ended_by_broker(self) -> bool:
        """Whether the broker has closed the connection."""
        return self.closed is not None and (self.closed.fields.get("by") == "broker" or "by the broker" in self.closed.text)

    @property
    def reason(self) -> str:
        """Why the broker has closed the connection, as far as it is known."""
        return "" if self.closed is None else str(self.closed.fields.get("reason", "")) or self.closed.text


class ClientHistory:
    """A client. Its name is its client id or, without one, its address."""

    def __init__(self, name: str, software: str, host: str) -> None:
        self.name = name
        self.software = software
        self.host = host
        self.connections: list[ConnectionHistory] = []

    def __str__(self) -> str:
        if self.name == self.host:
            return f"a client at {self.host}"
        software = f" ({short_software(self.software)})" if self.software else ""
        return f"{self.name}{software} at {self.host}"

    @cached_property
    def exchanges(self) -> list[Exchange]:
        """The requests of all its connections in order."""
        found = [exchange for connection in self.connections for exchange in connection.exchanges]
        return sorted(found, key=lambda exchange: exchange.sequence)

    @cached_property
    def failures(self) -> list[tuple[Exchange, tuple[str, ...]]]:
        """The requests that were answered with errors, which no fault has caused, with their errors."""
        found = [(exchange, exchange.errors) for exchange in self.exchanges if not exchange.faults]
        return [(exchange, errors) for exchange, errors in found if errors]

    def of(self, *apis: str) -> list[Exchange]:
        """Returns the requests of some APIs in order."""
        return [exchange for exchange in self.exchanges if exchange.api in apis]


def families(clients: Iterable[ClientHistory]) -> list[ClientHistory]:
    """Returns clients whose names differ only by a number at the end, such as "producer-7", as one client.

    Java's and other clients number their instances, so that a program that creates them again and again has many names.
    """
    found: dict[tuple[str, str, str], ClientHistory] = {}
    for client in clients:
        key = _NUMBER.sub("", client.name), client.software, client.host
        found.setdefault(key, ClientHistory(client.name, client.software, client.host)).connections.extend(client.connections)
    return list(found.values())


class WireHistory:
    """The clients of the entries from the number `since` on, in the order in which they appear.

    `earlier` are the entries before these. `end_ms` is the time of the last entry by the wall clock.
    """

    def __init__(self, entries: Iterable[Entry], since: int = 0) -> None:
        in_order = sorted(entries, key=lambda entry: entry.sequence)
        self._disturbances = Disturbances(in_order)
        self.earlier = [entry for entry in in_order if entry.sequence < since]
        self.entries = [entry for entry in in_order if entry.sequence >= since]
        self.connections: dict[int, ConnectionHistory] = {}
        for entry in self.entries:
            if entry.connection is not None:
                self._add(entry, self.connections.setdefault(entry.connection, ConnectionHistory(entry.connection)))
        self.clients = list(_clients(self.connections.values()))
        self.end_ms = max((_last_ms(entry) for entry in self.entries), default=0.0)

    @cached_property
    def schemas(self) -> SchemaUse:
        """The requests to the schema registry, and the schema ids in records."""
        return SchemaUse(self)

    def _add(self, entry: Entry, connection: ConnectionHistory) -> None:
        if isinstance(entry, Exchange):
            connection.exchanges.append(entry)
        elif entry.kind == "connection opened":
            connection.opened = entry
        elif entry.kind == "connection closed":
            connection.closed = entry
        elif entry.kind == "handshake failed":
            connection.handshake = entry

    def events(self, kind: str) -> list[Event]:
        """Returns the events of a kind in order."""
        return [entry for entry in self.entries if isinstance(entry, Event) and entry.kind == kind]

    def excuses(self, *entries: Entry) -> bool:
        """Returns whether a fault has hit one of some entries, or the test has disturbed the cluster between the first and the last one.

        No client is then to blame for the entries.
        """
        if not entries or any(_is_hit(entry) for entry in entries):
            return bool(entries)
        return self._disturbances.overlap(min(map(_first_ms, entries)), max(map(_last_ms, entries)))


def _clients(connections: Iterable[ConnectionHistory]) -> Iterable[ClientHistory]:
    clients: dict[tuple[str, str, str], ClientHistory] = {}
    for connection in connections:
        name = software = ""
        for exchange in connection.exchanges:
            name, software = exchange.client_id or name, software_of(exchange) or software
        key = name or connection.host, software, connection.host
        clients.setdefault(key, ClientHistory(*key)).connections.append(connection)
    return clients.values()


def _is_hit(entry: Entry) -> bool:
    """Returns whether a fault has hit a request, also one to the schema registry, or has ended a connection."""
    if isinstance(entry, Exchange):
        return bool(entry.faults)
    return "fault" in entry.fields or (entry.kind == "connection closed" and "fault" in str(entry.fields.get("reason", "")))


def _first_ms(entry: Entry) -> float:
    return entry.at.wall_ms if isinstance(entry, Event) else received_ms(entry)


def _last_ms(entry: Entry) -> float:
    if isinstance(entry, Event):
        return entry.at.wall_ms
    return max(moment.wall_ms for moment in (entry.received, entry.answered, entry.written) if moment is not None)


def received_ms(exchange: Exchange) -> float:
    """Returns when a request was received, by the wall clock."""
    return exchange.received.wall_ms
