"""Connections that the broker closed because they were idle, some of which their client had given up long before.

A connection that the broker believes to be idle may be half-open: a firewall drops the packets of the client, or of the broker, without
telling them. If the client has continued on another connection meanwhile, this is certain. Otherwise the broker cannot tell the difference.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...plurals import counted
from ..exchange import Entry
from .finding import Finding, shown
from .history import Client, Connection, History

SETTING = "connections.max.idle.ms"
LONG_MS = 9 * 60_000.0
"""Where a capture does not contain the broker's reason, a close after this time without a request counts as one for idleness."""


def idle_closes(history: History) -> Iterable[Finding]:
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
            entries = [entry for each in replaced for entry in _evidence(each, client)]
            yield Finding("half-open connections", str(client), problem, advice, settings, shown(entries))
        if ended:
            problem = f"the broker closed {counted(len(ended), 'connection')} that had been idle: {ended[-1].reason}"
            advice = "harmless if the client had nothing to send; if it has sent something, a firewall drops its packets silently"
            settings = ("connections.max.idle.ms", "log.connection.close", "socket.keepalive.enable")
            entries = [entry for each in ended for entry in each.entries[-2:]]
            yield Finding("idle connections", str(client), problem, advice, settings, shown(entries))


def _works(client: Client) -> bool:
    return any(connection.work for connection in client.connections)


def _was_idle(connection: Connection) -> bool:
    if not connection.ended_by_broker or connection.closed is None:
        return False
    if "reason" in connection.closed.fields or "." in connection.closed.text:
        return SETTING in connection.reason
    return connection.closed.at.cluster_ms - connection.exchanges[-1].received.cluster_ms >= LONG_MS


def _is_replaced(connection: Connection, client: Client, history: History) -> bool:
    """Returns whether another connection took over the work of one that was open, which then was closed as idle, also by a moved clock."""
    successor = _successor(connection, client) if connection.work else None
    return successor is not None and not history.excuses(connection.exchanges[-1], *successor.entries[:1])


def _successor(connection: Connection, client: Client) -> Connection | None:
    """Returns the connection that took over the work of another one before the broker closed that."""
    last, closed = connection.exchanges[-1].sequence, connection.closed
    apis = {exchange.api for exchange in connection.work}
    for other in client.connections:
        after = [exchange for exchange in other.work if exchange.api in apis]
        begins = other.opened is not None and other.opened.sequence > last
        if other.node == connection.node and begins and after and closed is not None and after[0].sequence < closed.sequence:
            return other
    return None


def _evidence(connection: Connection, client: Client) -> list[Entry]:
    """Returns the last request of a connection, the opening of the one that replaced it, and its end."""
    successor = _successor(connection, client)
    return [connection.exchanges[-1], *(successor.entries[:1] if successor else []), *connection.entries[-1:]]
