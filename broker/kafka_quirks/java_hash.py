"""Java's string hash codes, and the iteration orders of Java's and Kafka's hash tables.

Both are visible to clients: the hash code of a group id or transactional id selects its coordinator, and Kafka returns some lists in the
order in which it iterates over a hash table.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from struct import unpack


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
