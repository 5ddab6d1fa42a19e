"""The state that a cluster keeps in ZooKeeper instead of KRaft, as far as clients see it: the elected controller, and old offsets.

All brokers know the controller, and only the controller answers requests that change topics; it stays in office until its session ends.
OffsetCommit and OffsetFetch v0 store offsets in ZooKeeper, apart from those of `__consumer_offsets`.
"""

from __future__ import annotations

from collections.abc import Collection


class ZooKeeper:
    """The state of one cluster in ZooKeeper."""

    def __init__(self) -> None:
        self.controller_id = -1
        self.offsets: dict[str, dict[str, dict[int, int]]] = {}
        """Committed offsets by group, topic and partition."""

    def elect(self, alive: Collection[int]) -> int:
        """Returns the id of the controller, a new one if the former is not alive; -1 if no node is."""
        if self.controller_id not in alive:
            self.controller_id = min(alive, default=-1)
        return self.controller_id

    def commit(self, group_id: str, topic: str, partition: int, offset: int) -> None:
        """Stores an offset. Its metadata is not kept."""
        self.offsets.setdefault(group_id, {}).setdefault(topic, {})[partition] = offset

    def committed_offset(self, group_id: str, topic: str, partition: int) -> int | None:
        """Returns a stored offset, None if there is none."""
        return self.offsets.get(group_id, {}).get(topic, {}).get(partition)
