"""The offsets that one group has committed, and when they go."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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


class CommittedOffsets:
    """topic -> partition -> commit. Topics are known by name: a topic that is made anew must be deleted here first."""

    __slots__ = ("_topics",)

    def __init__(self) -> None:
        self._topics: dict[str, dict[int, CommittedOffset]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._topics.values()))

    def __iter__(self) -> Iterator[tuple[str, dict[int, CommittedOffset]]]:
        """The topics with their partitions, in the order of their first commits."""
        return iter(self._topics.items())

    def get(self, topic: str, partition: int) -> CommittedOffset | None:
        """The last commit of a partition."""
        return self._topics.get(topic, {}).get(partition)

    def commit(self, topic: str, partition: int, committed: CommittedOffset) -> None:
        """Replaces what was committed before, even by a smaller offset."""
        self._topics.setdefault(topic, {})[partition] = committed

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic for which something is committed."""
        return list(self._topics.get(topic, ()))

    def delete(self, topic: str, partition: int) -> bool:
        """Forgets one partition; False if nothing was committed."""
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
            if expired(topic, committed)
        ]
