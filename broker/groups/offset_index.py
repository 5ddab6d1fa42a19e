"""An index over the committed offsets of all groups, so that deleting a topic or ending a transaction visits only the groups concerned."""

from __future__ import annotations

from typing import TypeVar

K = TypeVar("K", str, int)


class OffsetIndex:
    """Topic -> groups that may have offsets of it, and producer id -> groups that may have offsets in its open transaction."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, None]] = {}
        self._producers: dict[int, dict[str, None]] = {}

    def add(self, group_id: str, topic: str, producer_id: int | None = None) -> None:
        """Adds an offset of a group. With a producer id, the offset is part of the producer's open transaction."""
        self._topics.setdefault(topic, {})[group_id] = None
        if producer_id is not None:
            self._producers.setdefault(producer_id, {})[group_id] = None

    def with_offsets_of(self, topic: str) -> list[str]:
        """Returns the ids of the groups that may have offsets of a topic."""
        return list(self._topics.get(topic, ()))

    def in_transaction_of(self, producer_id: int) -> list[str]:
        """Returns the ids of the groups that may have offsets in a producer's open transaction."""
        return list(self._producers.get(producer_id, ()))

    def remove_topic(self, group_id: str, topic: str) -> None:
        _discard(self._topics, topic, group_id)

    def remove_producer(self, group_id: str, producer_id: int) -> None:
        _discard(self._producers, producer_id, group_id)


def _discard(index: dict[K, dict[str, None]], key: K, group_id: str) -> None:
    groups = index.get(key, {})
    groups.pop(group_id, None)
    if not groups:
        index.pop(key, None)
