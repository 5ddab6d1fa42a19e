"""The offsets that one group has committed, and when they go."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from itertools import count
from typing import NamedTuple, TypeVar

K = TypeVar("K", str, int)


class CommittedOffset(NamedTuple):
    """One commit. Times are milliseconds since the Unix epoch."""

    offset: int
    leader_epoch: int
    """Of the last record before it; -1 if the client did not say."""
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """When it goes, whatever the group does (OffsetCommit v2 to v4); None: by the rules of the group."""


class PendingOffset(NamedTuple):
    """A commit that waits, and its place among all commits that did."""

    committed: CommittedOffset
    number: int


class PendingOffsets:
    """Commits of open transactions: producer id -> (topic, partition) -> commit. None: a later commit has replaced it already."""

    def __init__(self) -> None:
        self._producers: dict[int, dict[tuple[str, int], PendingOffset | None]] = {}
        self._waiting: dict[str, dict[int, set[int]]] = {}
        """Topic -> partition -> the producers that have a commit for it."""
        self._numbers = count()

    def __contains__(self, producer_id: int) -> bool:
        return producer_id in self._producers

    def __len__(self) -> int:
        return sum(map(len, self._producers.values()))

    def on(self, topic: str, partition: int) -> bool:
        """Whether an open transaction will decide what a partition's commit is."""
        return partition in self._waiting.get(topic, ())

    def concerns(self, topic: str) -> bool:
        """Whether a commit waits for any partition of a topic."""
        return topic in self._waiting

    def add(self, producer_id: int, topic: str, partition: int, committed: CommittedOffset) -> None:
        """Keeps a commit until `pop`."""
        self._producers.setdefault(producer_id, {})[topic, partition] = PendingOffset(committed, next(self._numbers))
        self._waiting.setdefault(topic, {}).setdefault(partition, set()).add(producer_id)

    def of(self, producer_id: int) -> Collection[tuple[str, int]]:
        """The partitions whose commits wait for a producer."""
        return self._producers.get(producer_id, {})

    def topics(self) -> Collection[str]:
        """The topics of all commits that wait."""
        return self._waiting

    def pop(self, producer_id: int) -> list[tuple[str, int, PendingOffset]]:
        """Takes out the commits of a producer, but for those that later ones have replaced."""
        waiting = self._producers.pop(producer_id, {})
        for topic, partition in waiting:
            partitions = self._waiting[topic]
            partitions[partition].discard(producer_id)
            if not partitions[partition]:
                del partitions[partition]
            if not partitions:
                del self._waiting[topic]
        return [(topic, partition, pending) for (topic, partition), pending in waiting.items() if pending is not None]

    def replace(self, topic: str, partition: int, before: int | None = None) -> None:
        """A commit stands that is later than those that wait, or than those with a number below `before`."""
        for producer_id in self._waiting.get(topic, {}).get(partition, ()):
            offsets = self._producers[producer_id]
            pending = offsets[topic, partition]
            if pending is not None and (before is None or pending.number < before):
                offsets[topic, partition] = None

    def delete(self, topic: str, partition: int | None = None) -> None:
        """Forgets what waits for a topic, or for one of its partitions."""
        partitions = self._waiting.get(topic, {})
        for index in list(partitions) if partition is None else [partition]:
            for producer_id in partitions.pop(index, ()):
                offsets = self._producers[producer_id]
                del offsets[topic, index]
                if not offsets:
                    del self._producers[producer_id]
        if not partitions:
            self._waiting.pop(topic, None)


class OffsetIndex:
    """The groups that may have offsets of a topic, or such as wait for a producer, so that not all groups are asked."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, None]] = {}
        self._producers: dict[int, dict[str, None]] = {}

    def add(self, group_id: str, topic: str, producer_id: int | None = None) -> None:
        """Notes that a group has an offset of a topic; with a producer it waits for the producer's transaction."""
        self._topics.setdefault(topic, {})[group_id] = None
        if producer_id is not None:
            self._producers.setdefault(producer_id, {})[group_id] = None

    def with_offsets_of(self, topic: str) -> list[str]:
        """The groups that may have offsets of a topic."""
        return list(self._topics.get(topic, ()))

    def waiting_for(self, producer_id: int) -> list[str]:
        """The groups that may have offsets in a producer's open transaction."""
        return list(self._producers.get(producer_id, ()))

    def forget_topic(self, group_id: str, topic: str) -> None:
        """A group has no offsets of a topic any more."""
        _discard(self._topics, topic, group_id)

    def forget_producer(self, group_id: str, producer_id: int) -> None:
        """A group waits no longer for a producer."""
        _discard(self._producers, producer_id, group_id)


def _discard(index: dict[K, dict[str, None]], key: K, group_id: str) -> None:
    groups = index.get(key, {})
    groups.pop(group_id, None)
    if not groups:
        index.pop(key, None)


class CommittedOffsets:
    """topic -> partition -> commit. Topics are known by name: a topic that is made anew must be deleted here first."""

    __slots__ = ("_topics", "pending")

    def __init__(self) -> None:
        self._topics: dict[str, dict[int, CommittedOffset]] = {}
        self.pending = PendingOffsets()

    def __len__(self) -> int:
        return sum(map(len, self._topics.values()))

    def __bool__(self) -> bool:
        """Whether there is anything to keep: commits, or such as wait for a transaction to end."""
        return bool(self._topics) or bool(self.pending)

    def __iter__(self) -> Iterator[tuple[str, dict[int, CommittedOffset]]]:
        """The topics with their partitions, in the order of their first commits."""
        return iter(self._topics.items())

    def get(self, topic: str, partition: int) -> CommittedOffset | None:
        """The last commit of a partition."""
        return self._topics.get(topic, {}).get(partition)

    def commit(self, topic: str, partition: int, committed: CommittedOffset) -> None:
        """Replaces what was committed before, even by a smaller offset."""
        self._topics.setdefault(topic, {})[partition] = committed
        self.pending.replace(topic, partition)

    def end_transaction(self, producer_id: int, *, committed: bool) -> Iterable[str]:
        """Commits what waited for a producer's transaction, or forgets it, and returns the topics. What was committed later stands."""
        topics = dict.fromkeys(topic for topic, _ in self.pending.of(producer_id))
        for topic, partition, offset in self.pending.pop(producer_id):
            if committed:
                self._topics.setdefault(topic, {})[partition] = offset.committed
                self.pending.replace(topic, partition, offset.number)
        return topics

    def topics(self) -> list[str]:
        """The topics of all commits, those that wait among them."""
        return list(dict.fromkeys([*self._topics, *self.pending.topics()]))

    def concerns(self, topic: str) -> bool:
        """Whether there is a commit of a topic, or one that waits for a transaction to end."""
        return topic in self._topics or self.pending.concerns(topic)

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic for which something is committed."""
        return list(self._topics.get(topic, ()))

    def delete(self, topic: str, partition: int) -> bool:
        """Forgets one partition; False if nothing was committed."""
        self.pending.delete(topic, partition)
        partitions = self._topics.get(topic, {})
        found = partitions.pop(partition, None) is not None
        if not partitions:
            self._topics.pop(topic, None)
        return found

    def expired(self, expired: Callable[[str, CommittedOffset], bool]) -> list[tuple[str, int]]:
        """The partitions of the commits of which `expired(topic, commit)` holds."""
        return [
            (topic, partition)
            for topic, partitions in self._topics.items()
            for partition, committed in partitions.items()
            if not self.pending.on(topic, partition) and expired(topic, committed)
        ]
