"""The control listener on the cluster's event loop: its socket, its connections, and what it serves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from functools import cache, cached_property
from typing import TYPE_CHECKING

from ...network.server import Server
from ...network.socket_acceptor import bind
from ...settings.listeners import Listener
from ..cluster_controls import ClusterControls
from .access import AccessRules, ControlAddress
from .connection import ControlConnection
from .openapi import OPENAPI_PATH, document
from .page_files import page_resources
from .reports import reports
from .requests import Request
from .routes import JSON, Report, Resource, Stream

log = logging.getLogger("odradek.control")

if TYPE_CHECKING:
    from .stream import WireStreams

MAX_CONNECTIONS = 256
MAX_BODIES_BYTES = 64 * 1024 * 1024
"""The most bytes of bodies that all connections hold together."""
STREAM_PATH, CHANGES_PATH, EVENT_STREAM = "/wire/stream", "/changes/stream", "text/event-stream"
CHANGE = b"event: change\ndata: {}\n\n"
KEEP_ALIVE = b":\n\n"
PAUSE_S = 0.25
"""Changes within this time are one event, because a busy cluster changes thousands of times in a second."""
KEEP_ALIVE_S = 15.0


class ControlListener:
    """Serves the controls of a cluster from `start` until `stop`."""

    def __init__(self, controls: ClusterControls, configured: ControlAddress) -> None:
        self.controls = controls
        self.access = AccessRules(configured.host, configured.token)
        self.resources: dict[str, Resource | Report | Stream] = {
            OPENAPI_PATH: Resource(JSON, cache(lambda: json.dumps(document(configured.token is not None)).encode())),
            STREAM_PATH: Stream(EVENT_STREAM, self._wire_stream),
            **reports(controls),
            CHANGES_PATH: Stream(EVENT_STREAM, changes),
            **page_resources(),
        }
        self.connections: dict[ControlConnection, None] = {}
        """The open connections, the one that was used last at the end. Times would be equal within a millisecond on uvloop."""
        self.tasks: set[asyncio.Task[None]] = set()
        self._configured = configured

    async def start(self) -> None:
        """Accepts connections. Raises OSError if the address is in use."""
        host, port, _ = self._configured
        bound = bind(Listener(0, "CONTROL", host, port, host, port))
        self._server = await asyncio.get_running_loop().create_server(lambda: ControlConnection(self), sock=bound)
        self.address = self._configured.bound_to(bound.getsockname()[1])

    async def stop(self) -> None:
        """Closes the socket and the connections, and cancels the controls that run."""
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self.connections:
            await asyncio.sleep(0)
        await self._server.wait_closed()

    def note_use(self, connection: ControlConnection) -> None:
        """Notes that a client has connected, has sent something or was answered."""
        self.connections.pop(connection, None)
        self.connections[connection] = None

    def make_room(self, added: ControlConnection) -> bool:
        """Keeps to MAX_CONNECTIONS by closing the connection that has been idle for longest. Returns False if all others are busy.

        A stream counts as idle if no other connection is, because it never ends by itself.
        """
        if len(self.connections) <= MAX_CONNECTIONS:
            return True
        others = [each for each in self.connections if each is not added and each.is_replaceable]
        if not others:
            return False
        replaced = min(others, key=lambda each: each.is_streaming)
        log.info("closing the connection that has been idle for longest: the control listener has %d connections", MAX_CONNECTIONS)
        self.end(replaced)
        return True

    def make_room_for_body(self, receiving: ControlConnection) -> bool:
        """Keeps to MAX_BODIES_BYTES by closing connections with incomplete bodies. Returns False if the others cannot be closed."""
        held = sum(each.held_bytes for each in self.connections)
        while held > MAX_BODIES_BYTES:
            others = [each for each in self.connections if each is not receiving and each.is_waiting and each.held_bytes]
            if not others:
                return False
            stalled = others[0]
            log.info("closing a connection with an incomplete body: the control listener holds %d bytes of bodies", held)
            held -= stalled.held_bytes
            self.end(stalled)
        return True

    def end(self, connection: ControlConnection) -> None:
        """Ends a connection, and no longer counts it."""
        self.connections.pop(connection, None)
        connection.abort()

    def _wire_stream(self, request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
        return self._wire_streams.open(request, controls._server)

    @cached_property
    def _wire_streams(self) -> WireStreams:
        from .stream import WireStreams

        return WireStreams()


async def changes(_request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
    """Yields an event at once, and then whenever the cluster may have changed, so that the page reads its view again.

    There are at most four events in a second. An event says only that there was a turn of the event loop in which something could change.
    While there is none, comments are sent, because the end of a connection is noticed only by writing to it.
    """
    while True:
        changed = controls._server.driver.next_change()
        yield CHANGE
        await asyncio.sleep(PAUSE_S)
        while not changed.done():
            await asyncio.wait([changed], timeout=KEEP_ALIVE_S)
            if not changed.done():
                yield KEEP_ALIVE


class ServedControls(ClusterControls):
    """The controls of a server that no `AsyncCluster` owns, such as that of `odradek serve`."""

    def __init__(self, server: Server) -> None:
        self._served = server

    @property
    def _server(self) -> Server:
        return self._served


async def serve_controls(server: Server, address: ControlAddress) -> ControlListener:
    """Returns a control listener that accepts connections. Raises OSError if the address is in use."""
    listener = ControlListener(ServedControls(server), address)
    await listener.start()
    return listener
