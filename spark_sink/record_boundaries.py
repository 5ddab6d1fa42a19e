"""Finds the position of every record in many record batches.

A record starts with its own length, so the position of a record is only known after its predecessor has been read. This is the one part of
decoding that numpy cannot do for all records at once. Two methods share the work:

* In lanes (`_walk_in_lanes`): all batches advance in lockstep. Step n finds record n of every batch with a few numpy operations, so that
  their fixed cost is shared by all batches. A table of 65,536 entries maps the first two bytes of a record to its size. The loop ends when
  fewer than FEWEST_LANES batches have records left.
* Alone (`_walk_alone`): a batch that remains (few batches, many more records than the others, or a record of 8 KiB and more, whose length
  takes more than two bytes) is read on its own. Producers often write records of equal size, so runs of equal length prefixes at equal
  distances are detected with numpy first, and a Python loop reads what is left.

Both methods check that the last record ends exactly where its batch ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocol.batches.records import InvalidRecords
from ..protocol.schema import ProtocolError
from ..protocol.varints import uvarint_rest
from .varint_columns import Bytes, Longs


def _steps() -> Longs:
    """Returns a table from the first two bytes of a record (little-endian) to its size, including the length prefix.

    The entry is 0 for a negative length and for a length of more than two bytes. A lane that meets one does not advance, so it does not
    reach the end of its batch, and the batch is read again by `_walk_alone`.
    """
    first, second = np.arange(1 << 16) & 0xFF, np.arange(1 << 16) >> 8
    steps = np.where(first < 128, 1 + (first >> 1), 2 + ((first & 127 | second << 7) >> 1))
    return np.where((first & 1) | (first > 127) & (second > 127), 0, steps)


STEPS = _steps()
FEWEST_LANES = 20
"""With fewer lanes, one numpy step costs more than the Python loop needs for the same records."""
MIN_RUN = 16
"""Number of records. After a shorter run of equal sizes, the rest of the batch is read record by record."""
SMALLEST_RECORD = 7
"""Size in bytes: length, attributes, timestamp delta, offset delta, key length, value length and header count, one byte each."""


def record_starts(data: Bytes, starts: Longs, ends: Longs, counts: Longs) -> Longs:
    """Returns the positions in `data` of all records, batch by batch.

    Batch i has `counts[i]` > 0 records between the positions `starts[i]` and `ends[i]`. Raises InvalidRecords when the records of a batch
    do not fill that space exactly.
    """
    if (counts * SMALLEST_RECORD > ends - starts).any():
        raise InvalidRecords("a batch has fewer bytes than its count of records needs")
    slots = np.cumsum(counts) - counts
    positions = np.empty(int(counts.sum()), np.int64)
    for lane in _walk_in_lanes(data, starts, ends, counts, slots, positions):
        slot, count = int(slots[lane]), int(counts[lane])
        _walk_alone(data, int(starts[lane]), int(ends[lane]), positions[slot : slot + count])
    return positions


def _walk_in_lanes(data: Bytes, starts: Longs, ends: Longs, counts: Longs, slots: Longs, positions: Longs) -> list[int]:
    """Writes the positions that it finds to `positions`. Returns the numbers of the batches that `_walk_alone` has to read."""
    if len(counts) < FEWEST_LANES:
        return list(range(len(counts)))
    order = np.argsort(-counts, kind="stable")
    at, slot, longest_first = starts[order], slots[order], counts[order]
    steps = int(longest_first[FEWEST_LANES - 1])
    two_bytes: Any = np.ndarray((len(data) - 1,), "<u2", data, strides=(1,))  # overlapping: element i is the two bytes at i
    try:
        for active in np.searchsorted(-longest_first, -np.arange(steps)).tolist():
            here, put = at[:active], slot[:active]
            positions[put] = here
            here += STEPS[two_bytes[here]]
            put += 1
    except IndexError:
        raise InvalidRecords("a record goes beyond the last batch") from None
    unfinished: list[int] = order[at != ends[order]].tolist()
    return unfinished


def _walk_alone(data: Bytes, position: int, end: int, positions: Longs) -> None:
    """Writes the positions of one batch: runs of records of equal size while these are long enough, then record by record."""
    done, run = 0, MIN_RUN
    view = data.data
    while done < len(positions) and run >= MIN_RUN:
        run, size = _run(data, view, position, end, len(positions) - done)
        positions[done : done + run] = position + size * np.arange(run)
        done, position = done + run, position + run * size
    positions[done:], position = _one_by_one(view, position, end, len(positions) - done)
    if position != end:
        raise InvalidRecords(f"{end - position} bytes after the last record")


def _run(data: Bytes, view: memoryview, position: int, end: int, most: int) -> tuple[int, int]:
    """Returns (how many records from `position` on have the same length prefix at equal distances, the size of each)."""
    stop, prefix_size = _record_end(view, position, end)
    size = stop - position
    most = min(most, (end - position) // size)
    same = np.ones(most, bool)
    for at in range(position, position + prefix_size):
        same &= data[at : at + (most - 1) * size + 1 : size] == view[at]
    return (most if same.all() else int(same.argmin())), size


def _one_by_one(view: memoryview, position: int, end: int, count: int) -> tuple[list[int], int]:
    """Returns (the positions of `count` records, the position after them)."""
    # Indexing `bytes` is faster than indexing a memoryview. Lengths of one and two bytes, nearly all, are decoded inline.
    positions, lengths, base = [], bytes(view[position:end]), position
    try:
        for _ in range(count):
            positions.append(position)
            first = lengths[position - base]
            if first & 1 or (first > 127 and lengths[position - base + 1] > 127):
                position, _ = _record_end(view, position, end)
            elif first < 128:
                position += 1 + (first >> 1)
            else:
                position += 2 + (first >> 1 & 63) + (lengths[position - base + 1] << 6)
    except IndexError:
        raise InvalidRecords("a record goes beyond its batch") from None
    return positions, position


def _record_end(view: memoryview, position: int, end: int) -> tuple[int, int]:
    """Returns (the position after the record, the width of its length prefix in bytes)."""
    try:
        size, after = view[position], position + 1
        if size > 127:
            size, after = uvarint_rest(view, size, after)
    except (IndexError, ProtocolError):
        raise InvalidRecords("the length of a record is truncated") from None
    stop = after + (size >> 1)
    if size & 1 or stop > end:
        raise InvalidRecords(f"a record of {size >> 1} bytes where {end - after} are left")
    return stop, after - position
