"""The control listener on the cluster's event loop: its socket, its connections, and what it serves."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from functools import cache, cached_property
from typing import TYPE_CHECKING

from ...network.server import Server
from ..cluster_controls import ClusterControls
from .access import AccessRules, ControlAddress
from .answering import answer
from .http_listener import HttpListener
from .openapi import OPENAPI_PATH, document
from .page_files import page_resources
from .reports import reports
from .requests import Request
from .responses import Problem, Response, Streaming, response_of
from .routes import JSON, Document, Report, Stream, may_be_cancelled, resource_of

log = logging.getLogger("odradek.control")

if TYPE_CHECKING:
    from .stream import WireStreams

STREAM_PATH, CHANGES_PATH, EVENT_STREAM = "/wire/stream", "/changes/stream", "text/event-stream"
CHANGE = b"event: change\ndata: {}\n\n"
KEEP_ALIVE = b":\n\n"
PAUSE_S = 0.25
"""Changes within this time are one event, because a busy cluster changes thousands of times in a second."""
KEEP_ALIVE_S = 15.0


class ControlListener(HttpListener):
    """Serves the controls of a cluster from `start` until `stop`."""

    def __init__(self, controls: ClusterControls, configured: ControlAddress) -> None:
        super().__init__("the control listener", log, configured.host, configured.port)
        self.controls = controls
        self.access = AccessRules(configured.host, configured.token)
        self.resources: dict[str, Document | Report | Stream] = {
            OPENAPI_PATH: Document(JSON, cache(lambda: json.dumps(document(configured.token is not None)).encode())),
            STREAM_PATH: Stream(EVENT_STREAM, self._wire_stream),
            **reports(controls),
            CHANGES_PATH: Stream(EVENT_STREAM, changes),
            **page_resources(),
        }

    def admit(self, request: Request) -> None:
        resource = resource_of(request, self.resources)
        self.access.check(request.headers, public=resource is not None and resource.public)

    async def answer(self, request: Request) -> Response | Streaming:
        return await answer(request, self.controls, self.resources)

    def may_be_cancelled(self, request: Request) -> bool:
        return may_be_cancelled(request)

    def refusal(self, problem: Problem) -> Response:
        return response_of(problem)

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
