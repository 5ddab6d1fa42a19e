"""The iteration order of Java's HashMap and HashSet while keys are added and removed.

Kafka's assignor of share groups iterates over such tables, so that the order decides which member gets which partition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from struct import unpack
from typing import Generic, TypeVar

from .java_hash import spread

K = TypeVar("K")
DEFAULT_CAPACITY = 16


class JavaHashTable(Generic[K]):
    """Keys in buckets, in the order in which Java iterates over them. `hashed` returns the hash code of a key, a 32-bit integer.

    The number of buckets is a power of two of at least `capacity`. It doubles when more than three quarters as many keys are present, and
    never shrinks. Java's treatment of buckets with more than eight keys is not reproduced.
    """

    def __init__(self, hashed: Callable[[K], int], keys: Iterable[K] = (), capacity: int = DEFAULT_CAPACITY) -> None:
        self._hashed = hashed
        self._keys: dict[K, tuple[int, int]] = {}
        """The spread hash code of each key, and a number that orders the keys of a bucket."""
        self._buckets = 1 << (capacity - 1).bit_length()
        self._inserted = 0
        for key in keys:
            self.add(key)

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, key: K) -> bool:
        return key in self._keys

    def __iter__(self) -> Iterator[K]:
        """Iterates over the keys that are present now."""
        mask, keys = self._buckets - 1, self._keys
        return iter(sorted(keys, key=lambda key: (keys[key][0] & mask, keys[key][1])))

    def add(self, key: K) -> None:
        """Adds a key unless it is present, as `put` does: at the end of its bucket."""
        if key not in self._keys:
            self._inserted += 1
            self._keys[key] = spread(self._hashed(key)), self._inserted
            self._grow()

    def compute_if_absent(self, key: K) -> None:
        """Adds a key unless it is present, as `computeIfAbsent` does: at the beginning of its bucket, after the table has grown if due."""
        self._grow()
        if key not in self._keys:
            self._inserted += 1
            self._keys[key] = spread(self._hashed(key)), -self._inserted

    def _grow(self) -> None:
        if len(self._keys) * 4 > self._buckets * 3:
            self._buckets *= 2

    def remove(self, key: K) -> None:
        """Removes a key that is present."""
        del self._keys[key]


def integer_hash(value: int) -> int:
    """Returns `Integer.hashCode()`."""
    return value


def topic_id_hash(topic_id: bytes) -> int:
    """Returns the hash code of Kafka's Uuid."""
    first, second, third, fourth = unpack(">4I", topic_id)
    return int(first ^ second ^ third ^ fourth)


def topic_partition_hash(slot: tuple[bytes, int]) -> int:
    """Returns the hash code of Kafka's record TopicIdPartition (a topic id and an index)."""
    topic_id, index = slot
    return 31 * topic_id_hash(topic_id) + index & 0xFFFFFFFF
