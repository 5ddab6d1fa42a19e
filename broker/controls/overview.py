"""Controls that describe the cluster as a whole and its nodes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ... import __version__
from ..frozen_data import FrozenData
from ..plurals import counted
from .declaration import Controls, control
from .waiting import in_turns

if TYPE_CHECKING:
    from ..cluster.broker import Broker
    from ..cluster.state import ClusterState
    from ..topics.partition import Partition


class ListenerInfo(FrozenData):
    """One listener of a node, with the address on which it listens and the one that it advertises to clients."""

    name: str
    security_protocol: str
    host: str
    port: int
    advertised: str


class NodeInfo(FrozenData):
    """One node. `state` is running, stopped, paused or isolated.

    `fenced` says whether the controller considers the node dead, which it learns when the node's session expires. `leaders` and `replicas`
    are numbers of partitions, and `out_of_sync` is the number of the replicas that are not in sync.
    """

    node: int
    state: str
    fenced: bool
    controller: bool
    rack: str | None
    listeners: list[ListenerInfo]
    leaders: int
    replicas: int
    out_of_sync: int
    connections: int


class ClusterInfo(FrozenData):
    """The cluster. `problems` says in words what is not as it should be; it is empty for a healthy cluster.

    `log_bytes` is the size of all logs, and `max_memory_bytes` the limit of their memory, None if there is none.
    """

    version: str
    cluster_id: str
    controller: int
    bootstrap_servers: str
    nodes: int
    topics: int
    partitions: int
    groups: int
    connections: int
    log_bytes: int
    max_memory_bytes: int | None
    problems: list[str]


class Census:
    """Numbers of partitions and replicas, by node and by problem."""

    def __init__(self) -> None:
        self.partitions = self.log_bytes = self.without_leader = self.under_min_isr = self.under_replicated = 0
        self.leaders: Counter[int] = Counter()
        self.replicas: Counter[int] = Counter()
        self.in_sync: Counter[int] = Counter()

    def add(self, partition: Partition) -> None:
        self.partitions += 1
        self.log_bytes += partition.log.size
        self.without_leader += not partition.has_leader
        self.under_min_isr += len(partition.isr) < partition.min_isr
        self.under_replicated += len(partition.isr) < len(partition.replicas)
        self.leaders[partition.leader] += 1
        self.replicas.update(partition.replicas)
        self.in_sync.update(partition.isr)


class OverviewControls(Controls):
    """The cluster as a whole, and its nodes."""

    @control("cluster show", reads=True)
    async def status(self) -> ClusterInfo:
        """Returns the identity of the cluster, its size, and its problems."""
        census, server = await self._census(), self._server
        cluster = server.cluster
        return ClusterInfo(
            version=__version__,
            cluster_id=cluster.cluster_id,
            controller=cluster.brokers.controller_id,
            bootstrap_servers=server.bootstrap_servers,
            nodes=len(cluster.brokers),
            topics=len(cluster.topics),
            partitions=census.partitions,
            groups=sum(1 for _ in cluster.groups),
            connections=len(server.listeners.connections()),
            log_bytes=census.log_bytes,
            max_memory_bytes=None if cluster.log_memory is None else cluster.log_memory.limit_bytes,
            problems=list(_problems(cluster, census)),
        )

    @control("node list", reads=True)
    async def nodes(self) -> list[NodeInfo]:
        """Returns all nodes with their states and listeners, in the order of their ids."""
        census, server = await self._census(), self._server
        connections = Counter(each.broker.node_id for each in server.listeners.connections())
        return [
            NodeInfo(
                node=node,
                state=_state(broker),
                fenced=broker.fenced,
                controller=node == server.cluster.brokers.controller_id,
                rack=broker.rack,
                listeners=_listeners(broker),
                leaders=census.leaders[node],
                replicas=census.replicas[node],
                out_of_sync=census.replicas[node] - census.in_sync[node],
                connections=connections[node],
            )
            for node, broker in sorted(server.cluster.brokers.items())
        ]

    async def _census(self) -> Census:
        """Counts all partitions. Other work gets turns in between, because there may be many."""
        census, topics = Census(), list(self._server.cluster.topics.values())
        await in_turns(map(census.add, (partition for topic in topics for partition in list(topic.partitions))))
        return census


def _state(broker: Broker) -> str:
    if not broker.running:
        return "stopped"
    return broker.silence.value if broker.silence else "running"


def _listeners(broker: Broker) -> list[ListenerInfo]:
    return [ListenerInfo(each.name, each.security_protocol, each.host, each.port, each.advertised) for each in broker.listeners.values()]


def _problems(cluster: ClusterState, census: Census) -> Iterator[str]:
    for node, broker in sorted(cluster.brokers.items()):
        if (state := _state(broker)) != "running":
            yield f"node {node} is {state}"
    if census.without_leader:
        yield f"{counted(census.without_leader, 'partition has', 'partitions have')} no leader"
    if census.under_min_isr:
        yield f"{counted(census.under_min_isr, 'partition has', 'partitions have')} fewer in-sync replicas than min.insync.replicas"
    if census.under_replicated:
        yield f"{counted(census.under_replicated, 'partition has', 'partitions have')} replicas that are not in sync"
    if cluster.log_memory is not None and cluster.log_memory.is_full:
        yield "the memory for logs is full"
