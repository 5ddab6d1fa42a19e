"""Where each record of many batches begins: the one thing about records that can only be found step by step.

All batches step together, one lane each, so that numpy's cost for a step is shared; what does not suit that goes alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..protocol.records import InvalidRecords
from ..protocol.schema import ProtocolError
from ..protocol.varints import uvarint_rest
from .varint_columns import Bytes, Longs


def _steps() -> Longs:
    """The size of the record that two bytes begin, the first one being the lower, with its length prefix.

    It is 0 for lengths that are negative or of more than two bytes: who stands still does not end right.
    """
    first, second = np.arange(1 << 16) & 0xFF, np.arange(1 << 16) >> 8
    steps = np.where(first < 128, 1 + (first >> 1), 2 + ((first & 127 | second << 7) >> 1))
    return np.where((first & 1) | (first > 127) & (second > 127), 0, steps)


STEPS = _steps()
FEWEST_LANES = 20
"""With fewer lanes a step costs more than a loop over single records."""
SHORTEST_RUN = 16
SMALLEST_RECORD = 7


def record_starts(data: Bytes, starts: Longs, ends: Longs, counts: Longs) -> Longs:
    """The positions of all records, batch by batch: `counts[i]` > 0 records fill `data` from `starts[i]` to `ends[i]` exactly.

    Raises InvalidRecords where they do not.
    """
    if (counts * SMALLEST_RECORD > ends - starts).any():
        raise InvalidRecords("a batch has fewer bytes than its count of records needs")
    slots = np.cumsum(counts) - counts
    positions = np.empty(int(counts.sum()), np.int64)
    for lane in _walk_together(data, starts, ends, counts, slots, positions):
        slot, count = int(slots[lane]), int(counts[lane])
        _walk_alone(data, int(starts[lane]), int(ends[lane]), positions[slot : slot + count])
    return positions


def _walk_together(data: Bytes, starts: Longs, ends: Longs, counts: Longs, slots: Longs, positions: Longs) -> list[int]:
    """Fills `positions`; the lanes that did not end right, or are longer than most, are returned."""
    if len(counts) < FEWEST_LANES:
        return list(range(len(counts)))
    order = np.argsort(-counts, kind="stable")
    at, slot, longest_first = starts[order], slots[order], counts[order]
    steps = int(longest_first[FEWEST_LANES - 1])
    two_bytes: Any = np.ndarray((len(data) - 1,), "<u2", data, strides=(1,))  # one begins at every byte
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
    """One batch: runs of records of one size, and when they become short, record by record."""
    done, run = 0, SHORTEST_RUN
    view = data.data
    while done < len(positions) and run >= SHORTEST_RUN:
        run, size = _run(data, view, position, end, len(positions) - done)
        positions[done : done + run] = position + size * np.arange(run)
        done, position = done + run, position + run * size
    positions[done:], position = _one_by_one(view, position, end, len(positions) - done)
    if position != end:
        raise InvalidRecords(f"{end - position} bytes after the last record")


def _run(data: Bytes, view: memoryview, position: int, end: int, most: int) -> tuple[int, int]:
    """(how many records from `position` on have the same length prefix at equal distances, their size)."""
    stop, prefix_size = _record_end(view, position, end)
    size = stop - position
    most = min(most, (end - position) // size)
    same = np.ones(most, bool)
    for at in range(position, position + prefix_size):
        same &= data[at : at + (most - 1) * size + 1 : size] == view[at]
    return (most if same.all() else int(same.argmin())), size


def _one_by_one(view: memoryview, position: int, end: int, count: int) -> tuple[list[int], int]:
    """(the positions of `count` records, the position after them). Lengths of one and two bytes are inline: they are nearly all."""
    positions, lengths, base = [], bytes(view[position:end]), position  # to read single bytes from bytes is fastest
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
    """(position after the record, width of its length prefix)."""
    try:
        size, after = view[position], position + 1
        if size > 127:
            size, after = uvarint_rest(view, size, after)
    except (IndexError, ProtocolError):
        raise InvalidRecords("the length of a record is cut") from None
    stop = after + (size >> 1)
    if size & 1 or stop > end:
        raise InvalidRecords(f"a record of {size >> 1} bytes where {end - after} are left")
    return stop, after - position
