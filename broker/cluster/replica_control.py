"""The consequences of a change of replicas: waking requests, reassignments, and preferred leaders (Kafka's ReplicationControlManager).

`topics/replication.py` changes the replicas of one partition. After each change, `ReplicaControl.changed` must be called. It sets two kinds
of timers: ("reassignment", partition), at which replicas that are out of sync catch up, and one for the whole cluster, at which
leaderships return to preferred leaders.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..topics.partition import Partition

if TYPE_CHECKING:
    from .state import ClusterState

_REBALANCE_TIMER = "leader rebalance"


class ReplicaControl:
    """Changes the replicas of partitions, and carries out the consequences of such changes."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster

    def node_stopped(self, node_id: int) -> None:
        """Removes a node, which has stopped or is no longer registered, from the in-sync replicas and leaders of its partitions."""
        running = self._cluster.running
        for partition in self._cluster.partitions():
            if node_id in partition.replicas:
                partition.node_stopped(node_id, running)
                self.changed(partition)

    def node_started(self, node_id: int) -> None:
        """Adds a started node to the in-sync replicas of its partitions, and elects leaders for partitions without one."""
        running = self._cluster.running
        for partition in self._cluster.partitions():
            if node_id in partition.replicas:
                partition.node_started(running)
                self.changed(partition)
        self._cluster.transactions.write_missing_markers()

    def reassign(self, partition: Partition, replicas: Sequence[int]) -> None:
        """Starts a reassignment of a partition to other replicas."""
        self._cluster.timers.cancel(("reassignment", partition))
        partition.reassign(replicas, self._cluster.running)
        self.changed(partition)

    def deleted(self, partition: Partition) -> None:
        """Ends the reassignment of a partition that is deleted."""
        self._cluster.timers.cancel(("reassignment", partition))

    def changed(self, partition: Partition) -> None:
        """Wakes the requests that wait for a partition whose replicas have changed, and sets the timers that the change requires.

        A follower includes an added partition in its fetches only when its current fetch is complete. Therefore replicas need
        replica.fetch.wait.max.ms to catch up.
        """
        cluster = self._cluster
        cluster.metadata_log.add()
        cluster.wake(partition)
        if partition.prefers_another_leader:
            self._schedule_rebalance()
        key = ("reassignment", partition)
        if not partition.behind(cluster.running):
            cluster.timers.cancel(key)
        elif key not in cluster.timers:
            cluster.timers.set(key, cluster.config.integers["replica.fetch.wait.max.ms"], lambda: self.catch_up(partition))

    def catch_up(self, partition: Partition) -> None:
        """Brings all running replicas of a partition in sync, which completes a reassignment that waited for them."""
        running = self._cluster.running
        partition.catch_up(partition.behind(running), running)
        self.changed(partition)
        self._cluster.transactions.write_missing_markers()

    def rebalance_leaders(self) -> None:
        """Elects the preferred leader, the first replica, of each partition where it is in sync."""
        for partition in self._cluster.partitions():
            if partition.prefer_first_replica():
                self.changed(partition)

    def _schedule_rebalance(self) -> None:
        cluster = self._cluster
        if cluster.config.booleans["auto.leader.rebalance.enable"] and _REBALANCE_TIMER not in cluster.timers:
            interval_s = cluster.config.integers["leader.imbalance.check.interval.seconds"]
            cluster.timers.set(_REBALANCE_TIMER, interval_s * 1000, self.rebalance_leaders)
