"""The column path: checks many records of different sizes at once with numpy. Each field of all records is one array, its column.

Only the starts of the records are found one after the other, because each follows from the size of the record before it.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..records import Buffer

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]

MAX_VARINT_BYTES, MAX_HEADERS = 5, 16


class Columns(NamedTuple):
    """The lowest and highest timestamp delta of some records, whether their offset deltas are consecutive, whether a key is missing."""

    earliest: int
    latest: int
    consecutive: bool
    key_missing: bool


class Irregular(ValueError):
    """Raised for bytes that must be read sequentially, because they are malformed or unusual records."""


def read_columns(data: Buffer, position: int, index: int, count: int) -> Columns:
    """Reads `count` records, which must fill `data` from `position` on; `index` is that of the first one. Raises Irregular."""
    starts = _starts(data, position, count)
    octets = np.frombuffer(data, np.uint8)
    sizes, at = _varints(octets, starts)
    ends = at + (sizes >> 1)
    if (sizes & 1).any() or (ends[:-1] != starts[1:]).any() or ends[-1] != len(octets):
        raise Irregular
    deltas, at = _varints(octets, at + 1)  # after one byte of attributes
    offsets, at = _varints(octets, at)
    keys, at = _fields(octets, at)
    _, at = _fields(octets, at)
    headers, at = _varints(octets, at)
    if headers.any():
        at = _skip_headers(octets, headers, at)
    if (at != ends).any():
        raise Irregular
    deltas = deltas >> 1 ^ -(deltas & 1)
    successive = np.arange(2 * index, 2 * (index + count), 2)  # before zigzag
    return Columns(int(deltas.min()), int(deltas.max()), bool((offsets == successive).all()), bool((keys & 1).any()))


def _starts(data: Buffer, position: int, count: int) -> Longs:
    """Returns the positions of `count` records. Raises Irregular if the data ends before them."""
    starts = array("q", bytes(8 * count))
    try:
        for number in range(count):
            starts[number] = position
            size = data[position]
            if size < 128:
                position += 1 + (size >> 1)
            else:
                second = data[position + 1]
                if second < 128:
                    position += 2 + ((size & 127 | second << 7) >> 1)
                else:
                    third = data[position + 2]
                    position += 3 + ((size & 127 | (second & 127) << 7 | (third & 127) << 14) >> 1)
    except IndexError:
        raise Irregular from None
    return np.frombuffer(starts, np.int64)


def _varints(octets: Bytes, at: Longs) -> tuple[Longs, Longs]:
    """Returns (values before zigzag, positions after them) of the varints at the positions `at`.

    For positions past the end, the last byte is read; the caller detects this by comparing the positions with the ends of the records.
    """
    first: Any = octets.take(at, mode="clip")
    values, after = (first & 127).astype(np.int64), at + 1
    longer, shift = np.flatnonzero(first > 127), 7
    while len(longer):
        if shift == 7 * MAX_VARINT_BYTES:
            raise Irregular
        octet = octets.take(after[longer], mode="clip")
        values[longer] |= (octet & 127).astype(np.int64) << shift
        after[longer] += 1
        longer, shift = longer[octet > 127], shift + 7
    return values, after


def _fields(octets: Bytes, at: Longs) -> tuple[Longs, Longs]:
    """Returns (lengths before zigzag, positions after the bytes); an odd length, which is negative, means null."""
    lengths, after = _varints(octets, at)
    return lengths, after + np.where(lengths & 1, 0, lengths >> 1)


def _skip_headers(octets: Bytes, counts: Longs, at: Longs) -> Longs:
    """Returns the positions after the headers; `counts` are before zigzag. Raises Irregular."""
    if (counts & 1).any() or counts.max() > 2 * MAX_HEADERS:
        raise Irregular
    for number in range(int(counts.max()) >> 1):
        rows = np.flatnonzero(counts >> 1 > number)
        names, after = _fields(octets, at[rows])
        if (names & 1).any():
            raise Irregular
        at[rows] = _fields(octets, after)[1]
    return at
