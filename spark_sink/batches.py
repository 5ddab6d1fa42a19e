"""The record batches of one fetch: parses their headers into columns, selects the visible batches and decompresses their records."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from ..protocol.batches.compression import Compression, InvalidCompression, decompress
from ..protocol.batches.records import (
    COMPRESSION_MASK,
    CONTROL_BIT,
    CRC_START,
    DECOMPRESSED_LIMIT,
    HEADER,
    PREFIX_SIZE,
    SMALLEST_LENGTH,
    TRANSACTIONAL_BIT,
    BatchHeader,
    CorruptBatch,
    InvalidRecords,
    RecordBatch,
)
from ..protocol.frame import LENGTH
from ..protocol.messages.fetch import AbortedTransaction
from .varint_columns import Bytes, Longs

ENOUGH_BYTES = 16 << 20
"""Compressed batches are decoded together until their uncompressed records have this size."""
ABORT_MARKER = 0
"""The type in the key of a control record that aborts a transaction."""
HEADER_FIELDS = np.dtype(
    list(zip(BatchHeader._fields, (">i8", ">i4", ">i4", "i1", ">u4", ">i2", ">i4", ">i8", ">i8", ">i8", ">i2", ">i4", ">i4"), strict=True))
)


class Batches(NamedTuple):
    """The complete record batches (format version 2) in `view`, with their header fields as int64 columns."""

    view: memoryview
    positions: Longs
    sizes: Longs
    base_offsets: Longs
    last_offsets: Longs
    crcs: Longs
    attributes: Longs
    base_timestamps: Longs
    max_timestamps: Longs
    producer_ids: Longs
    counts: Longs

    @classmethod
    def of(cls, view: memoryview) -> Self:
        """Parses all complete batches and ignores an incomplete one at the end.

        Raises CorruptBatch, and InvalidRecords for an older format.
        """
        positions = np.array(_positions(view), np.int64)
        every_byte: Any = np.ndarray(
            (max(len(view) - HEADER.size + 1, 0),), HEADER_FIELDS, view, strides=(1,)
        )  # overlapping: element i is a header at byte i
        headers = every_byte[positions]
        if (headers["magic"] != 2).any():
            raise InvalidRecords("only record batches of format 2 can be read")
        sizes = headers["batch_length"].astype(np.int64) + PREFIX_SIZE
        if (sizes < HEADER.size).any():
            raise CorruptBatch(f"a batch of {sizes.min()} bytes is less than its header")
        counts = headers["records_count"].astype(np.int64)
        if (counts < 0).any():
            raise InvalidRecords(f"a count of {counts.min()} records")
        base_offsets = headers["base_offset"].astype(np.int64)
        return cls(
            view=view,
            positions=positions,
            sizes=sizes,
            base_offsets=base_offsets,
            last_offsets=base_offsets + headers["last_offset_delta"],
            crcs=headers["crc"].astype(np.int64),
            attributes=headers["attributes"].astype(np.int64),
            base_timestamps=headers["base_timestamp"].astype(np.int64),
            max_timestamps=headers["max_timestamp"].astype(np.int64),
            producer_ids=headers["producer_id"].astype(np.int64),
            counts=counts,
        )

    def where(self, which: Any) -> Batches:
        """Returns the batches that a mask, a slice or indices select."""
        return Batches(self.view, *(column[which] for column in self[1:]))

    def bytes_of(self, number: int) -> memoryview:
        """Returns the bytes of one batch, with its header."""
        start = int(self.positions[number])
        return self.view[start : start + int(self.sizes[number])]

    def check_crcs(self) -> None:
        """Raises CorruptBatch when the bytes of a batch do not match its checksum."""
        # Imported here, so that the warning about a missing package is logged where checksums are computed: in Spark's workers.
        from ..protocol.batches.checksum import crc32c

        columns = (self.positions, self.sizes, self.crcs, self.base_offsets)
        for position, size, crc, offset in zip(*(column.tolist() for column in columns), strict=True):
            if crc32c(self.view[position + CRC_START : position + size]) != crc:
                raise CorruptBatch(f"the CRC of the batch at offset {offset} is wrong")


def _positions(view: memoryview) -> list[int]:
    positions, position, end = [], 0, len(view)
    while position + HEADER.size <= end:
        (length,) = LENGTH.unpack_from(view, position + 8)
        if length < SMALLEST_LENGTH:
            raise CorruptBatch(f"a batch length of {length}, less than {SMALLEST_LENGTH}")
        following = position + PREFIX_SIZE + length
        if following > end:
            break
        positions.append(position)
        position = following
    return positions


def visible(batches: Batches, start: int, end: int, aborted: Sequence[AbortedTransaction]) -> Batches:
    """Returns the batches with records from `start` to `end` (exclusive), without control batches and aborted transactions."""
    wanted = (batches.counts > 0) & (batches.last_offsets >= start) & (batches.base_offsets < end)
    wanted &= batches.attributes & CONTROL_BIT == 0
    if aborted:
        wanted &= ~_aborted_mask(batches, aborted)
    return batches.where(wanted)


def _aborted_mask(batches: Batches, aborted: Sequence[AbortedTransaction]) -> Any:
    """Returns a mask of the batches of aborted transactions: from the first offset of each to its producer's next abort marker (KIP-98)."""
    waiting = sorted(aborted, key=lambda transaction: transaction.first_offset, reverse=True)
    dropped = np.zeros(len(batches.positions), bool)
    producers: set[int] = set()
    for number, producer in enumerate(batches.producer_ids.tolist()):
        while waiting and waiting[-1].first_offset <= batches.last_offsets[number]:
            producers.add(waiting.pop().producer_id)
        if producer not in producers or not batches.attributes[number] & TRANSACTIONAL_BIT:
            continue
        if batches.attributes[number] & CONTROL_BIT:
            producers.difference_update([producer] if _is_abort(batches.bytes_of(number)) else [])
        else:
            dropped[number] = True
    return dropped


def _is_abort(marker: memoryview) -> bool:
    # The key of a control record is its version and its type, both int16.
    key = next(RecordBatch(marker).records()).key
    return key is not None and int.from_bytes(key[2:4], "big") == ABORT_MARKER


class DecompressedBatches(NamedTuple):
    """Batches, and the positions of the uncompressed records of each in `data`."""

    batches: Batches
    data: Bytes
    starts: Longs
    ends: Longs


def decompress_all(batches: Batches) -> Iterator[DecompressedBatches]:
    """Yields the batches with uncompressed records.

    Batches without compression are yielded at once and are not copied; otherwise several are decompressed at a time, up to ENOUGH_BYTES.
    Raises InvalidRecords.
    """
    if not (batches.attributes & COMPRESSION_MASK).any():
        ends = batches.positions + batches.sizes
        yield DecompressedBatches(batches, np.frombuffer(batches.view, np.uint8), batches.positions + HEADER.size, ends)
        return
    pieces: list[bytes] = []
    first = size = 0
    for number in range(len(batches.positions)):
        pieces.append(_decompress(batches, number))
        size += len(pieces[-1])
        if size >= ENOUGH_BYTES or number == len(batches.positions) - 1:
            yield _join(batches.where(slice(first, number + 1)), pieces)
            pieces, first, size = [], number + 1, 0


def _decompress(batches: Batches, number: int) -> bytes:
    codec = int(batches.attributes[number]) & COMPRESSION_MASK
    if codec > Compression.ZSTD:
        raise InvalidRecords(f"there is no compression type {codec}")
    try:
        return decompress(Compression(codec), batches.bytes_of(number)[HEADER.size :], DECOMPRESSED_LIMIT)
    except InvalidCompression as error:
        raise InvalidRecords(str(error)) from error


def _join(batches: Batches, pieces: list[bytes]) -> DecompressedBatches:
    ends = np.cumsum([len(piece) for piece in pieces])
    return DecompressedBatches(batches, np.frombuffer(b"".join(pieces), np.uint8), np.concatenate(([0], ends[:-1])), ends)
