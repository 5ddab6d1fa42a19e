"""Listening sockets: binds them and accepts connections within the limits of their node.

The sockets are registered with the event loop directly, because asyncio's own server (CPython 3.11) loses connections that it has
accepted at the moment when it is closed.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import os
import socket
import ssl
from contextvars import Context, copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

from ..cluster.broker import Broker
from ..settings.listeners import TLS_PROTOCOLS, Listener
from .client_protocol import ClientProtocol

if TYPE_CHECKING:
    from .server import Server

log = logging.getLogger("kafka.network.SocketServer")

BACKLOG = 1024
ACCEPT_RETRY_S = 1.0
ACCEPTS_PER_TURN = 32
HANDSHAKE_TIMEOUT_S = 30.0
"""The time in which a TLS handshake must be complete. Until then the connection counts towards max.connections, like any other."""


class Acceptor:
    """Listens on one listener of a node, from the creation of this object until `close`."""

    def __init__(self, server: Server, broker: Broker, listener: Listener) -> None:
        self._server = server
        self._node_id = broker.node_id
        self.listener = listener
        self.name = listener.name
        self._loop = asyncio.get_running_loop()
        self._opening: set[asyncio.Task[object]] = set()
        self._held: dict[socket.socket, None] = {}
        """Accepted connections that wait, because connections are created too fast."""
        self._delayed = False  # whether accepting is paused for the same reason
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

    @property
    def broker(self) -> Broker:
        """The node in the present cluster, which a restored state replaces."""
        return self._server.cluster.brokers[self._node_id]

    async def close(self) -> None:
        """Stops listening. Connections that have been accepted are open when this returns; unfinished TLS handshakes are aborted."""
        self._stop_listening()
        if self.listener.security_protocol in TLS_PROTOCOLS:
            for opening in self._opening:
                opening.cancel()
        for held in self._held:
            self._server.core.timers.cancel(held)
            held.close()
        await asyncio.gather(*self._opening, return_exceptions=True)

    @property
    def _listens(self) -> bool:
        return self._socket.fileno() >= 0

    def _stop_listening(self) -> None:
        if self._listens:
            self._loop.remove_reader(self._socket)
            self._socket.close()

    def refuse(self, refused: bool) -> None:
        """Stops listening, so that the kernel refuses connections, or listens again. Raises OSError if the port is in use."""
        if refused:
            self._stop_listening()
        elif not self._listens:
            self._listen()

    def resume(self) -> None:
        """Accepts again if accepting was paused. Does nothing after `close`, and while the node is silent.

        The kernel completes connections to a silent node until its queue is full (BACKLOG), so that clients can connect but get no answer.
        """
        if self._paused and self._listens and not self._delayed and self.broker.silence is None:
            self._paused = False
            self._loop.add_reader(self._socket, self._accept)

    def pause(self) -> None:
        """Accepts no connections until `resume` is called."""
        self._paused = True
        if self._listens:
            self._loop.remove_reader(self._socket)

    def _accept(self) -> None:
        """Accepts up to ACCEPTS_PER_TURN connections. The event loop calls it again while there are more."""
        quotas = self.broker.connections
        self._server.driver.begin_turn()
        try:
            for _ in range(ACCEPTS_PER_TURN):
                if quotas.full:
                    text = "[KafkaServer id=%d] connection limit reached (max.connections=%d); accepting paused"
                    log.info(text, self.broker.node_id, quotas.limit)
                    self.pause()
                    return
                if not self._meet(*self._socket.accept()):
                    return
        except (BlockingIOError, InterruptedError, ConnectionAbortedError):
            return
        except OSError as error:
            log.warning("[KafkaServer id=%d] cannot accept connections: %s; trying again", self.broker.node_id, error)
            self._loop.call_later(ACCEPT_RETRY_S, self.resume)
            self.pause()
        finally:
            self._server.driver.after_turn()

    def _meet(self, accepted: socket.socket, address: Any) -> bool:
        """Opens an accepted connection, or holds it if connections are created too fast. Returns False if accepting is paused."""
        timers = self._server.core.timers
        wait_ms, refused = self._server.core.connection_rates(self.broker).admit(self.name, address[0], timers.now_ms)
        if not wait_ms:
            self._admit(accepted, address)
            return True
        self._held[accepted] = None
        if refused:
            text = "[KafkaServer id=%d] closing a connection from %s in %d ms: its connection_creation_rate is exceeded"
            log.info(text, self.broker.node_id, address[0], wait_ms)
            timers.set(accepted, wait_ms, partial(self._refuse_held, accepted))
            return True
        self.pause()
        self._delayed = True
        timers.set(accepted, wait_ms, partial(self._admit_held, accepted, address))
        return False

    def drop_held(self) -> None:
        """Closes the connections that wait, and ends a delay, because a restored state has ended the timers of both."""
        for held in self._held:
            held.close()
        self._held.clear()
        self._delayed = False

    def _refuse_held(self, accepted: socket.socket) -> None:
        del self._held[accepted]
        accepted.close()

    def _admit_held(self, accepted: socket.socket, address: Any) -> None:
        del self._held[accepted]
        self._admit(accepted, address)
        self._delayed = False
        self.resume()

    def _admit(self, accepted: socket.socket, address: Any) -> None:
        """Opens an accepted connection, or closes it if its address has reached max.connections.per.ip. Raises no exception."""
        host, port, *_ = address
        quotas, node_id = self.broker.connections, self.broker.node_id
        if not quotas.take(host):
            accepted.close()
            text = "[KafkaServer id=%d] rejected a connection from %s: connection limit reached (max.connections.per.ip=%d)"
            log.info(text, node_id, host, quotas.limit_of(host))
            return
        try:
            self._open(accepted, host, port)
            return
        except OSError as error:
            log.info("[KafkaServer id=%d] closing a connection from %s: %s", node_id, host, error)
        except Exception:
            text = "[KafkaServer id=%d] closing a connection from %s: an internal error while accepting it"
            log.exception(text, node_id, host)
        accepted.close()
        self._server.listeners.release(self.broker, host)

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
