"""Hash codes of Java and Kafka, the iteration order of hash tables, and the overflows of 64-bit numbers.

Clients can see them: a hash code selects the coordinator of a group id or transactional id and the partition of a key, and Kafka returns
some lists in the order in which it iterates over a hash table. Its assignor of share groups iterates over hash tables too, so that their
order decides which member gets which partition.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from struct import unpack
from typing import Generic, TypeVar


def java_hash(text: str) -> int:
    """Returns `String.hashCode()`, which is computed from UTF-16 code units, as a signed 32-bit integer."""
    if text.isascii():
        units: Iterable[int] = text.encode()
    else:
        data = text.encode("utf-16-be", "surrogatepass")
        units = unpack(f">{len(data) // 2}H", data)
    value = 0
    for unit in units:
        value = (31 * value + unit) & 0xFFFFFFFF
    return value - (1 << 32) if value > 0x7FFFFFFF else value


def abs_java_hash(key: str) -> int:
    """Returns Kafka's `Utils.abs(key.hashCode())`.

    The remainder of a division by the number of partitions is the index of the partition that coordinates the key.
    """
    value = java_hash(key)
    return 0 if value == -(1 << 31) else abs(value)


def hash_map_order(keys: Iterable[str], capacity: int = 16) -> list[str]:
    """Returns the keys, without duplicates, in the order of a HashMap of this initial capacity that has never contained other keys."""
    return bucket_order({key: java_hash(key) for key in keys}, capacity)


def bucket_order(hash_codes: Mapping[str, int], capacity: int = 16) -> list[str]:
    """Returns what `hash_map_order` returns, for keys whose hash codes are known."""
    mask = _table_size(len(hash_codes), 1 << (capacity - 1).bit_length()) - 1
    return sorted(hash_codes, key=lambda key: spread(hash_codes[key]) & mask)


def timeline_order(keys: Iterable[str]) -> list[str]:
    """Returns the keys in the order of Kafka's TimelineHashMap, if they were added in this order and it has never contained others.

    The keys must be distinct. A key's slot is given by the highest bits of the product of its hash code and a constant. Within a slot, the
    key that was added last comes first.
    """
    last_first = list(keys)[::-1]
    bits = 1
    while len(last_first) * 3 > 4 << bits:
        bits += 1
    return sorted(last_first, key=lambda key: (java_hash(key) * _FIBONACCI & _LONG_MASK) >> (64 - bits))


def partitions_order(topic: str, partitions: Collection[int], *, concurrent: bool = False) -> list[int]:
    """Returns the partitions of a topic in the order of a HashMap with their TopicPartitions as keys, or of a ConcurrentHashMap."""
    mask = _table_size(len(partitions) + concurrent) - 1
    topic_hash = java_hash(topic)
    return sorted(partitions, key=lambda partition: spread(31 * (31 + partition) + topic_hash) & mask)


_FIBONACCI, _LONG_MASK = -7046029254386353131, (1 << 64) - 1


def _table_size(count: int, size: int = 16) -> int:
    """Returns the number of buckets of a HashMap with `count` keys, which fill at most three quarters of the buckets.

    `size` is the initial number of buckets. A ConcurrentHashMap is resized one key earlier.
    """
    while count * 4 > size * 3:
        size *= 2
    return size


def spread(value: int) -> int:
    """Returns the hash code with its high bits mixed into the low ones, which select the bucket (`HashMap.hash`)."""
    return value ^ (value & 0xFFFFFFFF) >> 16


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


_MURMUR_FACTOR = 0x5BD1E995
_INT_MASK = 0xFFFFFFFF


def murmur2(key: bytes) -> int:
    """Returns the hash as an unsigned 32-bit number."""
    whole = len(key) & ~3
    value = 0x9747B28C ^ len(key)
    for position in range(0, whole, 4):
        block = int.from_bytes(key[position : position + 4], "little") * _MURMUR_FACTOR & _INT_MASK
        value = (value * _MURMUR_FACTOR & _INT_MASK) ^ ((block ^ block >> 24) * _MURMUR_FACTOR & _INT_MASK)
    if whole < len(key):
        value = (value ^ int.from_bytes(key[whole:], "little")) * _MURMUR_FACTOR & _INT_MASK
    value = (value ^ value >> 13) * _MURMUR_FACTOR & _INT_MASK
    return value ^ value >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """Returns the index of the partition for records with this key (BuiltInPartitioner.partitionForKey)."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def wrap_long(value: int) -> int:
    """Returns the value of a Java `long` after an overflow: the lowest 64 bits, as a signed integer."""
    return (value + (1 << 63)) % (1 << 64) - (1 << 63)
