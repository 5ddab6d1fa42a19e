"""The nodes of a cluster as the controller sees them: registered or not, alive or fenced (Kafka's ClusterControlManager, KIP-631).

A node that is alive sends heartbeats. A controlled shutdown fences it at once, so that its partitions get other leaders before it ends.
A node that fails otherwise (it ends, is paused, or its network is cut) is *silent*: it neither answers nor fetches, but the controller
counts it among the nodes that are alive until its session expires after broker.session.timeout.ms. Until then its partitions keep it as
leader and as in-sync replica, although it does not follow.

This module changes nodes, and `replica_control.py` the replicas on them. The sockets belong to `network/listeners.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence

from ...protocol.errors import ErrorCode, KafkaError
from ..settings.cluster_config import NodeConfig
from ..settings.values import BrokerConfig
from ..topics.partition import Partition
from .broker import Broker
from .replica_control import ControllerParts, ReplicaControl
from .silence import Silence

log = logging.getLogger("kafka.controller.KafkaController")


class Nodes:
    """Stops, starts, silences, adds and removes nodes. `new_broker` returns a node with a configuration and settings."""

    def __init__(
        self, parts: ControllerParts, replica_control: ReplicaControl, new_broker: Callable[[NodeConfig, BrokerConfig], Broker]
    ) -> None:
        self._timers, self._config, self._topics, self._brokers, self._metadata_log, self._coordinator_moves = parts
        self._replica_control = replica_control
        self._new_broker = new_broker

    # Nodes that end

    def stop(self, node_id: int, *, graceful: bool = True) -> None:
        """Stops a running node. Unless it is `graceful`, the other nodes notice that only when its session expires."""
        broker = self._brokers[node_id]
        broker.running, broker.silence = False, None
        broker.fetch_sessions.clear()
        if broker.loaded_share_partitions is not None:
            broker.loaded_share_partitions.clear()
        self._begin_silence(node_id)
        if graceful:
            self.fence(node_id)
        log.info("node %d has stopped; running nodes: %s", node_id, self._brokers.running)

    def silence(self, node_id: int, kind: Silence) -> None:
        """Makes a running node silent: it stops following, and its session begins to run out."""
        self._brokers[node_id].silence = kind
        self._begin_silence(node_id)
        log.info("node %d is %s", node_id, kind.value)

    def _begin_silence(self, node_id: int) -> None:
        if node_id not in self._brokers.silent:
            self._replica_control.node_silenced(node_id)
            self._brokers.silent.add(node_id)
            self._coordinator_moves.node_failed(node_id)
            session_ms = self._config.integers["broker.session.timeout.ms"]
            self._timers.set(("broker session", node_id), session_ms, lambda: self.fence(node_id))

    def fence(self, node_id: int) -> None:
        """Ends the session of a node: its partitions elect other leaders, and it leaves their in-sync replicas."""
        self._timers.cancel(("broker session", node_id))
        if not self._brokers[node_id].fenced:
            self._brokers[node_id].fenced = True
            self._replica_control.node_stopped(node_id)
            self._metadata_log.add()
            log.info("node %d is fenced; running nodes: %s", node_id, self._brokers.running)

    # Nodes that return

    def start(self, node_id: int) -> None:
        """Starts and registers a stopped node, or continues a silent one.

        Its replicas are in sync at once, but it leads its preferred partitions only later, as in Kafka. A node that has ended without a
        controlled shutdown and starts before its session has expired is fenced first.
        """
        broker = self._brokers[node_id]
        if not broker.running:
            self.fence(node_id)
        self._timers.cancel(("broker session", node_id))
        broker.running = broker.registered = True
        broker.fenced, broker.silence = False, None
        self._brokers.silent.discard(node_id)
        self._metadata_log.add()
        self._replica_control.node_started(node_id)
        log.info("node %d has started; running nodes: %s", node_id, self._brokers.running)

    # Membership

    def unregister(self, node_id: int) -> None:
        """Removes a node from metadata. A running node loses its leaderships. Raises KafkaError with BROKER_ID_NOT_REGISTERED."""
        broker = self._brokers.get(node_id)
        if broker is None or not broker.registered:
            raise KafkaError(ErrorCode.BROKER_ID_NOT_REGISTERED, f"Broker ID {node_id} is not currently registered")
        broker.registered = False
        self._replica_control.node_stopped(node_id)
        self._metadata_log.add()
        log.info("node %d is no longer registered; running nodes: %s", node_id, self._brokers.running)

    def add(self, config: NodeConfig) -> None:
        """Adds a running node without replicas."""
        settings = BrokerConfig(config.properties, nodes=len(self._brokers) + 1, rows=self._config.rows)
        settings.alter(own={}, cluster_wide=self._config.cluster_wide)
        self._brokers[config.node_id] = self._new_broker(config, settings)
        self._metadata_log.add()
        log.info("node %d was added; running nodes: %s", config.node_id, self._brokers.running)

    def moves(self, node_id: int) -> Mapping[Partition, Sequence[int]]:
        """Returns the replicas that the partitions of a node get when it is removed.

        Another running node takes its place in each partition, the one with the fewest replicas. If all of them have replicas already, the
        partition has one replica less.
        """
        others = [other for other in self._brokers.running if other != node_id and other not in self._brokers.silent]
        load = dict.fromkeys(others, 0)
        found: dict[Partition, Sequence[int]] = {}
        for partition in self._topics.partitions():
            for node in set(partition.replicas) & load.keys():
                load[node] += 1
        for partition in self._topics.partitions():
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
        for partition, replicas in self.moves(node_id).items():
            self._replica_control.evacuate(partition, replicas)
        if self._brokers[node_id].running:
            self.stop(node_id)
        self._timers.cancel(("broker session", node_id))
        del self._brokers[node_id]
        self._brokers.silent.discard(node_id)
        self._metadata_log.add()
        log.info("node %d was removed; running nodes: %s", node_id, self._brokers.running)
