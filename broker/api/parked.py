"""The request in flight of a connection, from the moment when its handler or a shortcut waits until its response is written."""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from ...protocol.frame import RequestHeader, read_request_header
from ...protocol.schema import Message
from ..scheduling.waiting import Wait
from .context import Context, Waiting

if TYPE_CHECKING:
    from ..connections.connection import Connection


class Parked:
    """A request whose handler has not returned yet. `in_slices` is set once the handler has yielded NEXT_TURN."""

    __slots__ = ("connection", "context", "generator", "header", "in_slices", "keys", "request", "wait")

    def __init__(self, connection: Connection, header: RequestHeader, request: Message, context: Context, generator: Waiting) -> None:
        self.connection = connection
        self.header = header
        self.request = request
        self.context = context
        self.generator = generator
        self.wait: Wait | None = None
        self.keys: tuple[Hashable, ...] = ()
        self.in_slices = False


class Undecoded(Parked):
    """A request that a shortcut keeps waiting. Its header, message and context are set when one of them is first read.

    `frame` is a copy of its bytes, which the shortcut has compared with those of an earlier request, so that they can be decoded.
    """

    __slots__ = ("_frame",)

    def __init__(self, connection: Connection, frame: bytes, generator: Waiting) -> None:
        self.connection = connection
        self.generator = generator
        self.wait = None
        self.keys = ()
        self.in_slices = False
        self._frame = frame

    def __getattr__(self, name: str) -> Any:
        """Returns `header`, `request` or `context`. Python calls this method only if the attribute is not set yet."""
        frame, connection = memoryview(self._frame), self.connection
        self.header = header = read_request_header(frame)
        self.request = header.api.request.decoders[header.version](frame, header.position)[0]
        self.context = Context(header.version, connection.client, connection.broker, frame, True, None)
        return object.__getattribute__(self, name)
