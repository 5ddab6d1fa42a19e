"""Chooses the partition of each record, as Kafka's Java client does.

That is the partition that the row names, else the hash of the key, else the partition that is being filled (KIP-794).
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .encoder import lengths
from .varint_columns import Longs

SEED, FACTOR = np.uint32(0x9747B28C), np.uint32(0x5BD1E995)
POSITIVE = 0x7FFFFFFF


def murmur2(keys: Any) -> NDArray[np.uint32]:
    """Returns the hash of each element of a binary array, equal to Kafka's Utils.murmur2; the hashes of nulls are undefined.

    All keys are hashed in lockstep, four bytes a step. They are sorted by length, longest first, so that step n works on a prefix of the
    arrays: the keys that have an n-th word.
    """
    sizes = np.maximum(lengths(keys), 0)
    bounds = np.frombuffer(keys.buffers()[1], np.int32, len(keys) + 1, 4 * keys.offset).astype(np.int64)
    starts, used = bounds[:-1] - bounds[0], slice(int(bounds[0]), int(bounds[-1]))
    data = np.frombuffer(b"".join((memoryview(keys.buffers()[2] or b"")[used], bytes(4))), np.uint8)
    every_word: Any = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,))  # overlapping: element i is the word at byte i
    longest_first = np.argsort(-sizes, kind="stable")
    sizes, starts = sizes[longest_first], starts[longest_first]
    hashes = SEED ^ sizes.astype(np.uint32)
    for number, active in enumerate(np.searchsorted(-(sizes >> 2), -np.arange(1, int(sizes[0] >> 2) + 1), "right").tolist()):
        word = every_word[starts[:active] + 4 * number] * FACTOR
        hashes[:active] = hashes[:active] * FACTOR ^ (word ^ word >> 24) * FACTOR
    rest = sizes & 3
    has_rest = rest > 0
    last = every_word[starts + (sizes & ~3)] & np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)[rest]
    hashes[has_rest] = (hashes[has_rest] ^ last[has_rest]) * FACTOR
    hashes ^= hashes >> 13
    hashes *= FACTOR
    found = np.empty_like(hashes)
    found[longest_first] = hashes ^ hashes >> 15
    return found


class Partitioner:
    """Chooses partitions of one topic.

    Records without a key go to one random partition until it has received `batch_size` bytes, then to another (KIP-794).
    """

    def __init__(self, batch_size: int, generator: random.Random) -> None:
        self._batch_size, self._generator = batch_size, generator
        self._partition, self._bytes = generator.getrandbits(31), 0

    def partitions(self, named: Longs | None, keys: Any, sizes: Longs, count: int) -> Longs:
        """Returns one of `count` partitions for each record.

        `named` has the partition that each row names, -1 for none; `sizes` are those of the records in bytes.
        """
        chosen = np.full(len(sizes), -1, np.int64) if named is None else named.copy()
        undecided = chosen < 0
        if keys.null_count < len(keys):
            keyed = undecided & keys.is_valid().to_numpy(zero_copy_only=False)
            chosen[keyed] = ((murmur2(keys) & np.uint32(POSITIVE)) % np.uint32(count))[keyed]
            undecided &= ~keyed
        if undecided.any():
            chosen[undecided] = self._fill(sizes[undecided]) % count
        return chosen

    def _fill(self, sizes: Longs) -> Longs:
        """Returns a random number for each record, equal for the records of one batch; modulo the partition count it is a partition."""
        before = self._bytes + np.cumsum(sizes) - sizes
        batches = before // self._batch_size
        numbers = [self._partition, *(self._generator.getrandbits(31) for _ in range(int(batches[-1])))]
        self._partition, self._bytes = numbers[-1], int(before[-1] + sizes[-1] - batches[-1] * self._batch_size)
        chosen: Longs = np.array(numbers, np.int64)[batches]
        return chosen
