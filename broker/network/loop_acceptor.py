"""Accepts connections by `loop.create_server`, on event loops that cannot watch sockets, such as one whose network is in memory.

The event loop accepts a connection before anybody is asked. Connections that the node does not take yet wait here without being read,
which looks to their clients like the queue of the kernel.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import TYPE_CHECKING, Any, cast

from ..cluster.broker import Broker
from ..settings.cluster_config import NodeConfig
from ..settings.listeners import TLS_PROTOCOLS, Listener
from .acceptor import Acceptor
from .client_protocol import ClientProtocol

if TYPE_CHECKING:
    from .server import Server


class LoopPorts:
    """Learns the numbers of ports from the event loop. A node that is stopped does not keep its port."""

    async def reserve(self, node: NodeConfig) -> NodeConfig:
        """Returns a node with the ports that the event loop has chosen for port 0. Raises OSError."""
        return node.with_listeners([listener.with_port(await _free_port(listener)) for listener in node.listeners])

    def reserve_again(self, nodes: Iterable[NodeConfig]) -> None:
        """Does nothing, because no port is reserved."""

    def release(self, nodes: Iterable[NodeConfig]) -> None:
        """Does nothing, because no port is reserved."""

    def release_all_but(self, listeners: Container[Listener]) -> None:
        """Does nothing, because no port is reserved."""


async def _free_port(listener: Listener) -> int:
    """Returns the port of a listener, or one that the event loop has chosen for port 0. Raises OSError."""
    if listener.port:
        return listener.port
    server = await asyncio.get_running_loop().create_server(asyncio.Protocol, listener.host, 0)
    port: int = server.sockets[0].getsockname()[1]
    server.close()
    if not port:
        raise OSError(f'the event loop chooses no free port; name one: settings={{"listeners": "{listener.name}://{listener.host}:9092"}}')
    return port


class LoopAcceptor(Acceptor[asyncio.Transport]):
    """Listens on one listener of a node. Connections that it does not take yet wait in `_queue`."""

    def __init__(self, server: Server, broker: Broker, listener: Listener) -> None:
        super().__init__(server, broker, listener)
        self._serving: asyncio.AbstractServer | None = None
        self._beginning: asyncio.Task[None] | None = None
        self._queue: dict[asyncio.Transport, None] = {}

    async def listen(self) -> None:
        tls = self._server.security.tls if self.listener.security_protocol in TLS_PROTOCOLS else None
        context = None if tls is None else tls.get(self.broker, self.listener)
        host = self.listener.host or "0.0.0.0"
        self._serving = await self._loop.create_server(lambda: Arrival(self), host, self.listener.port, ssl=context)
        self._paused = True
        self.resume()

    async def close(self) -> None:
        """Stops listening, and closes the connections that wait."""
        await super().close()
        for waiting in self._queue:
            waiting.abort()

    @property
    def _listens(self) -> bool:
        return self._serving is not None

    def stop_listening(self) -> None:
        if self._beginning is not None:
            self._beginning.cancel()
        if self._serving is not None:
            self._serving.close()
            self._serving = None

    def refuse(self, refused: bool) -> None:
        if refused:
            self.stop_listening()
        elif not self._listens:
            self._beginning = self._loop.create_task(self.listen())

    def _watch(self) -> None:
        if self._queue:
            self._loop.call_soon(self._accept_waiting)

    def _unwatch(self) -> None:
        """Does nothing, because the event loop cannot be told to let connections wait."""

    def _next(self) -> tuple[asyncio.Transport, Any]:
        if not self._queue:
            raise BlockingIOError
        transport = next(iter(self._queue))
        del self._queue[transport]
        return transport, transport.get_extra_info("peername")

    def arrived(self, transport: asyncio.Transport) -> None:
        """Opens a connection, or lets it wait while accepting is paused."""
        transport.pause_reading()
        self._queue[transport] = None
        self._accept_waiting()

    def left(self, transport: asyncio.Transport) -> None:
        """Forgets a connection that its client has closed before it was opened."""
        self._queue.pop(transport, None)

    def _accept_waiting(self) -> None:
        while self._queue and self._listens and not self._paused:
            self._accept()

    def _open(self, accepted: asyncio.Transport, host: str, port: int) -> None:
        if accepted.is_closing():
            raise ConnectionResetError("the client has disconnected")
        protocol = ClientProtocol(self._server, self.broker, self.name, host, port)
        accepted.set_protocol(protocol)
        accepted.resume_reading()  # the first bytes come in a later callback
        protocol.connection_made(accepted)


class Arrival(asyncio.Protocol):
    """The protocol of a connection until it is opened."""

    def __init__(self, acceptor: LoopAcceptor) -> None:
        self._acceptor = acceptor
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._acceptor.arrived(self._transport)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002
        if self._transport is not None:
            self._acceptor.left(self._transport)
