"""The hash by which Java's producer chooses the partition of a record with a key (Kafka's Utils.murmur2)."""

from __future__ import annotations

_M = 0x5BD1E995
_MASK = 0xFFFFFFFF


def murmur2(key: bytes) -> int:
    """Returns the hash as an unsigned 32-bit number."""
    whole = len(key) & ~3
    value = 0x9747B28C ^ len(key)
    for position in range(0, whole, 4):
        block = int.from_bytes(key[position : position + 4], "little") * _M & _MASK
        value = (value * _M & _MASK) ^ ((block ^ block >> 24) * _M & _MASK)
    if whole < len(key):
        value = (value ^ int.from_bytes(key[whole:], "little")) * _M & _MASK
    value = (value ^ value >> 13) * _M & _MASK
    return value ^ value >> 15


def partition_of(key: bytes, partitions: int) -> int:
    """Returns the index of the partition for records with this key (BuiltInPartitioner.partitionForKey)."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions
