"""Which partition a record goes to: the given one, that of its key as with the Java client, or the one that is filled at present."""

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
    """The hashes of the elements of a binary array, as Kafka's Utils.murmur2 has them; null's mean nothing."""
    sizes = np.maximum(lengths(keys), 0)
    bounds = np.frombuffer(keys.buffers()[1], np.int32, len(keys) + 1, 4 * keys.offset).astype(np.int64)
    starts, used = bounds[:-1] - bounds[0], slice(int(bounds[0]), int(bounds[-1]))
    data = np.frombuffer(b"".join((memoryview(keys.buffers()[2] or b"")[used], bytes(4))), np.uint8)
    every_word: Any = np.ndarray((len(data) - 3,), "<u4", data, strides=(1,))  # one begins at each byte
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
    """For one topic. Records without a key go to one partition until that has got a batch, then to another (KIP-794)."""

    def __init__(self, batch_size: int, chance: random.Random) -> None:
        self._batch_size, self._chance = batch_size, chance
        self._partition, self._bytes = chance.getrandbits(31), 0

    def partitions(self, given: Longs | None, keys: Any, sizes: Longs, count: int) -> Longs:
        """One of `count` partitions for each record; those `given` stay, where they are not negative. `sizes` are the records'."""
        chosen = np.full(len(sizes), -1, np.int64) if given is None else given.copy()
        open_ = chosen < 0
        if keys.null_count < len(keys):
            keyed = open_ & keys.is_valid().to_numpy(zero_copy_only=False)
            chosen[keyed] = ((murmur2(keys) & np.uint32(POSITIVE)) % np.uint32(count))[keyed]
            open_ &= ~keyed
        if open_.any():
            chosen[open_] = self._fill(sizes[open_]) % count
        return chosen

    def _fill(self, sizes: Longs) -> Longs:
        """A number for each record, whose remainder is a partition."""
        before = self._bytes + np.cumsum(sizes) - sizes
        batches = before // self._batch_size
        numbers = [self._partition, *(self._chance.getrandbits(31) for _ in range(int(batches[-1])))]
        self._partition, self._bytes = numbers[-1], int(before[-1] + sizes[-1] - batches[-1] * self._batch_size)
        chosen: Longs = np.array(numbers, np.int64)[batches]
        return chosen
