"""The gate: the one place that each request and its response pass, between the connection and the handlers.

A cluster has no gate at first, and a connection then only tests that there is none. `faults/table.py` is a gate.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple, Protocol

from ...protocol.frame import Buffer, RequestHeader
from ...protocol.schema import Message
from ..cluster.broker import Broker
from ..scheduling.waiting import Wait
from .context import Client, Context, Parked
from .registry import Rule

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
