"""The topics that the members of a share group subscribe to.

Members are counted by their subscription, so that a member which joins a large group costs no more than the first one.
"""

from __future__ import annotations

from ...scheduling.revertible import RevertibleDict
from ..cluster_view import ClusterView
from ..heartbeat_group import metadata_hash

NO_TOPICS: frozenset[str] = frozenset()
UNKNOWN_VERSION = -1


class Subscriptions:
    """The subscribed topics of one group."""

    __slots__ = ("_cluster", "_version", "counts", "metadata_hash", "names")

    def __init__(self, cluster: ClusterView) -> None:
        self.counts: RevertibleDict[frozenset[str], int] = RevertibleDict()
        """Topic names -> number of members that subscribe to exactly these."""
        self.names = NO_TOPICS
        """The topics that any member subscribes to, whether they exist or not."""
        self.metadata_hash = 0
        """A hash of the subscribed topics and their numbers of partitions, as of the last `refresh`."""
        self._version = UNKNOWN_VERSION
        self._cluster = cluster

    @property
    def are_current(self) -> bool:
        """Whether no topic or partition was created or deleted since the last `refresh`."""
        return self._version == self._cluster.topics_version

    @property
    def are_alike(self) -> bool:
        """Whether all members subscribe to the same topics."""
        return len(self.counts) <= 1

    def add(self, topics: frozenset[str]) -> None:
        """Counts the subscription of a member."""
        count = self.counts.get(topics, 0)
        self.counts[topics] = count + 1
        if not count:
            self.names |= topics

    def remove(self, topics: frozenset[str]) -> None:
        """Removes the subscription of a member that leaves or subscribes to other topics."""
        if self.counts[topics] > 1:
            self.counts[topics] -= 1
        else:
            del self.counts[topics]
            self.names = NO_TOPICS.union(*self.counts)

    def refresh(self) -> bool:
        """Computes the hash. Returns whether the existing subscribed topics or their numbers of partitions are different now."""
        self._version = self._cluster.topics_version
        before, self.metadata_hash = self.metadata_hash, metadata_hash(self.names, self._cluster.topics)
        return before != self.metadata_hash
