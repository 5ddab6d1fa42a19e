"""Controls that stop and start nodes."""

from __future__ import annotations

from ..cluster.broker import Broker
from ..control_errors import unknown
from .declaration import Controls, control
from .parameters import NodeId


class NodeControls(Controls):
    """Stopping and starting the nodes of a cluster."""

    @control("node stop")
    async def stop_node(self, node: NodeId) -> None:
        """Stops a broker: closes its connections and moves its partitions and groups to other brokers.

        Raises ValueError for an unknown id, and if the cluster is not running.
        """
        self._broker(node)
        await self._server.stop_node(node)

    @control("node start")
    async def start_node(self, node: NodeId) -> None:
        """Starts a stopped broker on the same port as before and returns once it accepts connections.

        Raises ValueError for an unknown id, and if the cluster is not running.
        """
        self._broker(node)
        await self._server.start_node(node)

    def _broker(self, node: int) -> Broker:
        """Returns a node of the cluster. Raises InvalidControl for an unknown id."""
        brokers = self._server.cluster.brokers
        if node not in brokers:
            raise unknown("node", "node", node, brokers)
        return brokers[node]
