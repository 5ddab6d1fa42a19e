"""Blocks of values, compared with records that are built and read one by one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import HEADER, InvalidRecords, Record, RecordBatch, read_records
from odradek.protocol.batches.value_blocks import decode_values, encode_values, values_of

SIZES = st.integers(0, 8) | st.sampled_from([53, 63, 64, 7000, 9000])
VALUES = st.lists(SIZES.map(lambda size: bytes(range(size % 256)).ljust(size, b"x")), min_size=1, max_size=90)
KEYS = st.none() | st.binary(max_size=3) | st.just(bytes(70))
HEADERS = st.lists(st.tuples(st.text(max_size=3), st.none() | st.binary(max_size=3)), max_size=2)


def records_of(values: list[bytes], key: bytes | None = None, headers: Any = (), timestamps: Sequence[int] = (5,)) -> list[Record]:
    """Returns records with these values, whose timestamps repeat."""
    fields = zip(cycle(timestamps), values)
    return [Record(offset, timestamp, key, value, list(headers)) for offset, (timestamp, value) in enumerate(fields)]


def payload_of(records: list[Record]) -> bytes:
    return bytes(build_batch(records)[HEADER.size :])


@given(VALUES, KEYS, HEADERS)
def test_encode_values_equals_single_records(values: list[bytes], key: bytes | None, headers: list[tuple[str, bytes | None]]) -> None:
    assert encode_values(values, key, headers) == payload_of(records_of(values, key, headers))


def test_encode_values_writes_offsets_of_every_width() -> None:
    values = [b"%d" % number for number in range(8200)]
    assert encode_values(values, None, []) == payload_of(records_of(values))


@given(VALUES, st.lists(st.integers(0, 1 << 20), min_size=1, max_size=3))
def test_decode_values_returns_those_of_plain_records(values: list[bytes], timestamps: list[int]) -> None:
    decoded = decode_values(payload_of(records_of(values, timestamps=timestamps)), len(values))
    assert decoded == (values if max(map(len, values)) < 9000 else None)


@pytest.mark.parametrize(
    "record",
    [
        Record(0, 0, b"key", b"value", []),
        Record(0, 0, None, None, []),
        Record(0, 0, None, b"value", [("name", None)]),
        Record(0, 0, None, bytes(8185), []),
        Record(0, 0, None, bytes(9000), []),
        Record(1 << 30, 1 << 40, None, b"value", []),
    ],
)
def test_values_of_reads_other_records_one_by_one(record: Record) -> None:
    batch = build_batch([Record(0, 0, None, b"first", []), record._replace(offset=record.offset + 1)])
    assert decode_values(bytes(batch[HEADER.size :]), 2) is None
    assert values_of(RecordBatch(batch)) == [b"first", record.value]


@pytest.mark.parametrize("codec", Compression)
def test_values_of_decompresses(codec: Compression) -> None:
    assert values_of(RecordBatch(build_batch(records_of([b"a", b"b"]), compression=codec))) == [b"a", b"b"]


@given(st.data(), VALUES)
def test_decode_values_of_damaged_bytes_agrees_with_read_records(data: st.DataObject, values: list[bytes]) -> None:
    batch = build_batch(records_of([value[:200] for value in values], timestamps=(1, 70, 9000)))
    for _ in range(data.draw(st.integers(1, 3))):
        batch[data.draw(st.integers(HEADER.size, len(batch) - 1))] = data.draw(st.integers(0, 255))
    del batch[len(batch) - data.draw(st.sampled_from([0, 0, 1, 7])) :]
    decoded, header = decode_values(bytes(batch[HEADER.size :]), len(values)), RecordBatch(build_batch(records_of(values))).header
    if decoded is not None:
        assert decoded == [record.value for record in read_records(bytes(batch[HEADER.size :]), header)]


def test_decode_values_leaves_a_value_longer_than_its_record() -> None:
    record = b"\x10\0\0\0\1\x80\x80\1\0"
    assert decode_values(record, 1) is None
    with pytest.raises(InvalidRecords, match="8192 bytes where the record has"):
        list(read_records(record, RecordBatch(build_batch(records_of([b""]))).header))


def test_decode_values_refuses_bytes_after_the_last_record() -> None:
    payload = payload_of(records_of([b"a", b"b"]))
    assert decode_values(payload, 1) is None
    with pytest.raises(InvalidRecords):
        values_of(RecordBatch(bytes(build_batch(records_of([b"a"]))[:57]) + b"\0\0\0\2" + payload_of(records_of([b"a"]))))
