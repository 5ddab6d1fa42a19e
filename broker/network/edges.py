"""Says how a cluster accepts connections: on sockets of its own if the event loop can watch them, otherwise by `loop.create_server`."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container, Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..cluster.broker import Broker
from ..settings.cluster_config import NodeConfig
from ..settings.listeners import Listener
from .acceptor import Acceptor

if TYPE_CHECKING:
    from .server import Server


class Ports(Protocol):
    """The ports of all nodes."""

    async def reserve(self, node: NodeConfig) -> NodeConfig:
        """Returns a node with a number for each port 0. Raises OSError."""

    def reserve_again(self, nodes: Iterable[NodeConfig]) -> None:
        """Reserves the ports of those nodes whose ports were released. Raises OSError, and reserves none, if one is in use."""

    def release(self, nodes: Iterable[NodeConfig]) -> None:
        """Releases the ports of nodes."""

    def release_all_but(self, listeners: Container[Listener]) -> None:
        """Releases all ports except those of these listeners."""


class Edge(NamedTuple):
    """The functions that make the ports of a cluster and the acceptor of a listener."""

    ports: Callable[[], Ports]
    acceptor: Callable[[Server, Broker, Listener], Acceptor[Any]]


def edge_of(loop: asyncio.AbstractEventLoop) -> Edge:
    """Returns how connections are accepted on an event loop."""
    if isinstance(loop, asyncio.SelectorEventLoop) or type(loop).__module__.startswith("uvloop"):
        from .socket_acceptor import ReservedPorts, SocketAcceptor

        return Edge(ReservedPorts, SocketAcceptor)
    from .loop_acceptor import LoopAcceptor, LoopPorts

    return Edge(LoopPorts, LoopAcceptor)
