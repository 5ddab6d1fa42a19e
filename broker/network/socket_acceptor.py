"""Listening sockets, which are registered with the event loop directly.

asyncio's own server (CPython 3.11) loses connections that it has accepted at the moment when it is closed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import ssl
from collections.abc import Container, Iterable
from contextvars import Context, copy_context
from typing import TYPE_CHECKING, Any

from ..cluster.broker import Broker
from ..settings.cluster_config import NodeConfig
from ..settings.listeners import TLS_PROTOCOLS, Listener
from .acceptor import Acceptor
from .client_protocol import ClientProtocol

if TYPE_CHECKING:
    from .server import Server

log = logging.getLogger("kafka.network.SocketServer")

BACKLOG = 1024
HANDSHAKE_TIMEOUT_S = 30.0
"""The time in which a TLS handshake must be complete. Until then the connection counts towards max.connections, like any other."""


class SocketAcceptor(Acceptor[socket.socket]):
    """Listens on one listener of a node."""

    def __init__(self, server: Server, broker: Broker, listener: Listener) -> None:
        super().__init__(server, broker, listener)
        self._opening: set[asyncio.Task[object]] = set()

    async def listen(self) -> None:
        self._listen()

    def _listen(self) -> None:
        self._socket = bind(self.listener)
        try:
            self._socket.listen(BACKLOG)
        except OSError as error:
            self._socket.close()
            raise _explain(error, self.listener) from error
        self._socket.setblocking(False)
        self._paused = True
        self.resume()

    async def close(self) -> None:
        """Stops listening. Connections that have been accepted are open when this returns; unfinished TLS handshakes are aborted."""
        if self.listener.security_protocol in TLS_PROTOCOLS:
            for opening in self._opening:
                opening.cancel()
        await super().close()
        await asyncio.gather(*self._opening, return_exceptions=True)

    @property
    def _listens(self) -> bool:
        return self._socket.fileno() >= 0

    def stop_listening(self) -> None:
        if self._listens:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def refuse(self, refused: bool) -> None:
        if refused:
            self.stop_listening()
        elif not self._listens:
            self._listen()

    def _watch(self) -> None:
        self._loop.add_reader(self._socket, self._accept)

    def _unwatch(self) -> None:
        self._loop.remove_reader(self._socket)

    def _next(self) -> tuple[socket.socket, Any]:
        return self._socket.accept()

    def _open(self, accepted: socket.socket, host: str, port: int) -> None:
        accepted.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        tls = self._server.security.tls
        context = None if tls is None else tls.get(self.broker, self.listener)
        protocol = ClientProtocol(self._server, self.broker, self.name, host, port)
        timeout_s = None if context is None else HANDSHAKE_TIMEOUT_S
        opening = self._loop.connect_accepted_socket(lambda: protocol, accepted, ssl=context, ssl_handshake_timeout=timeout_s)
        task = self._loop.create_task(opening, context=None if context is None else _context_of(protocol))
        self._opening.add(task)
        task.add_done_callback(lambda done: self._opened(done, protocol, accepted))

    def _opened(self, task: asyncio.Task[object], protocol: ClientProtocol, accepted: socket.socket) -> None:
        self._opening.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is None and not task.cancelled():
            return
        if isinstance(error, OSError):
            # A failed or unfinished TLS handshake. `tls/handshakes.py` has logged the reason of a failed one.
            level = logging.DEBUG if isinstance(error, ssl.SSLError) else logging.INFO
            text = "[KafkaServer id=%d] TLS handshake with %s on listener %s has ended: %s"
            log.log(level, text, self.broker.node_id, protocol.host, self.listener.name, str(error) or type(error).__name__)
        elif error is not None:
            text = "[KafkaServer id=%d] could not open a connection from %s"
            log.error(text, self.broker.node_id, protocol.host, exc_info=error)
        protocol.not_opened(error)
        if not protocol.is_open:  # otherwise asyncio calls `connection_lost`
            accepted.close()
            self._server.listeners.closed(protocol)


class ReservedPorts:
    """The bound sockets of all listeners."""

    def __init__(self) -> None:
        self._sockets: dict[Listener, socket.socket] = {}

    async def reserve(self, node: NodeConfig) -> NodeConfig:
        """Binds a node's ports, and returns the node with the ports that the kernel has chosen for port 0. Raises OSError."""
        return self._bind(node)

    def _bind(self, node: NodeConfig) -> NodeConfig:
        bound = []
        for listener in node.listeners:
            reserved = bind(listener)
            bound.append(listener.with_port(reserved.getsockname()[1]))
            self._sockets[bound[-1]] = reserved
        return node.with_listeners(bound)

    def reserve_again(self, nodes: Iterable[NodeConfig]) -> None:
        """Binds the ports of those nodes whose ports were released. Raises OSError, and binds none, if one is in use."""
        missing = [node for node in nodes if not self._sockets.keys() >= set(node.listeners)]
        try:
            for node in missing:
                self._bind(node)
        except OSError:
            self.release(missing)
            raise

    def release(self, nodes: Iterable[NodeConfig]) -> None:
        """Releases the ports of nodes."""
        for listener in [listener for node in nodes for listener in node.listeners if listener in self._sockets]:
            self._sockets.pop(listener).close()

    def release_all_but(self, listeners: Container[Listener]) -> None:
        """Releases all ports except those of these listeners."""
        for listener in [listener for listener in self._sockets if listener not in listeners]:
            self._sockets.pop(listener).close()


def _context_of(protocol: ClientProtocol) -> Context:
    """Returns a context in which a failed handshake tells its reason to a connection."""
    from ..tls.handshakes import on_failure

    context = copy_context()
    context.run(on_failure.set, protocol.handshake_failed)
    return context


def bind(listener: Listener) -> socket.socket:
    """Returns a socket bound to a listener's address. Raises OSError with a text that contains the address and the remedy."""
    try:
        host = listener.host or "0.0.0.0"  # Kafka binds an empty host to all interfaces
        # For a str, Python imports its codec for international names, even if the name is ASCII.
        found = socket.getaddrinfo(
            host.encode() if host.isascii() else host, listener.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        # "localhost" resolves to both ::1 and 127.0.0.1 on many systems. IPv4 is preferred, because advertised addresses are IPv4.
        family, kind, protocol, _, address = min(found, key=lambda info: info[0] != socket.AF_INET)
    except OSError as error:
        raise _explain(error, listener) from error
    bound = socket.socket(family, kind, protocol)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind(address)
    except OSError as error:
        bound.close()
        raise _explain(error, listener) from error
    return bound


def _explain(error: OSError, listener: Listener) -> OSError:
    reason = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
    advice = "; choose another port, or port 0 for any free one" if error.errno == errno.EADDRINUSE else ""
    return OSError(error.errno, f"cannot listen on {listener.host}:{listener.port}: {reason}{advice}")
