"""The shape of a record: the positions of its structural bytes, as opposed to those of its keys, values and header contents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from ..records import Buffer, InvalidRecords
from .scan import read_varint


class RecordShape(NamedTuple):
    """Positions of the structural bytes of one record.

    `size`, `timestamp` and `offset` are those of the varints with these names, `lengths` those of the lengths of key, value and
    headers and of the header count. `end` is the position after the record.
    """

    end: int
    size: Sequence[int]
    lengths: Sequence[int]
    timestamp: Sequence[int]
    offset: Sequence[int]
    key_missing: bool


def shape_of_record(data: Buffer, position: int) -> RecordShape:
    """Returns the shape of the well-formed record at `position`. Raises InvalidRecords, IndexError."""
    size, start = read_varint(data, position)
    _, offset_at = read_varint(data, start + 1, 64)
    _, at = read_varint(data, offset_at)
    offset = range(offset_at, at)
    lengths: list[int] = []
    key, at = _skip_field(data, at, lengths)
    _, at = _skip_field(data, at, lengths)
    headers, after = read_varint(data, at)
    lengths += range(at, after)
    at = after
    if headers & 1 or headers >> 1 > len(data) - at:
        raise InvalidRecords("an impossible number of headers")
    for _ in range(headers >> 1):
        name, at = _skip_field(data, at, lengths)
        if name & 1:
            raise InvalidRecords("a header without a name")
        _, at = _skip_field(data, at, lengths)
    if size & 1 or not at == start + (size >> 1) <= len(data):
        raise InvalidRecords("a record that differs from its declared size")
    return RecordShape(at, range(position, start), lengths, range(start + 1, offset_at), offset, bool(key & 1))


def _skip_field(data: Buffer, at: int, lengths: list[int]) -> tuple[int, int]:
    """Returns (length before zigzag, position after the field) and adds the positions of the length to `lengths`."""
    length, after = read_varint(data, at)
    lengths += range(at, after)
    return length, after if length & 1 else after + (length >> 1)
