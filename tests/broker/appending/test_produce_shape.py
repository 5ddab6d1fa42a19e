"""The shape of a Produce request: which batches have one, and which bytes of a request it compares."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.appending.produce_shortcut import MAX_RECORDS, NUMBERS, ProduceShape, may_have_shape, shape_of, value_fits
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, read_header
from tests.broker.harness import START_MS

ANYTHING: Any = None  # the target and the rules, which a shape only stores
BEFORE, AFTER = b"key, version ... client id ... size of the records", b"\0\0\0"


def one(key: bytes | None = None, value: bytes | None = b"value", **options: Any) -> bytes:
    return bytes(build_batch([Record(0, START_MS, key, value, [])], **options))


def several(*values: bytes, deltas: tuple[int, ...] = (0, 1, 2), key: bytes | None = None) -> bytes:
    return bytes(build_batch([Record(n, START_MS + deltas[n], key, value, []) for n, value in enumerate(values)]))


def shape(batch: bytes) -> ProduceShape | None:
    request = memoryview(BEFORE + batch + AFTER)
    return shape_of(request, len(BEFORE), memoryview(batch), ANYTHING, ANYTHING)


def fields(known: ProduceShape, batch: bytes) -> tuple[Any, ...]:
    return known.unpack(memoryview(BEFORE + batch + AFTER), 0)


@pytest.mark.parametrize(
    "batch",
    [one(), one(b"key"), one(b""), one(None, b""), one(None, None), several(b"a", b"bc"), several(b"a", b"bc", b"", key=b"key")],
    ids=["plain", "key", "empty key", "empty value", "no value", "two", "three with keys"],
)
def test_shape_unpacks_the_numbers_of_the_header(batch: bytes) -> None:
    known, header = shape(batch), read_header(batch)
    assert known is not None
    numbers = fields(known, batch)[:NUMBERS]
    assert numbers[3] == header.crc
    assert numbers[5:] == (header.base_timestamp, header.max_timestamp, header.producer_id, header.producer_epoch, header.base_sequence)
    assert known.records == header.records_count
    assert (BEFORE + batch + AFTER)[known.batch : known.batch_end] == batch


@pytest.mark.parametrize(
    ("batch", "others"),
    [
        (one(None, b"abc"), [one(None, b"xyz"), one(None, b"abc", producer_id=7, producer_epoch=1, base_sequence=5)]),
        (one(b"key", b"value"), [one(b"k", b"longer "), one(b"longer ", b"k"), one(b"", b"a value.")]),
        (several(b"ab", b"c"), [several(b"xy", b"z"), several(b"ab", b"c", deltas=(0, 63))]),
        (several(b"ab", b"c", key=b"key"), [several(b"xy", b"z", key=b"abc")]),
    ],
    ids=["value and producer", "key length", "deltas", "keys"],
)
def test_requests_of_one_shape_have_common_fields(batch: bytes, others: list[bytes]) -> None:
    known = shape(batch)
    assert known is not None
    for other in others:
        assert len(other) == len(batch)
        assert known.common_of(fields(known, other)) == known.common


@pytest.mark.parametrize(
    ("batch", "other"),
    [
        (one(None, b"abc"), one(None, b"abc", is_transactional=True)),
        (one(None, b"abcd"), one(b"a", b"bcd")),
        (several(b"ab", b"c"), several(b"a", b"bc")),
        (several(b"ab", b"cd"), several(b"ab", b"cd")[:-1] + b"\2"),
        (several(b"ab", b"cd", key=b"k"), several(b"abc", b"cde")),
    ],
    ids=["transactional", "key instead of value", "sizes of values", "header count", "keys instead of values"],
)
def test_requests_of_other_structure_differ_in_common_fields(batch: bytes, other: bytes) -> None:
    known = shape(batch)
    assert known is not None
    assert len(other) == len(batch)
    assert known.common_of(fields(known, other)) != known.common


@pytest.mark.parametrize(
    "batch",
    [
        bytes(build_batch([Record(0, START_MS, None, b"v", [("h", b"")])])),
        bytes(build_batch([Record(0, START_MS, None, b"v", [("h", bytes(3))])])),
        one(bytes(64)),
        several(b"a", b"b", deltas=(0, 64)),
    ],
    ids=["header", "zeros in header", "long key", "long delta"],
)
def test_unusual_records_have_no_shape(batch: bytes) -> None:
    assert shape(batch) is None


def test_record_with_a_delta_in_a_single_batch_has_no_shape() -> None:
    batch = bytearray(one(None, b"value"))
    for position in (63, 64):  # after the size and the attributes of the record
        assert batch[position] == 0
        assert shape(bytes(batch[:position]) + b"\2" + bytes(batch[position + 1 :])) is None


@pytest.mark.parametrize(
    ("batch", "alone", "repeated"),
    [
        (one(), True, True),
        (several(b"a", b"b"), False, True),
        (several(*[b"a"] * MAX_RECORDS, deltas=(0,) * MAX_RECORDS), False, True),
        (several(*[b"a"] * (MAX_RECORDS + 1), deltas=(0,) * (MAX_RECORDS + 1)), False, False),
        (one(compression=Compression.GZIP), False, False),
    ],
    ids=["one", "two", "most", "more", "compressed"],
)
def test_looking_for_a_shape_pays_for_few_records(batch: bytes, alone: bool, repeated: bool) -> None:
    assert may_have_shape(memoryview(batch), False) == alone
    assert may_have_shape(memoryview(batch), True) == repeated


def test_merged_keeps_both_requests() -> None:
    first, second, other = shape(one(None, b"ab")), shape_of_partition(b"other partition", b"ab"), shape(one(None, b"abc"))
    assert first
    assert second
    assert other
    both = second.merge(first)
    assert both.find(first.common) == both.find(second.common) == (ANYTHING, ANYTHING)
    assert both.find(other.common) is None
    assert first.merge(both).find(second.common) == (ANYTHING, ANYTHING)
    assert other.merge(both) is other


def shape_of_partition(name: bytes, value: bytes) -> ProduceShape | None:
    batch = one(None, value)
    before = name.ljust(len(BEFORE), b".")
    return shape_of(memoryview(before + batch + AFTER), len(BEFORE), memoryview(batch), ANYTHING, ANYTHING)


@pytest.mark.parametrize("key_size", [0, 1, 62, 63, 64])
@pytest.mark.parametrize("size", [0, 1, 62, 63, 64, 65, 66, 127, 128, 8190, 8191, 8192])
def test_value_fits_exactly_one_size(key_size: int, size: int) -> None:
    batch = memoryview(one(bytes(key_size), bytes(size)))
    headers = len(batch) - 1
    key = headers - size - (2 if size > 63 else 1) - (1 if size > 8191 else 0) - key_size
    length = key_size << 1
    assert value_fits(batch, key, length, headers) == (key_size < 64 and size < 8192)
    assert not value_fits(batch, key, length, headers - 1)
    assert not value_fits(batch, key, length + 1, headers)
    assert not value_fits(batch, key, length, key + key_size)
