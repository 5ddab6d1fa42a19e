"""Divides ranges of offsets into Spark tasks.

`minPartitions` and `maxRecordsPerPartition` act as in Spark's own source (KafkaOffsetRangeCalculator). Without `minPartitions`, small
ranges share a task.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from .offset_ranges import OffsetRange

SMALL_TASK = 10_000
"""Number of offsets. Spark needs 20 to 100 ms for a task, in which far more records can be read, so smaller ranges share a task."""


def split_into_tasks(ranges: Iterable[OffsetRange], min_partitions: int | None, max_records: int | None) -> list[list[OffsetRange]]:
    """Returns the ranges of each task, in order and without empty ranges; at least one task, because Spark does not plan zero."""
    pieces = [one for one in ranges if one.size > 0]
    if max_records is not None:
        pieces = [piece for one in pieces for piece in _split(one, math.ceil(one.size / max_records))]
    if min_partitions is not None:
        return [[piece] for piece in _split_proportionally(pieces, min_partitions)] or [[]]
    return _share(pieces, SMALL_TASK if max_records is None else min(SMALL_TASK, max_records))


def _split(one: OffsetRange, parts: int) -> Iterator[OffsetRange]:
    """Yields pieces of equal size; the last pieces are one offset larger when the division leaves a remainder."""
    start = one.start
    for part in range(parts):
        end = start + (one.end - start) // (parts - part)
        yield OffsetRange(one.partition, start, end)
        start = end


def _split_proportionally(ranges: list[OffsetRange], wanted: int) -> list[OffsetRange]:
    """Returns about `wanted` pieces.

    A range whose share of all offsets is one piece or less stays whole. The other ranges share the remaining number of pieces.
    """
    if len(ranges) >= wanted:
        return ranges
    total = sum(one.size for one in ranges)
    large = {one for one in ranges if _parts(one, total, wanted) > 1}
    total_of_large = sum(one.size for one in large)
    left = max(wanted - (len(ranges) - len(large)), 1)
    return [piece for one in ranges for piece in (_split(one, _parts(one, total_of_large, left)) if one in large else [one])]


def _parts(one: OffsetRange, total: int, wanted: int) -> int:
    return max(math.floor(one.size / total * wanted + 0.5), 1)


def _share(pieces: Iterable[OffsetRange], limit: int) -> list[list[OffsetRange]]:
    shared: list[list[OffsetRange]] = [[]]
    size = 0
    for piece in pieces:
        if shared[-1] and size + piece.size > limit:
            shared.append([])
            size = 0
        shared[-1].append(piece)
        size += piece.size
    return shared
