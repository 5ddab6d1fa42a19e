"""The snapshots of a running cluster, by id, and its state after start."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ..cluster.state import ClusterState
from .cluster import State, write_cluster
from .handle import Snapshot

if TYPE_CHECKING:
    from ..faults.fault import Fault


class Snapshots:
    """The states that a cluster can return to. `initial` is the state of `cluster`, which has just been started."""

    def __init__(self, cluster: ClusterState) -> None:
        self.initial = write_cluster(cluster)
        self._taken: dict[int, tuple[Snapshot, State, tuple[Fault, ...]]] = {}
        self._last_id = 0

    def __iter__(self) -> Iterator[Snapshot]:
        return (snapshot for snapshot, *_ in self._taken.values())

    def __contains__(self, snapshot_id: object) -> bool:
        return snapshot_id in self._taken

    def __getitem__(self, snapshot_id: int) -> State:
        return self._taken[snapshot_id][1]

    def faults(self, snapshot_id: int) -> tuple[Fault, ...]:
        """Returns the faults that were active. They continue to count their hits, because users have handles of them."""
        return self._taken[snapshot_id][2]

    def take(self, cluster: ClusterState, faults: tuple[Fault, ...] = ()) -> Snapshot:
        """Keeps the present state of a cluster, and its faults."""
        self._last_id += 1
        log_bytes = sum(partition.log.size for partition in cluster.topics.partitions())
        snapshot = Snapshot(self._last_id, cluster.timers.now_ms, len(cluster.topics), log_bytes)
        self._taken[snapshot.id] = snapshot, write_cluster(cluster), faults
        return snapshot

    def close(self, snapshot_id: int) -> None:
        """Releases a snapshot, and the memory to which nothing else refers."""
        del self._taken[snapshot_id]
