"""Connections that are opened again and again: reconnect loops, and producers that are created for each message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...plurals import counted
from ..exchange import Entry
from .addresses import searches_nodes
from .finding import Finding, densest, shown, span_s
from .handshakes import is_misunderstood
from .history import Connection, History, families

WITHIN_MS = 30_000.0
MANY_REFUSED = 5
"""The number of connections, closed by the broker before any work was done, that makes a loop."""
MANY_GIVEN_UP = 20
"""The same for those that the client closes. Clients close the connection by which they found the cluster, so this number is higher."""
MANY_MESSAGES = 5
"""The number of connections with one Produce each, one after the other."""


def reconnect_loops(history: History) -> Iterable[Finding]:
    """Finds clients that connect, achieve nothing and connect again."""
    for client in families(history.clients):
        ended = [each for each in client.connections if each.opened is not None and each.closed is not None]
        idle = [each for each in ended if not each.work and not is_misunderstood(each) and not history.excuses(*each.entries)]
        refused = _dense([each for each in idle if each.ended_by_broker])
        given_up = [each for each in idle if not each.ended_by_broker and not searches_nodes(each)]
        given_up = list(_dense(_one_after_the_other(given_up, lambda each: each.entries[0])))
        if len(refused) >= MANY_REFUSED:
            advice, settings = _cure(refused[-1].reason)
            problem = f"{_count(refused)}, which the broker closed: {refused[-1].reason}"
            yield Finding("reconnect loop", str(client), problem, advice, settings, _shown(refused))
        elif len(given_up) >= MANY_GIVEN_UP:
            problem = f"{_count(given_up)}, which it closed without having done any work"
            advice = "look into the client's log for the reason; if the program creates a client for each call, create it once"
            yield Finding("reconnect loop", str(client), problem, advice, ("reconnect.backoff.ms",), _shown(given_up))


def _cure(reason: str) -> tuple[str, tuple[str, ...]]:
    """Returns what to change so that the broker does not close the connection for this reason."""
    words = reason.lower()
    if "sasl" in words or "authenticat" in words or "credential" in words:
        return "the client cannot authenticate; compare its credentials and mechanism with those of the listener", (
            "sasl.mechanism",
            "sasl.username",
            "sasl.password",
            "security.protocol",
        )
    if "socket.request.max.bytes" in words:
        return "the client sends what the broker cannot read as a request; compare the protocols", ("security.protocol", "max.request.size")
    return "remove the reason that the broker names; until then, let the client wait longer", ("reconnect.backoff.max.ms",)


def connections_per_message(history: History) -> Iterable[Finding]:
    """Finds producers that are created, send one message and are closed, one after the other."""
    for client in families(history.clients):
        single = [each for each in client.connections if each.closed is not None and _is_for_one_message(each)]
        row = _dense(_one_after_the_other([each for each in single if not history.excuses(*each.entries)], lambda each: each.work[0]))
        if len(row) >= MANY_MESSAGES:
            problem = f"{_count(row)}, each for one Produce request"
            advice = (
                "create the producer once, send all records with it and close it at the end; it keeps its connections and builds batches"
            )
            settings = ("linger.ms", "batch.size", "connections.max.idle.ms")
            yield Finding("a connection per message", str(client), problem, advice, settings, _shown(row))


def _is_for_one_message(connection: Connection) -> bool:
    return not connection.ended_by_broker and sum(exchange.api == "Produce" for exchange in connection.exchanges) == 1


def _one_after_the_other(connections: Sequence[Connection], begin: Callable[[Connection], Entry]) -> list[Connection]:
    """Returns connections each of which was closed before the next one began. Several at the same time are no loop."""
    row: list[Connection] = []
    for connection in sorted(connections, key=_opened_ms):
        last = row[-1].closed if row else None
        if last is None or last.sequence < begin(connection).sequence:
            row.append(connection)
    return row


def _dense(connections: Sequence[Connection]) -> Sequence[Connection]:
    return densest(sorted(connections, key=_opened_ms), _opened_ms, WITHIN_MS)


def _opened_ms(connection: Connection) -> float:
    if connection.opened_ms is not None:
        return connection.opened_ms
    return connection.exchanges[0].received.wall_ms if connection.exchanges else 0.0


def _count(connections: Sequence[Connection]) -> str:
    return f"{counted(len(connections), 'connection')} within {span_s(_opened_ms(connections[0]), _opened_ms(connections[-1]))}"


def _shown(connections: Sequence[Connection]) -> tuple[Entry, ...]:
    return shown([entry for connection in connections for entry in connection.entries])
