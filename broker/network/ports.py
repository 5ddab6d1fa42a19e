"""The ports of a cluster's nodes. They are bound without listening, so that no other process gets them while a node is stopped."""

from __future__ import annotations

import socket
from collections.abc import Container, Iterable

from ..settings.cluster_config import NodeConfig
from ..settings.listeners import Listener
from .acceptor import bind


class ReservedPorts:
    """The bound sockets of all listeners."""

    def __init__(self) -> None:
        self._sockets: dict[Listener, socket.socket] = {}

    def reserve(self, node: NodeConfig) -> NodeConfig:
        """Binds a node's ports, and returns the node with the ports that the kernel has chosen for port 0. Raises OSError."""
        bound = []
        for listener in node.listeners:
            reserved = bind(listener)
            bound.append(listener.bound(reserved.getsockname()[1]))
            self._sockets[bound[-1]] = reserved
        return node.bound(bound)

    def reserve_again(self, nodes: Iterable[NodeConfig]) -> None:
        """Binds the ports of those nodes whose ports were released. Raises OSError, and binds none, if one is in use."""
        missing = [node for node in nodes if not self._sockets.keys() >= set(node.listeners)]
        try:
            for node in missing:
                self.reserve(node)
        except OSError:
            self.release(missing)
            raise

    def release(self, nodes: Iterable[NodeConfig]) -> None:
        """Releases the ports of nodes."""
        for listener in [listener for node in nodes for listener in node.listeners if listener in self._sockets]:
            self._sockets.pop(listener).close()

    def release_all_but(self, listeners: Container[Listener]) -> None:
        """Releases all ports except those of these listeners."""
        for listener in [listener for listener in self._sockets if listener not in listeners]:
            self._sockets.pop(listener).close()
