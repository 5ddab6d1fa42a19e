"""Starts, stops, silences, adds and removes nodes. The sockets of a node and its place in the cluster change together.

The controls check their arguments before they call these methods.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

from ..cluster.broker import Broker
from ..cluster.silence import Silence
from ..settings.cluster_config import NodeConfig

if TYPE_CHECKING:
    from .server import Server


class NodeOperations:
    """The operations on the nodes of a running server. Each is a turn of its own and an event of the record."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self.changing = asyncio.Lock()
        """Held by operations that close or open listeners, because they wait in between, and the cluster must not be replaced meanwhile."""

    async def stop(self, node_id: int, *, graceful: bool = True) -> None:
        """Closes a node's listeners and connections and moves its leaderships; unless `graceful`, only when its session expires.

        Does nothing if the node is stopped. Raises ValueError for an unknown id.
        """
        server = self._server
        async with self.changing:
            if self._broker(node_id).running:
                with server.control_turn(f"stopping node {node_id}"):
                    await server.listeners.close_node(node_id)
                    server.cluster.nodes.stop(node_id, graceful=graceful)

    async def start(self, node_id: int) -> None:
        """Starts a node on the same ports as before. Does nothing if the node is running. Raises ValueError for an unknown id."""
        server = self._server
        async with self.changing:
            if not self._broker(node_id).running:
                with server.control_turn(f"starting node {node_id}"):
                    try:
                        await server.listeners.open_node(node_id)
                        server.cluster.nodes.start(node_id)
                    except BaseException:
                        await server.listeners.close_node(node_id)
                        raise

    def silence(self, node_id: int, kind: Silence) -> None:
        """Pauses or isolates a running node: its connections stay open, but they are neither read nor answered."""
        with self._server.control_turn(f"silencing node {node_id}"):
            self._server.cluster.nodes.silence(node_id, kind)
            self._server.listeners.silence_node(node_id)

    def end_silence(self, node_id: int) -> None:
        """Ends the silence of a node, which has learned of all changes before it serves its clients again."""
        with self._server.control_turn(f"ending the silence of node {node_id}"):
            self._server.cluster.nodes.start(node_id)
            self._server.listeners.end_silence(node_id)

    async def add(self, node: NodeConfig) -> None:
        """Adds a node to the cluster, on ports that the kernel chooses. Raises OSError if it cannot listen."""
        server, listeners = self._server, self._server.listeners
        async with self.changing:
            with server.control_turn(f"adding node {node.node_id}"):
                bound = await listeners.ports.reserve(node)
                try:
                    server.cluster.nodes.add(bound)
                    await listeners.open_node(bound.node_id)
                except BaseException:
                    await listeners.close_node(bound.node_id)
                    server.cluster.brokers.pop(bound.node_id, None)
                    listeners.ports.release([bound])
                    raise
                server.config = replace(server.config, nodes=(*server.config.nodes, bound))

    async def remove(self, node_id: int) -> None:
        """Moves a node's replicas to other nodes, closes its listeners and connections, and removes it."""
        server, listeners = self._server, self._server.listeners
        async with self.changing:
            with server.control_turn(f"removing node {node_id}"):
                await listeners.close_node(node_id)
                server.cluster.nodes.remove(node_id)
                (removed,) = (node for node in server.config.nodes if node.node_id == node_id)
                listeners.ports.release([removed])
                server.config = replace(server.config, nodes=tuple(node for node in server.config.nodes if node is not removed))

    def _broker(self, node_id: int) -> Broker:
        brokers = self._server.cluster.brokers
        if node_id not in brokers:
            raise ValueError(f"there is no node {node_id!r}; the nodes are {sorted(brokers)}")
        return brokers[node_id]
