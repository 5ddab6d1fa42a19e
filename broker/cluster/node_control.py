"""The nodes of a cluster as the controller sees them: registered or not, alive or fenced (Kafka's ClusterControlManager, KIP-631).

A node that is alive sends heartbeats. A controlled shutdown fences it at once, so that its partitions get other leaders before it ends.
A node that fails otherwise (it ends, is paused, or its network is cut) is *silent*: it neither answers nor fetches, but the controller
counts it among the nodes that are alive until its session expires after broker.session.timeout.ms. Until then its partitions keep it as
leader and as in-sync replica, although it does not follow.

This module changes nodes, and `replica_control.py` the replicas on them. The sockets belong to `network/listeners.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode, KafkaError
from ..settings.cluster_config import NodeConfig
from ..settings.values import BrokerConfig
from ..topics.partition import Partition
from .broker import Broker, Silence

if TYPE_CHECKING:
    from .state import ClusterState

log = logging.getLogger("kafka.controller.KafkaController")


class NodeControl:
    """Stops, starts, silences, adds and removes nodes. `silent` contains the nodes that do not fetch; topics have a live view of it."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self.silent: set[int] = set()

    # Nodes that end

    def stop(self, node_id: int, *, graceful: bool = True) -> None:
        """Stops a running node. Unless it is `graceful`, the other nodes notice that only when its session expires."""
        broker = self._cluster.brokers[node_id]
        broker.running, broker.silence = False, None
        broker.fetch_sessions.clear()
        if broker.loaded_share_partitions is not None:
            broker.loaded_share_partitions.clear()
        self._silence(node_id)
        if graceful:
            self.fence(node_id)
        log.info("node %d has stopped; running nodes: %s", node_id, self._cluster.running)

    def silence(self, node_id: int, kind: Silence) -> None:
        """Makes a running node silent: it stops following, and its session begins to run out."""
        self._cluster.brokers[node_id].silence = kind
        self._silence(node_id)
        log.info("node %d is %s", node_id, kind.value)

    def _silence(self, node_id: int) -> None:
        cluster = self._cluster
        if node_id not in self.silent:
            cluster.replica_control.node_silenced(node_id)
            self.silent.add(node_id)
            cluster.coordinator_moves.node_failed(node_id)
            session_ms = cluster.config.integers["broker.session.timeout.ms"]
            cluster.timers.set(("broker session", node_id), session_ms, lambda: self.fence(node_id))

    def fence(self, node_id: int) -> None:
        """Ends the session of a node: its partitions elect other leaders, and it leaves their in-sync replicas."""
        cluster = self._cluster
        cluster.timers.cancel(("broker session", node_id))
        if not cluster.brokers[node_id].fenced:
            cluster.brokers[node_id].fenced = True
            cluster.replica_control.node_stopped(node_id)
            cluster.metadata_log.add()
            log.info("node %d is fenced; running nodes: %s", node_id, cluster.running)

    # Nodes that return

    def start(self, node_id: int) -> None:
        """Starts and registers a stopped node, or continues a silent one.

        Its replicas are in sync at once, but it leads its preferred partitions only later, as in Kafka. A node that has ended without a
        controlled shutdown and starts before its session has expired is fenced first.
        """
        cluster = self._cluster
        broker = cluster.brokers[node_id]
        if not broker.running:
            self.fence(node_id)
        cluster.timers.cancel(("broker session", node_id))
        broker.running = broker.registered = True
        broker.fenced, broker.silence = False, None
        self.silent.discard(node_id)
        cluster.metadata_log.add()
        cluster.replica_control.node_started(node_id)
        log.info("node %d has started; running nodes: %s", node_id, cluster.running)

    # Membership

    def unregister(self, node_id: int) -> None:
        """Removes a node from metadata. A running node loses its leaderships. Raises KafkaError with BROKER_ID_NOT_REGISTERED."""
        cluster = self._cluster
        broker = cluster.brokers.get(node_id)
        if broker is None or not broker.registered:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
        broker.registered = False
        cluster.replica_control.node_stopped(node_id)
        cluster.metadata_log.add()
        log.info("node %d is no longer registered; running nodes: %s", node_id, cluster.running)

    def add(self, config: NodeConfig) -> None:
        """Adds a running node without replicas."""
        cluster = self._cluster
        settings = BrokerConfig(config.properties, nodes=len(cluster.brokers) + 1, rows=cluster.config.rows)
        settings.alter(own={}, cluster_wide=cluster.config.cluster_wide)
        cluster.brokers[config.node_id] = Broker(cluster, config, settings)
        cluster.metadata_log.add()
        log.info("node %d was added; running nodes: %s", config.node_id, cluster.running)

    def moves(self, node_id: int) -> Mapping[Partition, Sequence[int]]:
        """Returns the replicas that the partitions of a node get when it is removed.

        Another running node takes its place in each partition, the one with the fewest replicas. If all of them have replicas already, the
        partition has one replica less.
        """
        cluster = self._cluster
        others = [other for other in cluster.running if other != node_id and other not in self.silent]
        load = dict.fromkeys(others, 0)
        found: dict[Partition, Sequence[int]] = {}
        for partition in cluster.partitions():
            for node in set(partition.replicas) & load.keys():
                load[node] += 1
        for partition in cluster.partitions():
            if node_id in partition.replicas:
                free = [node for node in others if node not in partition.replicas]
                chosen = min(free, key=lambda node: load[node], default=None)
                if chosen is not None:
                    load[chosen] += 1
                replicas = [chosen if node == node_id else node for node in partition.replicas if node not in partition.removing]
                found[partition] = [node for node in replicas if node is not None]
        return found

    def remove(self, node_id: int) -> None:
        """Moves the replicas of a node to other nodes, which copy them at once, and removes the node."""
        cluster = self._cluster
        for partition, replicas in self.moves(node_id).items():
            cluster.replica_control.evacuate(partition, replicas)
        if cluster.brokers[node_id].running:
            self.stop(node_id)
        cluster.timers.cancel(("broker session", node_id))
        del cluster.brokers[node_id]
        self.silent.discard(node_id)
        cluster.metadata_log.add()
        log.info("node %d was removed; running nodes: %s", node_id, cluster.running)
