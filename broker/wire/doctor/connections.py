"""Connections that do no work, or not for long: reconnect loops, a connection for each message, addresses that a client cannot reach, and
connections that were closed because they were idle.

A client that cannot reach the advertised addresses connects to a bootstrap server, gets the addresses of the nodes, and closes the
connection in order to connect to those. No connection arrives there, so that the client returns to the bootstrap server, again and again.
librdkafka does so. Java's client and kafka-python stay away, which is not reported, because it looks like a program that has only asked for
metadata.

A connection that the broker believes to be idle may be half-open: a firewall drops the packets of the client, or of the broker, without
telling them. If the client has continued on another connection meanwhile, this is certain. Otherwise the broker cannot tell the difference.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ....protocol.messages.metadata import MetadataResponse
from ...plurals import counted
from ..exchange import Entry, Exchange
from .finding import Finding, densest, evidence, span_s
from .history import ClientHistory, ConnectionHistory, WireHistory, families, received_ms
from .security import is_misunderstood

WITHIN_MS = 30_000.0
MANY_REFUSED = 5
"""The number of connections, closed by the broker before any work was done, that makes a loop."""
MANY_GIVEN_UP = 20
"""The same for those that the client closes. Clients close the connection by which they found the cluster, so this number is higher."""
MANY_MESSAGES = 5
"""The number of connections with one Produce each, one after the other."""


def reconnect_loops(history: WireHistory) -> Iterable[Finding]:
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
            yield Finding("reconnect loop", str(client), problem, advice, settings, _entries_of(refused))
        elif len(given_up) >= MANY_GIVEN_UP:
            problem = f"{_count(given_up)}, which it closed without having done any work"
            advice = "look into the client's log for the reason; if the program creates a client for each call, create it once"
            yield Finding("reconnect loop", str(client), problem, advice, ("reconnect.backoff.ms",), _entries_of(given_up))


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


def connections_per_message(history: WireHistory) -> Iterable[Finding]:
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
            yield Finding("a connection per message", str(client), problem, advice, settings, _entries_of(row))


def _is_for_one_message(connection: ConnectionHistory) -> bool:
    return not connection.ended_by_broker and sum(exchange.api == "Produce" for exchange in connection.exchanges) == 1


def _one_after_the_other(connections: Sequence[ConnectionHistory], begin: Callable[[ConnectionHistory], Entry]) -> list[ConnectionHistory]:
    """Returns connections each of which was closed before the next one began. Several connections at the same time are not a loop."""
    row: list[ConnectionHistory] = []
    for connection in sorted(connections, key=_opened_ms):
        last = row[-1].closed if row else None
        if last is None or last.sequence < begin(connection).sequence:
            row.append(connection)
    return row


def _dense(connections: Sequence[ConnectionHistory]) -> Sequence[ConnectionHistory]:
    return densest(sorted(connections, key=_opened_ms), _opened_ms, WITHIN_MS)


def _opened_ms(connection: ConnectionHistory) -> float:
    if connection.opened_ms is not None:
        return connection.opened_ms
    return connection.exchanges[0].received.wall_ms if connection.exchanges else 0.0


def _count(connections: Sequence[ConnectionHistory]) -> str:
    return f"{counted(len(connections), 'connection')} within {span_s(_opened_ms(connections[0]), _opened_ms(connections[-1]))}"


def _entries_of(connections: Sequence[ConnectionHistory]) -> tuple[Entry, ...]:
    return evidence([entry for connection in connections for entry in connection.entries])


MANY_SEARCHES = 3
"""The number of such connections that makes a finding."""


def unreachable_addresses(history: WireHistory) -> Iterable[Finding]:
    """Finds clients that search for the nodes, and do no work."""
    for client in history.clients:
        searches = [each for each in client.connections if searches_nodes(each) and not history.excuses(*each.entries)]
        if len(searches) >= MANY_SEARCHES and not any(connection.work for connection in client.connections):
            yield _unreachable(client, [exchange for connection in searches for exchange in _answers(connection)])


def searches_nodes(connection: ConnectionHistory) -> bool:
    """Returns whether a client has closed a connection after it got the addresses of the nodes, with which it wanted to work."""
    wants = any(exchange.api == "FindCoordinator" or exchange.topics for exchange in connection.exchanges)
    gone = connection.closed is not None and not connection.ended_by_broker
    return wants and gone and not connection.work and bool(_answers(connection))


def _answers(connection: ConnectionHistory) -> list[Exchange]:
    return [exchange for exchange in connection.exchanges if isinstance(exchange.partial_response, MetadataResponse)]


def _unreachable(client: ClientHistory, asked: Sequence[Exchange]) -> Finding:
    used = asked[-1]
    node = "" if used.node is None else f" of node {used.node}"
    problem = (
        f"{len(asked)} Metadata requests within {span_s(received_ms(asked[0]), received_ms(used))} through listener {used.listener}{node}, "
        f"and no connection to the addresses that it was given: {_addresses(used)}"
    )
    advice = "set advertised.listeners to addresses that the client can resolve and reach, for the listener that it uses"
    return Finding("unreachable advertised addresses", str(client), problem, advice, ("advertised.listeners", "listeners"), evidence(asked))


def _addresses(exchange: Exchange) -> str:
    brokers = getattr(exchange.partial_response, "brokers", ())
    return ", ".join(f"node {broker.node_id} at {broker.host}:{broker.port}" for broker in brokers)


IDLE_SETTING = "connections.max.idle.ms"
LONG_IDLE_MS = 9 * 60_000.0
"""Where a capture does not contain the broker's reason, a close after this time without a request counts as one for idleness."""


def idle_closes(history: WireHistory) -> Iterable[Finding]:
    """Finds connections that were closed as idle; separately those whose work their client had continued elsewhere while they were open.

    A connection by which a client only found the cluster may become idle while others work.
    """
    for client in history.clients:
        idle = [each for each in client.connections if each.exchanges and _was_idle(each)]
        replaced = [each for each in idle if _is_replaced(each, client, history)]
        lapsed = [each for each in idle if each not in replaced and (each.work or not _works(client))]
        ended = [each for each in lapsed if not history.excuses(*each.entries[-2:])]
        if replaced:
            connections = counted(len(replaced), "connection that was", "connections that were")
            problem = (
                f"the client replaced {connections} still open for the broker and later closed as idle: "
                "a firewall or NAT between them drops packets silently"
            )
            advice = "let connections be used or closed before the firewall forgets them, and let the system probe them"
            settings: tuple[str, ...] = ("connections.max.idle.ms", "socket.keepalive.enable", "socket.timeout.ms", "request.timeout.ms")
            entries = [entry for each in replaced for entry in _replacement(each, client)]
            yield Finding("half-open connections", str(client), problem, advice, settings, evidence(entries))
        if ended:
            problem = f"the broker closed {counted(len(ended), 'connection')} that had been idle: {ended[-1].reason}"
            advice = "harmless if the client had nothing to send; if it has sent something, a firewall drops its packets silently"
            settings = ("connections.max.idle.ms", "log.connection.close", "socket.keepalive.enable")
            entries = [entry for each in ended for entry in each.entries[-2:]]
            yield Finding("idle connections", str(client), problem, advice, settings, evidence(entries))


def _works(client: ClientHistory) -> bool:
    return any(connection.work for connection in client.connections)


def _was_idle(connection: ConnectionHistory) -> bool:
    if not connection.ended_by_broker or connection.closed is None:
        return False
    if "reason" in connection.closed.fields or "." in connection.closed.text:
        return IDLE_SETTING in connection.reason
    return connection.closed.at.cluster_ms - connection.exchanges[-1].received.cluster_ms >= LONG_IDLE_MS


def _is_replaced(connection: ConnectionHistory, client: ClientHistory, history: WireHistory) -> bool:
    """Returns whether another connection took over the work of one that was open, which then was closed as idle, also by a moved clock."""
    successor = _successor(connection, client) if connection.work else None
    return successor is not None and not history.excuses(connection.exchanges[-1], *successor.entries[:1])


def _successor(connection: ConnectionHistory, client: ClientHistory) -> ConnectionHistory | None:
    """Returns the connection that took over the work of another one before the broker closed that."""
    last, closed = connection.exchanges[-1].sequence, connection.closed
    apis = {exchange.api for exchange in connection.work}
    for other in client.connections:
        after = [exchange for exchange in other.work if exchange.api in apis]
        begins = other.opened is not None and other.opened.sequence > last
        if other.node == connection.node and begins and after and closed is not None and after[0].sequence < closed.sequence:
            return other
    return None


def _replacement(connection: ConnectionHistory, client: ClientHistory) -> list[Entry]:
    """Returns the last request of a connection, the opening of the one that replaced it, and its end."""
    successor = _successor(connection, client)
    return [connection.exchanges[-1], *(successor.entries[:1] if successor else []), *connection.entries[-1:]]
