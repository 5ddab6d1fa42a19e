"""Controls of nodes: they stop, fail, lose their network, return, join and leave.

A node that fails is noticed by the others only when its session expires after broker.session.timeout.ms of the cluster's time. A paused and
an isolated node look the same to clients, which can connect and get no answer. Their names state what a test is about: a process that
hangs, or a network that is cut, behind which the node believes that it still leads. When it returns, it learns that it was fenced before
it serves anyone, drops the records that the new leaders do not have, and follows them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from ..cluster.silence import Silence
from ..control_errors import InvalidControl, unknown
from .declaration import Controls, control
from .parameters import NodeId

if TYPE_CHECKING:
    from ..cluster.broker import Broker

MAX_NODE_ID = 999_999_999


class NodeControls(Controls):
    """The nodes of a cluster."""

    @control("node stop")
    async def stop_node(
        self,
        node: NodeId,
        *,
        graceful: Annotated[bool, "move leaders at once; otherwise, when the node's session expires, as after a crash"] = True,
    ) -> None:
        """Stops a node: closes its connections and moves its partitions and groups to other nodes. Does nothing if it is stopped.

        A controlled shutdown moves leaders at once. With `graceful=False` they move after broker.session.timeout.ms.
        """
        broker = self._broker(node)
        if graceful and broker.silence is not None:
            raise InvalidControl("graceful", f"node {node} is {broker.silence.value} and cannot shut down; use graceful=False")
        await self._server.nodes.stop(node, graceful=graceful)

    @control("node start")
    async def start_node(self, node: NodeId) -> None:
        """Starts a stopped node on the same ports as before and returns once it accepts connections. Does nothing if it is running.

        Its replicas are in sync at once. It leads again when preferred leaders are elected.
        """
        broker = self._broker(node)
        if broker.silence is not None:
            raise InvalidControl("node", f"node {node} is {broker.silence.value}, not stopped; {remedy(broker.silence)}")
        await self._server.nodes.start(node)

    @control("node pause")
    async def pause_node(self, node: NodeId) -> None:
        """Suspends a node, as SIGSTOP does: clients can connect, but get no answer. Does nothing if it is paused.

        Its followers stop, and its partitions elect other leaders when its session expires after broker.session.timeout.ms.
        """
        self._silence(node, Silence.PAUSED)

    @control("node resume")
    async def resume_node(self, node: NodeId) -> None:
        """Continues a paused node. It catches up at once, and serves the requests of clients that have not given up."""
        self._end_silence(node, Silence.PAUSED)

    @control("node isolate")
    async def isolate(self, node: NodeId) -> None:
        """Cuts a node off from clients and from the other nodes. It believes that it still leads. Does nothing if it is isolated.

        Its partitions elect other leaders when its session expires after broker.session.timeout.ms.
        """
        self._silence(node, Silence.ISOLATED)

    @control("node rejoin")
    async def rejoin(self, node: NodeId) -> None:
        """Reconnects an isolated node. It learns that it was fenced, drops records that its partitions' leaders lack, and catches up."""
        self._end_silence(node, Silence.ISOLATED)

    @control("node add")
    async def add_node(
        self,
        node: Annotated[int | None, "the id of the new node; by default the next one"] = None,
        *,
        rack: Annotated[str | None, "its rack (broker.rack)"] = None,
    ) -> int:
        """Adds a node with the settings of the first one, on free ports, and returns its id.

        It is part of metadata at once. It has no replicas until topics are created or `set_replicas` moves some to it.
        """
        server = self._server
        nodes = server.cluster.brokers
        if node is None:
            node = max(nodes) + 1
        if node in nodes:
            raise InvalidControl("node", f"there is a node {node} already; leave the id out to get the next one")
        if not 0 <= node <= MAX_NODE_ID:
            raise InvalidControl("node", f"an id must be from 0 to {MAX_NODE_ID}, not {node}")
        await server.nodes.add(server.config.nodes[0].sibling(node, rack))
        return node

    @control("node remove")
    async def remove_node(self, node: NodeId) -> None:
        """Removes a node for good. Its replicas move to the other nodes first, so that no records are lost.

        A partition that has replicas on all nodes has one replica less afterwards. The last running node cannot be removed, nor one that
        has stopped with the only in-sync replica of a partition.
        """
        broker, cluster = self._broker(node), self._server.cluster
        if broker.silence is not None:
            raise InvalidControl("node", f"node {node} is {broker.silence.value}; {remedy(broker.silence)}")
        if not any(each.running and each.silence is None for each in cluster.brokers.values() if each is not broker):
            raise InvalidControl("node", f"node {node} is the last one that is running")
        if not broker.running:
            for partition in cluster.topics.partitions():
                if node in partition.replicas and not set(partition.isr) - {node}:
                    raise InvalidControl("node", f"only the stopped node {node} has the records of {partition}; start it first")
        await self._server.nodes.remove(node)

    def _silence(self, node: int, kind: Silence) -> None:
        broker = self._broker(node)
        if not broker.running:
            raise InvalidControl("node", f"node {node} is stopped; only a running node can be {kind.value}")
        if broker.silence not in (None, kind):
            raise InvalidControl("node", f"node {node} is {broker.silence.value} already; {remedy(broker.silence)}")
        if broker.silence is None:
            self._server.nodes.silence(node, kind)

    def _end_silence(self, node: int, kind: Silence) -> None:
        broker = self._broker(node)
        if broker.silence is not kind:
            state = broker.silence.value if broker.silence else "running" if broker.running else "stopped"
            raise InvalidControl("node", f"node {node} is not {kind.value} but {state}")
        self._server.nodes.end_silence(node)

    def _broker(self, node: int) -> Broker:
        """Returns a node of the cluster. Raises InvalidControl for an unknown id."""
        brokers = self._server.cluster.brokers
        if node not in brokers:
            raise unknown("node", "node", node, brokers)
        return brokers[node]


def remedy(silence: Silence) -> str:
    """Returns which control ends a silence."""
    return "use resume_node" if silence is Silence.PAUSED else "use rejoin"
