"""The run path: checks successive records of one shape all at once, because their structural bytes are at equal distances.

The structural byte at position p of the first record of a run is at p + size, p + 2 * size and so on in the records that follow.
The slice `data[p::size]` collects it from all records; such a slice is called a column here. Lengths and counts must be the same
in each record, so their columns repeat one byte. The deltas of timestamps and offsets may differ, but must take the same number of bytes in
each record.
"""

from __future__ import annotations

from ..records import InvalidRecords, from_zigzag
from .scan import RecordScan, read_varint
from .shapes import shape_of_record

MIN_RUN = 10
"""With fewer records the slices of a run take longer than reading the records one by one."""

_CONTINUED = bytes(range(128, 256))
"""The values of all bytes of a varint except the last one."""
_UP_TO = [bytes(range(value + 1)) for value in range(256)]
_EVEN_FROM_128 = bytes(128 + 2 * n for n in range(64))
"""The first bytes of the zigzag varints of 64 successive numbers, if they have a second byte."""


def read_run(scan: RecordScan) -> bool:
    """Advances `scan` over the run that begins at its position. Returns False if there is none, or one that this path cannot check."""
    data, index = scan.data, scan.index
    try:
        shape = shape_of_record(data, scan.position)
    except (IndexError, InvalidRecords):
        return False
    size = shape.end - scan.position
    count = min(scan.header.records_count - index, (len(data) - scan.position) // size)
    for at in shape.size:
        column = _column(scan, at, size, count)
        if not _is_uniform(column):
            count -= len(column.lstrip(column[:1]))
    if count < MIN_RUN or (scan.rules.keys and shape.key_missing):
        return False
    for at in shape.lengths:
        if not _is_uniform(_column(scan, at, size, count)):
            return False
    timestamps = [_column(scan, at, size, count) for at in shape.timestamp]
    offsets = [_column(scan, at, size, count) for at in shape.offset]
    if not (_are_varints(timestamps) and _are_varints(offsets) and _are_in_time(scan, timestamps)):
        return False
    scan.consecutive = scan.consecutive and (not scan.lenient or offsets == _successive(len(offsets), index, count))
    scan.index, scan.position = index + count, scan.position + count * size
    return True


def _column(scan: RecordScan, at: int, size: int, count: int) -> bytes:
    """Returns the byte at `at`, and at the same place in the following records of `size` bytes, for `count` records."""
    return bytes(scan.data[at : at + (count - 1) * size + 1 : size])


def _is_uniform(column: bytes) -> bool:
    """Returns whether all bytes are equal. Comparing is several times as fast as `bytes.count` or `bytes.strip`."""
    return column == column[:1] * len(column)


def _are_in_time(scan: RecordScan, columns: list[bytes]) -> bool:
    """Returns whether all timestamps of a run are within the rules and none is above the header's maximum."""
    header, rules = scan.header, scan.rules
    base, expected = header.base_timestamp, header.max_timestamp - header.base_timestamp
    low, high, is_reached = _bounds(columns, expected)
    if high > expected or base + low < rules.earliest or base + high > rules.latest:
        return False
    if is_reached:
        scan.latest = max(scan.latest, base + high)
    else:
        scan.latest_is_exact = False
    return True


def _are_varints(columns: list[bytes]) -> bool:
    """Returns whether the last byte of every varint is in the last column."""
    return columns[-1].isascii() and not any(column.translate(None, _CONTINUED) for column in columns[:-1])


def _successive(width: int, first: int, count: int) -> list[bytes]:
    """Returns the columns of the numbers `first`, `first` + 1 and so on, as `count` varints of `width` bytes."""
    if width == 1:
        return [bytes(range(2 * first, min(2 * (first + count), 128), 2))]
    # In varints of two or more bytes, the first byte takes its 64 even values in turn, while the other bytes stay the same.
    blocks = range(first >> 6, (first + count >> 6) + 1)
    columns = [_EVEN_FROM_128 * len(blocks)]
    for place in range(1, width):
        high = 128 if place < width - 1 else 0
        columns.append(b"".join(bytes([block >> 7 * (place - 1) & 127 | high]) * 64 for block in blocks))
    return [column[first & 63 :][:count] for column in columns]


def _bounds(columns: list[bytes], expected: int) -> tuple[int, int, bool]:
    """Returns (a lower bound, an upper bound, whether a number equals the upper bound) of the numbers in `columns`.

    Numbers of one or two bytes that rise are compared with `expected`, the maximum according to the header, without decoding each of them.
    """
    limit = 1 << 7 * len(columns) - 1
    if len(columns) <= 2:
        if expected >= limit:
            return -limit, limit - 1, False
        if expected >= 0 and (is_reached := _reaches(columns, expected)) is not None:
            return -limit, expected, is_reached
    values = [from_zigzag(read_varint(bytes(varint), 0, 64)[0]) for varint in set(zip(*columns, strict=True))]
    return min(values), max(values), True


def _reaches(columns: list[bytes], expected: int) -> bool | None:
    """Returns whether a number is `expected` and none is above it; None if the columns alone do not decide it."""
    top, largest = columns[-1], expected << 1 >> 7 * (len(columns) - 1)
    if top.translate(None, _UP_TO[largest]):
        return None
    if len(columns) == 1:
        return largest in top
    first, last = top.find(largest), top.rfind(largest) + 1
    if first < 0:
        return False
    lowest, tail = expected << 1 & 127 | 128, columns[0][first:last]
    if top.count(largest, first, last) < last - first or tail.translate(None, _UP_TO[lowest]):
        return None
    return lowest in tail
