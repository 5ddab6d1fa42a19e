"""The shape of a Produce request: the Struct that unpacks requests of one length, and the fields that they have in common.

`produce_shapes.py` explains how shapes are used. A request has a shape if its batch contains at most MAX_RECORDS plain records: without
headers, and with timestamp deltas of one byte. The deltas of the only record of a batch must be 0.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from operator import itemgetter
from struct import Struct
from typing import Any, NamedTuple

from ...protocol.batches.checks.scan import read_varint
from ...protocol.batches.records import CRC_START, HEADER
from ...protocol.frame import CLIENT_ID_POSITION
from .batch_checks import AppendRules
from .produce_target import Target

FieldsOf = Callable[[tuple[Any, ...]], Any]
"""A function that returns some of the fields that were unpacked."""
MAX_RECORDS = 9
"""Batches of more records are checked as runs (`protocol/batches/checks`)."""
_CRC, _COUNT = 17, 57  # positions in a batch, of the CRC and of the count of records
NUMBERS = 10
"""The number of fields before the count of records."""
_unpack_attributes_and_count = Struct(">h34xi").unpack_from
_COMMON_OF_ONE = itemgetter(0, 2, 4, 10, 12)


class Shape(NamedTuple):
    """One length of requests. `batch`, `batch_end`, `key` and `headers` are positions in a request.

    `unpack` returns key and version, correlation id, client id to magic, CRC, attributes and last offset delta, base timestamp, max
    timestamp, producer id, epoch, sequence, and the fields of the records. For one record these are its bytes before the key length, the
    key length (b"" without a key), and the bytes from the header count on, which is at `headers`. `key` is the position of the key length,
    0 without a key.

    `common_of` extracts the fields that must not differ, and `deltas_of`, if there are several records, their timestamp deltas. `common`
    are the fields of the first request, and the keys of `others` those of later requests, for example to other partitions. With them are
    stored the target, and the rules that batches of this length and structure comply with.
    """

    unpack: Callable[[memoryview, int], tuple[Any, ...]]
    common: tuple[bytes, ...]
    target: Target
    rules: AppendRules
    others: dict[tuple[bytes, ...], tuple[Target, AppendRules]]
    records: int
    batch: int
    batch_end: int
    key: int
    headers: int
    common_of: FieldsOf
    deltas_of: FieldsOf | None

    def known(self, common: tuple[bytes, ...]) -> tuple[Target, AppendRules] | None:
        """Returns the target and the rules of earlier requests with these common fields."""
        return (self.target, self.rules) if common == self.common else self.others.get(common)

    def merged(self, known: Shape | None) -> Shape:
        """Returns the known shape of the same length with this request added; `self` if that shape has another structure."""
        if known is None or known.unpack != self.unpack:
            return self
        if known.common == self.common:
            return known._replace(target=self.target, rules=self.rules)
        others = known.others or {}
        others[self.common] = self.target, self.rules
        return known._replace(others=others)


_NO_OTHERS: dict[tuple[bytes, ...], tuple[Target, AppendRules]] = {}
"""Shared by all shapes without other requests, to save memory."""


class _Record(NamedTuple):
    """Positions of a record's timestamp delta, key length and value, and of its end."""

    delta: int
    key: int
    value: int
    end: int


def may_have_shape(batch: memoryview, repeats_length: bool) -> bool:
    """Returns whether looking for the shape of a request with a valid batch pays.

    With several records it pays only if the previous request had the same length (`repeats_length`), because otherwise the sizes of the
    records vary, and each combination of sizes would be a shape of its own.
    """
    (attributes, count) = _unpack_attributes_and_count(batch, CRC_START)
    return not attributes and (count == 1 or (repeats_length and count <= MAX_RECORDS))


def shape_of(request: memoryview, start: int, batch: memoryview, target: Target, rules: AppendRules) -> Shape | None:
    """Returns the shape of a request with a valid and uncompressed batch at `start`; None if it has no shape."""
    (_, count) = _unpack_attributes_and_count(batch, CRC_START)
    records = _plain_records(batch, count)
    if not records:
        return None
    record, key, headers = records[0], 0, 0
    common_of: FieldsOf = _COMMON_OF_ONE
    deltas_of: FieldsOf | None = None
    if count > 1:
        formats, common, deltas = _several(batch, records)
        common_of, deltas_of = itemgetter(0, 2, 4, *common), itemgetter(*deltas)
    elif batch[record.delta] or batch[record.delta + 1] or batch[record.key] > 127:
        return None
    else:
        headers = start + record.end - 1
        if batch[record.key] & 1:  # no key
            formats = f"{record.value - _COUNT}s0s{record.end - 1 - record.value}x"
        else:
            formats, key = f"{record.key - _COUNT}sB{record.end - record.key - 2}x", start + record.key
    numbers, end = f">4si{start + _CRC - CLIENT_ID_POSITION}sI6sqqqhi", start + len(batch)
    unpack = _unpack_function(f"{numbers}{formats}{len(request) - end + 1}s")
    common_fields = common_of(unpack(request, 0))
    return Shape(unpack, common_fields, target, rules, _NO_OTHERS, count, start, end, key, headers, common_of, deltas_of)


@lru_cache(4096)  # connections share the functions
def _unpack_function(formats: str) -> Callable[[memoryview, int], tuple[Any, ...]]:
    return Struct(formats).unpack_from


def _plain_records(batch: memoryview, count: int) -> list[_Record]:
    """Returns the records of a valid batch, an empty list if one of them is not plain."""
    records, at = [], HEADER.size
    for _ in range(count):
        _, attributes = read_varint(batch, at)
        _, key_at = read_varint(batch, attributes + 2)
        key, at = read_varint(batch, key_at)
        value, value_at = read_varint(batch, at if key & 1 else at + (key >> 1))
        at = value_at + 1 if value & 1 else value_at + 1 + (value >> 1)
        if batch[attributes + 1] > 127 or batch[at - 1]:  # a long delta, or headers
            return []
        records.append(_Record(attributes + 1, key_at, value_at, at))
    return records


def _several(batch: memoryview, records: list[_Record]) -> tuple[str, list[int], list[int]]:
    """Returns (the format of the records up to the last header count, the numbers of the common fields, those of the deltas)."""
    formats, at = "", _COUNT
    common: list[int] = []
    deltas: list[int] = []
    for record in records:
        key, after_key = read_varint(batch, record.key)
        value_length = after_key if key & 1 else after_key + (key >> 1)
        number = NUMBERS + len(common) + len(deltas)
        formats += f"{record.delta - at}sB{after_key - record.delta - 1}s{value_length - after_key}x{record.value - value_length}s"
        common += [number, number + 2, number + 3]
        deltas.append(number + 1)
        at = record.end - 1
        formats += f"{at - record.value}x"
    return formats, [*common, NUMBERS + len(common) + len(deltas)], deltas


def value_fits(data: memoryview, at: int, key_length: int, headers: int) -> bool:
    """Returns whether a key of `key_length`, before zigzag, at `at` is followed by a value that ends at `headers`.

    Returns False for a missing value and for one of 8 KiB and more, which need the general path.
    """
    at += key_length >> 1
    size = headers - at - 1
    if key_length & 1 or key_length > 127:
        return False
    if size < 64:
        return size >= 0 and data[at] == size << 1
    size -= 1
    return 64 <= size < 8192 and data[at] == (size << 1 & 127 | 128) and data[at + 1] == size >> 6
