"""Checks many records of all sizes at once, where numpy is installed: each field of all of them is one column.

Where a record begins is found step by step, since only its size tells where the next one does; all else is done in columns.
"""

from __future__ import annotations

from array import array
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .records import Buffer

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]

LONGEST_VARINT, MOST_HEADERS = 5, 16


class Columns(NamedTuple):
    """What records are like: the lowest and the highest delta of their timestamps, and whether their offset deltas count on."""

    earliest: int
    latest: int
    consecutive: bool
    key_missing: bool


class Irregular(ValueError):
    """These bytes are to be read one by one: they are no records, or unusual ones."""


def read_columns(data: Buffer, position: int, number: int, count: int) -> Columns:
    """The `count` records, the first of which is `number`, that fill `data` from `position` on exactly. Raises Irregular."""
    starts = _starts(data, position, count)
    octets = np.frombuffer(data, np.uint8)
    sizes, at = _varints(octets, starts)
    ends = at + (sizes >> 1)
    if (sizes & 1).any() or (ends[:-1] != starts[1:]).any() or ends[-1] != len(octets):
        raise Irregular
    deltas, at = _varints(octets, at + 1)  # one byte of attributes is stepped over
    offsets, at = _varints(octets, at)
    keys, at = _fields(octets, at)
    _, at = _fields(octets, at)
    headers, at = _varints(octets, at)
    if headers.any():
        at = _skip_headers(octets, headers, at)
    if (at != ends).any():
        raise Irregular
    deltas = deltas >> 1 ^ -(deltas & 1)
    counting = np.arange(2 * number, 2 * (number + count), 2)  # before zigzag
    return Columns(int(deltas.min()), int(deltas.max()), bool((offsets == counting).all()), bool((keys & 1).any()))


def _starts(data: Buffer, position: int, count: int) -> Longs:
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
    """(values before zigzag, positions after them). Behind the end stands the last byte again: the caller sees where it comes out."""
    first: Any = octets.take(at, mode="clip")
    values, after = (first & 127).astype(np.int64), at + 1
    longer, shift = np.flatnonzero(first > 127), 7
    while len(longer):
        if shift == 7 * LONGEST_VARINT:
            raise Irregular
        octet = octets.take(after[longer], mode="clip")
        values[longer] |= (octet & 127).astype(np.int64) << shift
        after[longer] += 1
        longer, shift = longer[octet > 127], shift + 7
    return values, after


def _fields(octets: Bytes, at: Longs) -> tuple[Longs, Longs]:
    """(lengths before zigzag, positions after the bytes); an odd length is that of null."""
    lengths, after = _varints(octets, at)
    return lengths, after + np.where(lengths & 1, 0, lengths >> 1)


def _skip_headers(octets: Bytes, counts: Longs, at: Longs) -> Longs:
    if (counts & 1).any() or counts.max() > 2 * MOST_HEADERS:
        raise Irregular
    for number in range(int(counts.max()) >> 1):
        rows = np.flatnonzero(counts >> 1 > number)
        names, after = _fields(octets, at[rows])
        if (names & 1).any():
            raise Irregular
        at[rows] = _fields(octets, after)[1]
    return at
