"""The control listener on the cluster's event loop: its socket, its connections, and what it serves."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator
from functools import cache, cached_property
from typing import TYPE_CHECKING

from ..controls.cluster_controls import ClusterControls
from ..network.acceptor import bind
from ..settings.listeners import Listener
from .access import Access
from .address import ControlAddress
from .changes import CHANGES_PATH, changes
from .connection import ControlConnection
from .openapi import OPENAPI_PATH, document
from .page_files import page_resources
from .reports import reports
from .requests import Request
from .routes import JSON, Report, Resource, Stream

if TYPE_CHECKING:
    from .stream import WireStreams

MAX_CONNECTIONS = 256
STREAM_PATH, EVENT_STREAM = "/wire/stream", "text/event-stream"


class ControlListener:
    """Serves the controls of a cluster from `start` until `stop`."""

    def __init__(self, controls: ClusterControls, configured: ControlAddress) -> None:
        self.controls = controls
        self.access = Access(configured.host, configured.token)
        self.resources: dict[str, Resource | Report | Stream] = {
            OPENAPI_PATH: Resource(JSON, cache(lambda: json.dumps(document(configured.token is not None)).encode())),
            STREAM_PATH: Stream(EVENT_STREAM, self._wire_stream),
            **reports(controls),
            CHANGES_PATH: Stream(EVENT_STREAM, changes),
            **page_resources(),
        }
        self.connections: set[ControlConnection] = set()
        self.tasks: set[asyncio.Task[None]] = set()
        self._configured = configured

    async def start(self) -> None:
        """Accepts connections. Raises OSError if the address is in use."""
        host, port, _ = self._configured
        bound = bind(Listener(0, "CONTROL", host, port, host, port))
        self._server = await asyncio.get_running_loop().create_server(lambda: ControlConnection(self), sock=bound)
        self.address = self._configured.bound(bound.getsockname()[1])

    async def stop(self) -> None:
        """Closes the socket and the connections, and cancels the controls that run."""
        self._server.close()
        for connection in list(self.connections):
            connection.abort()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        while self.connections:
            await asyncio.sleep(0)
        await self._server.wait_closed()

    @property
    def is_full(self) -> bool:
        return len(self.connections) > MAX_CONNECTIONS

    def _wire_stream(self, request: Request, controls: ClusterControls) -> AsyncGenerator[bytes, None]:
        return self._wire_streams.open(request, controls._server)

    @cached_property
    def _wire_streams(self) -> WireStreams:
        from .stream import WireStreams  # imported when it is first needed, with the modules that show the wire

        return WireStreams()
