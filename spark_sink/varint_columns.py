"""Reads and writes zigzag varints in columns: one numpy operation for all records, instead of a Python step for each.

The first two bytes, which suffice for nearly all lengths and deltas, are handled in small integer types; longer varints are rare and take a
slower path.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ..protocol.batches.records import InvalidRecords

Bytes: TypeAlias = NDArray[np.uint8]
Longs: TypeAlias = NDArray[np.int64]


def read_varints(data: Bytes, at: Longs, bits: int = 32) -> tuple[Longs, Longs]:
    """Returns (values, positions after them) of the varints at the positions `at`. Raises InvalidRecords for more than `bits` bits.

    Bytes beyond the end of `data` are read as its last byte, so the caller has to compare the resulting positions with the ends of records.
    """
    first = data.take(at, mode="clip")
    if not len(at) or first.max() < 128:
        return _decode_zigzag(first).astype(np.int64), at + 1
    second = data.take(at + 1, mode="clip")
    second *= first >> 7
    values = _decode_zigzag(first & np.uint16(127) | second.astype(np.uint16) << np.uint16(7)).astype(np.int64)
    after = at + 1
    after += first >> 7
    if second.max() > 127:
        longer = np.flatnonzero(second > 127)
        values[longer], after[longer] = _read_long(data, at[longer], bits)
    return values, after


def _decode_zigzag(raw: NDArray[Any]) -> NDArray[Any]:
    """Decodes zigzag numbers to the signed type of their width."""
    minus_one = raw.dtype.type(-1 % (1 << 8 * raw.itemsize))
    signed: NDArray[Any] = (raw >> 1 ^ (raw & 1) * minus_one).view(f"i{raw.itemsize}")
    return signed


def _read_long(data: Bytes, at: Longs, bits: int) -> tuple[Longs, Longs]:
    raw, after, going = np.zeros(len(at), np.uint64), at.copy(), np.ones(len(at), bool)
    for shift in range(0, bits, 7):
        byte = data.take(after, mode="clip")
        raw |= np.where(going, byte & 127, 0).astype(np.uint64) << np.uint64(shift)
        after += going
        going &= byte > 127
    if going.any():
        raise InvalidRecords(f"a varint of more than {bits} bits")
    raw &= np.uint64((1 << bits) - 1)
    return _decode_zigzag(raw), after


def varint_widths(values: Longs) -> Longs:
    """Returns the encoded size of each 32-bit value, 1 to 5 bytes."""
    magnitudes = values ^ (values >> 63)
    widths = np.ones(len(values), np.int64)
    largest = int(magnitudes.max(initial=0))
    for bits in (6, 13, 20, 27):
        if largest >> bits:
            widths += magnitudes >> bits != 0
    return widths


def put_varints(values: Longs) -> tuple[list[Bytes], list[Any]]:
    """Encodes 32-bit values.

    Returns (columns of all first bytes, all second bytes and so on up to the widest varint, masks of the values that have a second byte, a
    third and so on).
    """
    widths = varint_widths(values)
    has = [widths > number for number in range(1, int(widths.max(initial=1)))]
    raw = (values << 1 ^ values >> 63).astype(np.uint32)
    columns = [(raw >> np.uint32(7 * number)).astype(np.uint8) & np.uint8(127) for number in range(len(has) + 1)]
    for column, goes_on in zip(columns, has, strict=False):
        column |= goes_on.view(np.uint8) << np.uint8(7)
    return columns, has
