"""Group coordinators that fail and move: what happens to the sessions and the waiting requests of their groups.

All nodes share the state of the groups, so a coordinator that moves loads nothing. Its groups are treated as in Kafka nevertheless. While
the coordinator has failed, no session ends, because it is the coordinator that ends sessions. A new coordinator starts all sessions anew,
and the former one answers the requests that wait with NOT_COORDINATOR (GroupMetadataManager.onLoaded and onUnloaded).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..scheduling.slices import chunks
from ..scheduling.waiting import NEXT_TURN, Background
from ..topics.names import CONSUMER_OFFSETS
from ..topics.partition import Partition
from ..topics.replication import NO_LEADER

if TYPE_CHECKING:
    from .state import ClusterState


class CoordinatorMoves:
    """Follows the leaders of `__consumer_offsets`. `failed` are the partitions whose leader has failed, until they have another one."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._epochs: dict[Partition, int] = {}
        """The leader epochs of partitions that have had another one than `ClusterState.first_leader_epoch`."""
        self._untreated: dict[Partition, bool] = {}
        """The partitions whose groups are treated in the next turn, and whether they have another leader."""
        self.failed: set[Partition] = set()

    def node_failed(self, node_id: int) -> None:
        """Ends the session timers of the groups that a node coordinates."""
        topic = self._cluster.topics.get(CONSUMER_OFFSETS)
        failed = {partition for partition in topic.partitions if partition.leader == node_id} if topic else set()
        self.failed |= failed
        for group in self._cluster.groups if failed else ():
            if self._cluster.coordinator(group.group_id, CONSUMER_OFFSETS) in failed:
                group.suspend_sessions()

    def changed(self, partition: Partition) -> None:
        """Treats the groups of a partition of `__consumer_offsets` from the next turn on, if its leader is another one or has returned."""
        if partition.topic.name != CONSUMER_OFFSETS or partition.leader in (NO_LEADER, *self._cluster.nodes.silent):
            return
        moved = partition.leader_epoch != self._epochs.get(partition, self._cluster.first_leader_epoch)
        self._epochs[partition] = partition.leader_epoch
        if moved or partition in self.failed:
            self.failed.discard(partition)
            if not self._untreated:
                self._cluster.background(self._treat_groups())
            self._untreated[partition] = moved or self._untreated.get(partition, False)

    def epochs_raised(self) -> None:
        """Takes note that all partitions are in the first leader epoch, without another leader."""
        self._epochs.clear()

    def deleted(self, partition: Partition) -> None:
        """Forgets a partition."""
        self._epochs.pop(partition, None)
        self.failed.discard(partition)

    def _treat_groups(self) -> Background:
        cluster, untreated = self._cluster, self._untreated
        self._untreated = {}
        for groups in chunks(list(cluster.groups)):
            for group in groups:
                partition = cluster.coordinator(group.group_id, CONSUMER_OFFSETS)
                if partition in untreated and cluster.groups.get(group.group_id) is group:  # it may have been deleted meanwhile
                    (group.coordinator_moved if untreated[partition] else group.renew_sessions)()
            yield NEXT_TURN
