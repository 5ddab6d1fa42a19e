"""The listeners of a cluster: their ports, the acceptors of the nodes that run, and the connections of their clients.

A node that is stopped keeps its ports: they are bound without listening for as long as the node exists, so that no other process gets them.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable
from itertools import chain
from typing import TYPE_CHECKING, Any

from ..cluster.broker import Broker
from ..connections.connection import Connection
from ..settings.cluster_config import NodeConfig
from .acceptor import Acceptor
from .client_protocol import ClientProtocol
from .edges import edge_of

if TYPE_CHECKING:
    from .capture import CaptureWriter
    from .server import Server

log = logging.getLogger("kafka.server.KafkaServer")


class Listeners:
    """The acceptors by nodes, and the connections that they have accepted.

    `ports` are reserved for all nodes, also for those that are stopped.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._edge = edge_of(asyncio.get_running_loop())
        self.ports = self._edge.ports()
        self._acceptors: dict[int, list[Acceptor[Any]]] = {}
        self._clients: dict[ClientProtocol, None] = {}  # no set, whose order would differ between runs of a seeded cluster

    async def open_node(self, node_id: int) -> None:
        """Listens on all listeners of a node. Raises OSError if it cannot listen."""
        broker = self._server.cluster.brokers[node_id]
        acceptors = self._acceptors[node_id] = []
        for listener in broker.listeners.values():
            acceptor = self._edge.acceptor(self._server, broker, listener)
            await acceptor.listen()
            acceptors.append(acceptor)
            acceptor.refuse(self._is_refused(acceptor))
            log.info("[KafkaServer id=%d] listening on %s://%s:%d", node_id, listener.name, listener.host, listener.port)

    async def close_node(self, node_id: int) -> None:
        """Closes the listeners and the connections of a node."""
        await self._close(node_id, self._acceptors.pop(node_id, ()))

    async def _close(self, node_id: int, acceptors: Iterable[Acceptor[Any]]) -> None:
        for acceptor in acceptors:
            await acceptor.close()
        for client in self._clients_of(node_id):
            client.abort("the node is stopped")
        while self._clients_of(node_id):
            await asyncio.sleep(0)

    async def close(self) -> None:
        """Closes all listeners and connections, and releases the ports."""
        for node_id in list(self._acceptors):
            await self.close_node(node_id)
        self.ports.release_all_but(())

    def silence_node(self, node_id: int) -> None:
        """Accepts no connections to a node, and neither reads nor writes the open ones."""
        for acceptor in self._acceptors[node_id]:
            acceptor.pause()
        for client in self._clients_of(node_id):
            client.silence()

    def end_silence(self, node_id: int) -> None:
        """Accepts, reads and writes connections to a node again."""
        for acceptor in self._acceptors[node_id]:
            acceptor.resume()
        for client in self._clients_of(node_id):
            client.end_silence()

    async def follow_nodes(self, nodes: Iterable[NodeConfig]) -> None:
        """Opens the listeners of nodes that are running, closes all others, and releases the ports that no node has any more.

        A node that was removed and added again had other ports than a state from before has.
        """
        brokers = self._server.cluster.brokers
        listening = {broker.node_id: list(broker.listeners.values()) for broker in brokers.values() if broker.running}
        left = [node_id for node_id, each in self._acceptors.items() if [acceptor.listener for acceptor in each] != listening.get(node_id)]
        closing = {node_id: self._acceptors.pop(node_id) for node_id in left}
        for acceptor in chain.from_iterable(closing.values()):
            acceptor.stop_listening()  # at once, because a node that was removed must not accept while another is closed
        for node_id, acceptors in closing.items():
            await self._close(node_id, acceptors)
        for broker in brokers.values():
            if broker.running and broker.node_id not in self._acceptors:
                await self.open_node(broker.node_id)
            for acceptor in self._acceptors.get(broker.node_id, ()):
                acceptor.drop_held()
                acceptor.resume() if broker.silence is None else acceptor.pause()
        self.ports.release_all_but({listener for node in nodes for listener in node.listeners})

    def refuse_or_listen(self) -> None:
        """Lets each listener refuse connections, or not, as the faults say."""
        for node_id, acceptors in self._acceptors.items():
            if node_id in self._server.cluster.brokers:  # a state that is being restored may lack a node that still listens
                for acceptor in acceptors:
                    acceptor.refuse(self._is_refused(acceptor))

    def _is_refused(self, acceptor: Acceptor[Any]) -> bool:
        gate = self._server.core.gate
        return gate is not None and gate.refuses(acceptor.broker, acceptor.name)

    def connections(self) -> list[Connection]:
        """Returns the open connections in the order in which they were accepted."""
        connections = [client.connection for client in self._clients]
        return sorted(connections, key=lambda connection: connection.client.connection_id)

    def reset_connections(self, reason: str) -> None:
        """Closes all connections with RST."""
        for client in list(self._clients):
            client.reset(reason)

    def follow(self, capture: CaptureWriter | None) -> None:
        """Begins to write what happens on all connections to a capture, or stops it with None."""
        for client in self._clients:
            client.follow(capture)

    def opened(self, client: ClientProtocol) -> None:
        self._server.keep_state_after_start()
        self._clients[client] = None

    def closed(self, client: ClientProtocol) -> None:
        self._clients.pop(client, None)
        self.release(client.broker, client.host)

    def release(self, broker: Broker, host: str) -> None:
        """Releases the place of a closed connection and resumes acceptors that were at their limit."""
        broker.connections.release(host)
        for acceptor in self._acceptors.get(broker.node_id, ()):
            acceptor.resume()

    def _clients_of(self, node_id: int) -> list[ClientProtocol]:
        return [client for client in self._clients if client.broker.node_id == node_id]
