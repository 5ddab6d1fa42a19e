"""Record batches for generated requests. Most are valid and continue the sequence of a known producer; the others are damaged."""

from __future__ import annotations

from random import Random

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import TRANSACTIONAL_BIT, write_crc
from tests.differential.damaged_batches import damaged, records

from .vocabulary import Draw

VALID, DAMAGED = 60, 200
PRODUCER_POSITION, ATTRIBUTES_POSITION = 43, 21


class Batches:
    """A pool of batches that is built once from a seed, because building a batch takes longer than building a request."""

    def __init__(self, seed: int) -> None:
        random = Random(seed)
        self._valid = [_valid(random) for _ in range(VALID)]
        self._damaged = [damaged(random) for _ in range(DAMAGED)]

    def __call__(self, draw: Draw) -> bytes:
        """Returns one or two batches."""
        dice = draw.random.random()
        if dice < draw.wildness:
            repetitions: int = draw.one_of((1, 1, 1, 2))
            return bytes(draw.one_of(self._damaged)) * repetitions
        batch = bytearray(draw.one_of(self._valid))
        if dice > 0.4:
            _written_by(batch, draw)
        return bytes(batch)


def _valid(random: Random) -> bytes:
    rows = [record._replace(timestamp=1000) for record in records(random)]
    return bytes(build_batch(rows, compression=random.choice([Compression.NONE, Compression.NONE, *Compression])))


def _written_by(batch: bytearray, draw: Draw) -> None:
    """Sets a known producer, a plausible sequence number, and perhaps the transactional bit in a batch."""
    known = draw.known
    producer_id, epoch = max(known.producer_id, -1), known.producer_epoch
    sequence = draw.one_of((0, 0, 1, 3, 8, 2147483647)) if producer_id >= 0 else -1
    position = PRODUCER_POSITION
    for value, size in ((producer_id, 8), (epoch, 2), (sequence, 4)):
        batch[position : position + size] = (value % (1 << 8 * size)).to_bytes(size, "big")
        position += size
    if producer_id >= 0 and known.transactional_id and draw.chance(0.6):
        attributes = int.from_bytes(batch[ATTRIBUTES_POSITION : ATTRIBUTES_POSITION + 2], "big") | TRANSACTIONAL_BIT
        batch[ATTRIBUTES_POSITION : ATTRIBUTES_POSITION + 2] = attributes.to_bytes(2, "big")
    write_crc(batch)
