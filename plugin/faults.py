"""`kafka_faults`: the methods of a cluster that add faults, each of which returns a handle."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .. import AsyncCluster, Cluster


class KafkaFaults:
    """Adds faults to a cluster; `all` lists them."""

    def __init__(self, cluster: Cluster) -> None:
        self.add = cluster.fault
        self.lost_acks = cluster.lost_acks
        self.flaky = cluster.flaky
        self.firewall = cluster.firewall
        self.slow_network = cluster.slow_network
        self.leader_election = cluster.leader_election
        self.coordinator_moves = cluster.coordinator_moves
        self.disk_full = cluster.disk_full
        self.disk_slow = cluster.disk_slow
        self.torn_write = cluster.torn_write
        self.not_enough_replicas = cluster.not_enough_replicas
        self.all = cluster.list_faults


class AsyncKafkaFaults:
    """The same with methods to await."""

    def __init__(self, cluster: AsyncCluster) -> None:
        self.add = cluster.fault
        self.lost_acks = cluster.lost_acks
        self.flaky = cluster.flaky
        self.firewall = cluster.firewall
        self.slow_network = cluster.slow_network
        self.leader_election = cluster.leader_election
        self.coordinator_moves = cluster.coordinator_moves
        self.disk_full = cluster.disk_full
        self.disk_slow = cluster.disk_slow
        self.torn_write = cluster.torn_write
        self.not_enough_replicas = cluster.not_enough_replicas
        self.all = cluster.list_faults
