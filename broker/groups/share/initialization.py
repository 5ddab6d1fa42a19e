"""The share partitions of a group, as the group coordinator follows them: which have a stored state, and which are about to get or lose it.

Only initialized partitions are assigned to members. The coordinator initializes a partition in three steps, so that a failure between them
leaves a trace in the group's record (Kafka's ShareGroupStatePartitionMetadataValue): it writes that the partition is being initialized,
stores its state, and writes that it is initialized. Deletion takes the same steps.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

from ...topics.partition import Topic

NO_INDEXES: frozenset[int] = frozenset()


class TopicInitialization(NamedTuple):
    """Some partitions of a topic, and the time at which their initialization began or ended."""

    name: str
    indexes: frozenset[int]
    since_ms: int


Partitions = Mapping[bytes, frozenset[int]]
"""Topic id -> partition indexes."""


class Initialization:
    """The share partitions of one group by topic id. `is_known` is False until the first of them begins to be initialized."""

    __slots__ = ("deleting", "initialized", "initializing", "is_known")

    def __init__(self) -> None:
        self.initializing: dict[bytes, TopicInitialization] = {}
        self.initialized: dict[bytes, TopicInitialization] = {}
        self.deleting: dict[bytes, str] = {}
        """Topic id -> name of topics whose states are being deleted."""
        self.is_known = False

    @property
    def assignable(self) -> Partitions:
        """The partitions that may be assigned to members."""
        return {topic_id: each.indexes for topic_id, each in self.initialized.items()}

    def missing(self, topics: Iterable[Topic], now_ms: int, retry_ms: int) -> dict[bytes, TopicInitialization]:
        """Returns the partitions that are neither initialized nor, for less than `retry_ms`, being initialized."""
        found = {}
        for topic in topics:
            known = self._indexes(self.initialized, topic.id)
            begun = self.initializing.get(topic.id)
            if begun is not None and now_ms - begun.since_ms < retry_ms:
                known |= begun.indexes
            if len(known) < len(topic.partitions):
                found[topic.id] = TopicInitialization(topic.name, frozenset(range(len(topic.partitions))) - known, now_ms)
        return found

    @staticmethod
    def _indexes(topics: Mapping[bytes, TopicInitialization], topic_id: bytes) -> frozenset[int]:
        return topics[topic_id].indexes if topic_id in topics else NO_INDEXES

    def begin(self, partitions: Mapping[bytes, TopicInitialization]) -> None:
        """Marks partitions as being initialized."""
        self.is_known = True
        for topic_id, each in partitions.items():
            if each.indexes:
                indexes = self._indexes(self.initializing, topic_id) | each.indexes
                self.initializing[topic_id] = each._replace(indexes=indexes)
            self.deleting.pop(topic_id, None)

    def complete(self, partitions: Mapping[bytes, TopicInitialization]) -> None:
        """Marks partitions as initialized."""
        for topic_id, each in partitions.items():
            if each.indexes:
                indexes = self._indexes(self.initialized, topic_id) | each.indexes
                self.initialized[topic_id] = each._replace(indexes=indexes)
        self.cancel(partitions)

    def cancel(self, partitions: Mapping[bytes, TopicInitialization]) -> None:
        """Marks partitions as no longer being initialized."""
        for topic_id, each in partitions.items():
            if (begun := self.initializing.get(topic_id)) is not None:
                if indexes := begun.indexes - each.indexes:
                    self.initializing[topic_id] = begun._replace(indexes=indexes)
                else:
                    del self.initializing[topic_id]

    def begin_deletion(self, topics: Iterable[bytes]) -> None:
        """Marks initialized topics as being deleted."""
        for topic_id in topics:
            if (found := self.initialized.pop(topic_id, None)) is not None:
                self.deleting[topic_id] = found.name

    def begin_deletion_of_all(self, existing: Mapping[bytes, Topic]) -> Partitions:
        """Marks all topics as being deleted, except former ones that no longer exist. Returns the partitions whose state may be stored."""
        states = {topic_id: self._indexes(self.initialized, topic_id) for topic_id in self.initialized}
        names = {topic_id: each.name for topic_id, each in (self.initialized | self.initializing).items()}
        for topic_id, each in self.initializing.items():
            states[topic_id] = states.get(topic_id, NO_INDEXES) | each.indexes
        for topic_id in self.deleting.keys() & existing.keys():
            states[topic_id] = frozenset(range(len(existing[topic_id].partitions)))
            names[topic_id] = existing[topic_id].name
        self.initializing, self.initialized, self.deleting = {}, {}, names
        return states

    def complete_deletion(self, topics: Iterable[bytes]) -> None:
        """Removes topics whose states are deleted."""
        for topic_id in topics:
            self.deleting.pop(topic_id, None)

    def knows(self, topic_id: bytes) -> bool:
        return any(topic_id in each for each in (self.initializing, self.initialized, self.deleting))

    def forget(self, topics: Collection[bytes]) -> None:
        """Removes topics that were deleted from the cluster."""
        for each in (self.initializing, self.initialized, self.deleting):
            for topic_id in topics:
                each.pop(topic_id, None)
