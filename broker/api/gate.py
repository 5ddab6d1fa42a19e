"""The gate: the one place that each request and its response pass, between the connection and the handlers. Also, the requests that wait.

A cluster has no gate at first, and a connection then only tests that there is none. `faults/table.py` is a gate.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ...protocol.frame import Buffer, RequestHeader, read_request_header
from ...protocol.schema import Message
from ..cluster.broker import Broker
from ..scheduling.waiting import Wait
from .context import Client, Context, Waiting
from .registry import Rule

if TYPE_CHECKING:
    from ..cluster.state import ClusterState

Answering = Generator[Wait, None, Message | None]
"""A handler that waits: it yields `Wait`s and returns the response, or None if there is none to write."""


class Sparing:
    """Requests of a connection that pass without being decoded, because the gate let one like them pass while it had the same `state`.

    `count` is their number since the last decoded request.
    """

    __slots__ = ("count", "state")

    def __init__(self, state: object = None) -> None:
        self.state = state
        self.count = 0


class Channel(Protocol):
    """A connection, as far as a gate uses it."""

    client: Client
    broker: Broker
    sparing: Sparing

    @property
    def parked(self) -> Parked | None:
        """The request in flight, if its handler has not returned yet."""

    def resume_parked(self, parked: Parked) -> None:
        """Continues a request that was woken or whose turn has come. Does nothing unless it is the request in flight."""

    def write(self, parts: list[Buffer]) -> None:
        """Queues bytes for the peer. They are written at the end of the turn."""

    def touch(self) -> None:
        """Restarts the time after which the connection is closed as idle."""

    def forget_shortcut(self) -> None:
        """Drops the shortcut, so that requests are decoded until a handler stores a new one."""

    def struck(self, fault: str) -> None:
        """Writes down that a fault has hit the request in flight."""

    def mute(self, milliseconds: int) -> None:
        """Holds back the requests that follow the current one, for the given time (KIP-219)."""


class Parked:
    """A request from the moment when its handler or a shortcut waits until its response is written.

    `generator` is the handler, which a gate may wrap. `in_slices` is set once it has yielded NEXT_TURN.
    """

    __slots__ = ("connection", "context", "generator", "header", "in_slices", "keys", "request", "wait")

    def __init__(self, connection: Channel, header: RequestHeader, request: Message, context: Context, generator: Waiting) -> None:
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

    __slots__ = ("_cluster", "_frame")

    def __init__(self, connection: Channel, cluster: ClusterState, frame: bytes, generator: Waiting) -> None:
        self.connection = connection
        self.generator = generator
        self.wait = None
        self.keys = ()
        self.in_slices = False
        self._cluster = cluster
        self._frame = frame

    def __getattr__(self, name: str) -> Any:
        """Returns `header`, `request` or `context`. Python calls this method only if the attribute is not set yet."""
        frame, connection = memoryview(self._frame), self.connection
        self.header = header = read_request_header(frame)
        self.request = header.api.request.decoders[header.version](frame, header.position)[0]
        self.context = Context(header.version, connection.client, self._cluster, connection.broker, frame, True, None)
        return object.__getattribute__(self, name)


class Asked(NamedTuple):
    """A request with its connection, and the function that serves it."""

    channel: Channel
    header: RequestHeader
    request: Message
    context: Context
    rule: Rule


class Gate(Protocol):
    """The interface of a gate to connections and to the core."""

    @property
    def state(self) -> object:
        """An object that is replaced when the gate begins to act on other requests. It is never None."""

    def serve(self, asked: Asked) -> Message | Answering | None:
        """Serves a request, as a handler does. Raises what the handler raises."""

    def opened(self, channel: Channel, broker: Broker) -> None:
        """Called for each new connection. Raises CloseConnection to refuse it."""

    def closed(self, channel: Channel) -> None:
        """Called for each connection that ends."""

    def refuses(self, broker: Broker, listener_name: str) -> bool:
        """Returns whether a listener of a broker does not listen."""
