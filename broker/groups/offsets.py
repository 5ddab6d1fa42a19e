"""The offsets that one group has committed, and when they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import NamedTuple


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
        self._numbers = count()

    def __contains__(self, producer_id: int) -> bool:
        return producer_id in self._producers

    def __len__(self) -> int:
        return sum(map(len, self._producers.values()))

    def on(self, topic: str, partition: int) -> bool:
        """Whether an open transaction will decide what a partition's commit is."""
        return any((topic, partition) in offsets for offsets in self._producers.values())

    def add(self, producer_id: int, topic: str, partition: int, committed: CommittedOffset) -> None:
        """Keeps a commit until `pop`."""
        self._producers.setdefault(producer_id, {})[topic, partition] = PendingOffset(committed, next(self._numbers))

    def pop(self, producer_id: int) -> list[tuple[str, int, PendingOffset]]:
        """Takes out the commits of a producer, but for those that later ones have replaced."""
        waiting = self._producers.pop(producer_id, {})
        return [(topic, partition, pending) for (topic, partition), pending in waiting.items() if pending is not None]

    def replace(self, topic: str, partition: int, before: int | None = None) -> None:
        """A commit stands that is later than those that wait, or than those with a number below `before`."""
        for offsets in self._producers.values():
            pending = offsets.get((topic, partition))
            if pending is not None and (before is None or pending.number < before):
                offsets[topic, partition] = None

    def delete(self, topic: str, partition: int | None = None) -> None:
        """Forgets what waits for a topic, or for one of its partitions."""
        for producer_id, offsets in list(self._producers.items()):
            for key in [key for key in offsets if key[0] == topic and partition in (None, key[1])]:
                del offsets[key]
            if not offsets:
                del self._producers[producer_id]


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

    def end_transaction(self, producer_id: int, *, committed: bool) -> None:
        """Commits what waited for a producer's transaction, or forgets it. What was committed later stands."""
        for topic, partition, offset in self.pending.pop(producer_id):
            if committed:
                self._topics.setdefault(topic, {})[partition] = offset.committed
                self.pending.replace(topic, partition, offset.number)

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
