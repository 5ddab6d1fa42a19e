"""A broker process that raises injected errors: `python -m tests.broker.faulty_broker raise|spin`.

`raise` raises from every place where clients are served, some of the time and never while it serves the canaries: the connections that come
first, and those whose client id is not "victim". `spin` has a Heartbeat keep the event loop busy for ever.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator
from random import Random
from typing import Any

from odradek.broker import logs
from odradek.broker.api.context import Context
from odradek.broker.api.registry import Handler
from odradek.broker.connections.connection import Connection
from odradek.broker.handlers import HANDLERS
from odradek.broker.network.client_protocol import ClientProtocol
from odradek.broker.network.listeners import Listeners
from odradek.broker.network.server import Server, ServerOptions
from odradek.broker.network.socket_acceptor import SocketAcceptor
from odradek.broker.process.serving import run
from odradek.broker.scheduling.waiting import NEXT_TURN, Wait
from odradek.broker.settings.cluster_config import TopicSpec, cluster_of
from odradek.protocol.messages.heartbeat import HEARTBEAT
from odradek.protocol.messages.leave_group import LEAVE_GROUP
from odradek.protocol.messages.list_groups import LIST_GROUPS

CANARIES = 3
PLACES = ("handler", "waiter", "slice", "timer", "flush", "connection_made", "connection_lost", "accept", "background")
SETTINGS = {"listeners": "PLAINTEXT://127.0.0.1:0", "max.connections": "40"}

random = Random(1)


class Injected(Exception):
    """The error that this module injects."""


def fail(place: str, *, odds: float = 0.3) -> None:
    if random.random() < odds:
        raise Injected(f"injected into {place}")


def after(cls: type, name: str, hook: Callable[..., None]) -> None:
    """Calls `hook` after a method, with the same arguments."""
    method = getattr(cls, name)

    def replaced(self: Any, *arguments: Any, **options: Any) -> Any:
        result = method(self, *arguments, **options)
        hook(self, *arguments, **options)
        return result

    setattr(cls, name, replaced)


def failing_handler(request: Any, context: Context) -> None:
    fail("handler", odds=1)


def failing_waiter(request: Any, context: Context) -> Generator[Wait, None, None]:
    yield Wait((), context.now_ms + 1)
    fail("waiter", odds=1)


def failing_slices(request: Any, context: Context) -> Generator[Wait, None, None]:
    yield NEXT_TURN
    fail("slice", odds=1)


def fail_flush(client: ClientProtocol, *_: object) -> None:
    if client.connection.client.client_id == "victim":
        fail("flush")


def fail_lost(connection: Connection, reason: str, **_: object) -> None:
    if connection.client.client_id == "victim" and reason == "the client has disconnected":
        fail("connection_lost")


def fail_later_ones(place: str) -> Callable[..., None]:
    """Raises for connections that were opened after the canaries."""
    calls: list[object] = []

    def hook(*_: object, **__: object) -> None:
        calls.append(None)
        if len(calls) > CANARIES:
            fail(place)

    return hook


def fail_timers(server: Server) -> None:
    """Sets a timer that fails every few milliseconds, and starts background work that fails."""

    def ring() -> None:
        server.core.timers.set("faulty", 5, ring)
        server.cluster.background(failing_background())
        fail("timer", odds=1)

    server.core.timers.set("faulty", 5, ring)


def failing_background() -> Generator[Wait, None, None]:
    yield NEXT_TURN
    fail("background", odds=1)


def spin(request: Any, context: Context) -> None:
    while True:
        pass


def install(mode: str) -> None:
    rules = {HEARTBEAT: failing_handler, LEAVE_GROUP: failing_waiter, LIST_GROUPS: failing_slices} if mode == "raise" else {HEARTBEAT: spin}
    for api, rule in rules.items():
        HANDLERS[api.key] = Handler(api, rule)
    if mode == "raise":
        after(ClientProtocol, "_write", fail_flush)
        after(Connection, "lost", fail_lost)
        after(Listeners, "opened", fail_later_ones("connection_made"))
        fail_accept = fail_later_ones("accept")
        original = SocketAcceptor._open

        def open_or_fail(acceptor: SocketAcceptor, *arguments: Any) -> None:
            fail_accept()
            original(acceptor, *arguments)

        SocketAcceptor._open = open_or_fail  # type: ignore[method-assign, assignment]


def begin(server: Server, control: str | None) -> None:
    """Prints the address of the broker. In mode `raise`, its timers and its background work fail from then on."""
    if sys.argv[1] == "raise":
        fail_timers(server)
    sys.stdout.write(f"{server.bootstrap_servers}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    logs.configure("text")
    install(sys.argv[1])
    run(ServerOptions(cluster_of([SETTINGS], nodes=1), [TopicSpec("t", 1)]), on_ready=begin)
