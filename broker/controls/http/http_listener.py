"""A listener for HTTP on the cluster's event loop: its socket, its connections, and their limits. A subclass says what it serves."""

from __future__ import annotations

import asyncio
import logging
import ssl
from abc import ABC, abstractmethod

from ...network.socket_acceptor import bind
from ...settings.endpoints import bracket
from ...settings.listeners import Listener
from .connection import HttpConnection
from .requests import Request
from .responses import Problem, Response, Streaming

MAX_CONNECTIONS = 256
MAX_BODIES_BYTES = 64 * 1024 * 1024
"""The most bytes of bodies that all connections hold together."""


class HttpListener(ABC):
    """Serves HTTP at an address from `start` until `stop`. `name` is what log entries call it; with `tls`, clients connect by TLS."""

    def __init__(self, name: str, log: logging.Logger, host: str, port: int, tls: ssl.SSLContext | None = None) -> None:
        self.name = name
        self.log = log
        self.host = host
        self.port = port
        self._tls = tls
        self.connections: dict[HttpConnection, None] = {}
        """The open connections, the one that was used last at the end. Times would be equal within a millisecond on uvloop."""
        self.tasks: set[asyncio.Task[None]] = set()

    @abstractmethod
    def admit(self, request: Request) -> None:
        """Raises Problem for a request whose client has no access. The body has not been read yet."""

    @abstractmethod
    async def answer(self, request: Request) -> Response | Streaming:
        """Returns the response to a request."""

    @abstractmethod
    def may_be_cancelled(self, request: Request) -> bool:
        """Returns whether a request need not be carried out any more when its client ends the connection."""

    @abstractmethod
    def refusal(self, problem: Problem) -> Response:
        """Returns the response to a request that cannot be read or has no access."""

    async def start(self) -> None:
        """Accepts connections. Raises OSError if the address is in use."""
        bound = bind(Listener(0, "CONTROL", self.host, self.port, self.host, self.port))
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: HttpConnection(self), sock=bound, ssl=self._tls)
        self.address = f"{bracket(self.host)}:{bound.getsockname()[1]}"

    async def stop(self) -> None:
        """Closes the socket and the connections, and cancels the requests that are being answered."""
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self.connections:
            await asyncio.sleep(0)
        await self._server.wait_closed()

    def note_use(self, connection: HttpConnection) -> None:
        """Notes that a client has connected, has sent something or was answered."""
        self.connections.pop(connection, None)
        self.connections[connection] = None

    def make_room(self, added: HttpConnection) -> bool:
        """Keeps to MAX_CONNECTIONS by closing the connection that has been idle for longest. Returns False if all others are busy.

        A stream counts as idle if no other connection is, because it never ends by itself.
        """
        if len(self.connections) <= MAX_CONNECTIONS:
            return True
        others = [each for each in self.connections if each is not added and each.is_replaceable]
        if not others:
            return False
        replaced = min(others, key=lambda each: each.is_streaming)
        self.log.info("closing the connection that has been idle for longest: %s has %d connections", self.name, MAX_CONNECTIONS)
        self.end(replaced)
        return True

    def make_room_for_body(self, receiving: HttpConnection) -> bool:
        """Keeps to MAX_BODIES_BYTES by closing connections with incomplete bodies. Returns False if the others cannot be closed."""
        held = sum(each.held_bytes for each in self.connections)
        while held > MAX_BODIES_BYTES:
            others = [each for each in self.connections if each is not receiving and each.is_waiting and each.held_bytes]
            if not others:
                return False
            stalled = others[0]
            self.log.info("closing a connection with an incomplete body: %s holds %d bytes of bodies", self.name, held)
            held -= stalled.held_bytes
            self.end(stalled)
        return True

    def end(self, connection: HttpConnection) -> None:
        """Ends a connection, and no longer counts it."""
        self.connections.pop(connection, None)
        connection.abort()
