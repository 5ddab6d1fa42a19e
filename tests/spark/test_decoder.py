"""Compares the decoder with the record reader of `protocol` and with kafka-python, on generated, incomplete and damaged batches."""

from __future__ import annotations

import random
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kafka.record import MemoryRecords

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import InvalidRecords, Record, RecordBatch
from odradek.spark_sink.batches import Batches
from odradek.spark_sink.decoder import BYTES, COLUMN_TYPES, ROWS, Decoder
from tests.spark.decoder_reference import ALL_COLUMNS, EVERYTHING, decoded, expected_rows, log, record_batch, rows_of


def records(count: int, size: int = 100, first: int = 0) -> list[Record]:
    return [Record(first + number, number, None, b"%0*d" % (size, number), []) for number in range(count)]


@given(log())
def test_decode_equals_the_protocol_reader(buffer: bytes) -> None:
    assert rows_of(decoded(buffer)) == expected_rows(buffer)


def assert_equal_to_kafka_python(buffer: bytes) -> None:
    theirs = MemoryRecords(buffer)
    expected = []
    while (batch := theirs.next_batch()) is not None:
        if not batch.is_control_batch:
            expected += [(r.key, r.value, r.offset, r.timestamp * 1000, r.timestamp_type, list(r.headers) or None) for r in batch]
    assert [(r.key, r.value, r.offset, r.timestamp_us, r.timestamp_type, r.headers) for r in rows_of(decoded(buffer))] == expected


@given(log())
def test_decode_equals_kafka_python(buffer: bytes) -> None:
    assert_equal_to_kafka_python(buffer)


@pytest.mark.parametrize("codec", [Compression.NONE, Compression.ZSTD])
@pytest.mark.parametrize("count", [15, 16, 17, 1000, 5000])
def test_decode_runs_of_equal_sizes_equal_kafka_python(count: int, codec: Compression) -> None:
    assert_equal_to_kafka_python(irregular(count, codec))


def test_decode_large_batch_equals_kafka_python() -> None:
    assert_equal_to_kafka_python(irregular(100_000, Compression.NONE))


def irregular(count: int, codec: Compression) -> bytes:
    """Returns a batch with runs of records of equal size and other records between them."""
    generator, number, made = random.Random(count), 0, list[Record]()
    while number < count:
        size, run = generator.choice([0, 3, 60, 100, generator.randrange(300)]), generator.choice([1, 1, 1, 5, 40, count // 3])
        headers: list[tuple[str, bytes | None]] = [("h", b"%d" % run)] * generator.choice([0, 0, 0, 2])
        key = generator.choice([None, b"key"])
        made += [Record(at, 1_700_000_000_000 + at, key, b"%0*d" % (size, at), headers) for at in range(number, min(number + run, count))]
        number = len(made)
    return bytes(build_batch(made, compression=codec))


@given(log(), st.data())
def test_decode_returns_only_the_requested_range(buffer: bytes, data: st.DataObject) -> None:
    offsets = [row.offset for row in expected_rows(buffer)] or [0]
    start, end = sorted(data.draw(st.tuples(*[st.integers(offsets[0] - 2, offsets[-1] + 2)] * 2)))
    assert rows_of(decoded(buffer, start, end)) == expected_rows(buffer, start, end)


@given(log(), st.data())
def test_decode_incomplete_batch_is_left_out(buffer: bytes, data: st.DataObject) -> None:
    cut = buffer[: data.draw(st.integers(0, len(buffer) - 1))]
    assert rows_of(decoded(cut)) == expected_rows(cut)


@given(log([Compression.NONE]), st.integers(0, 1 << 32))
def test_decode_damaged_bytes_equals_the_protocol_reader(buffer: bytes, seed: int) -> None:
    starts, generator = Batches.of(memoryview(buffer)).positions.tolist(), random.Random(seed)
    for _ in range(20):
        damaged, start = bytearray(buffer), generator.choice(starts)
        end = start + 12 + int.from_bytes(buffer[start + 8 : start + 12], "big")
        damaged[generator.randrange(start + 61, end)] ^= 1 << generator.randrange(8)
        try:
            expected = expected_rows(damaged)
        except InvalidRecords:
            with pytest.raises(InvalidRecords):
                decoded(damaged)
        else:
            assert rows_of(decoded(damaged)) == expected


@given(record_batch(), st.sets(st.sampled_from(list(COLUMN_TYPES)), min_size=1))
def test_decode_pruned_schema_returns_the_same_columns(batch: bytearray, names: set[str]) -> None:
    schema = pa.schema([field for field in ALL_COLUMNS if field.name in names])
    pruned = list(Decoder(schema, "t", 3).decode(Batches.of(memoryview(batch)), *EVERYTHING))
    everything = decoded(batch)
    assert [rows.num_rows for rows in pruned] == [rows.num_rows for rows in everything]
    for few, many in zip(pruned, everything, strict=True):
        assert few.schema == schema
        assert all(few.column(name).equals(many.column(name)) for name in schema.names)


def test_decode_many_rows_are_split_by_rows_and_bytes() -> None:
    batch = build_batch(records(40_000))
    found = decoded(batch)
    assert [rows.num_rows for rows in found] == [ROWS, ROWS, 40_000 - 2 * ROWS]
    assert rows_of(found) == expected_rows(batch)
    large = build_batch(records(20, BYTES // 4))
    assert [rows.num_rows for rows in decoded(large)] == [3, 3, 3, 3, 3, 3, 2]


def test_decode_large_compressed_batches_in_groups() -> None:
    one = build_batch(records(12, 1 << 20), compression=Compression.ZSTD)
    two = build_batch(records(12, 1 << 20, first=12), base_offset=12, compression=Compression.LZ4)
    three = build_batch(records(12, 1 << 20, first=24), base_offset=24)
    buffer = bytes(one + two + three)
    assert rows_of(decoded(buffer)) == expected_rows(buffer)


def test_decode_equal_then_random_sizes() -> None:
    generator = random.Random(4)
    values = [b"x" * 100] * 300 + [generator.randbytes(generator.randrange(0, 9000)) for _ in range(300)]
    batch = build_batch([Record(number, 5, b"k", value, []) for number, value in enumerate(values)])
    assert rows_of(decoded(batch)) == expected_rows(batch)


def test_decode_header_key_not_utf_8_is_replaced() -> None:
    batch = build_batch([Record(0, 0, None, None, [("abc", b"1"), ("d", None)])])
    batch = batch.replace(b"abc", b"a\xffc")
    (row,) = rows_of(decoded(batch))
    assert row.headers == [("a�c", b"1"), ("d", None)]


def test_decode_timestamp_overflow_raises() -> None:
    with pytest.raises(InvalidRecords, match="does not fit into microseconds"):
        decoded(build_batch([Record(0, 1 << 62, None, b"", [])]))


def test_decode_empty_fetch_returns_nothing() -> None:
    assert decoded(b"") == []


def test_decode_record_beyond_the_last_lane_raises() -> None:
    batch = build_batch(records(2, 40))
    batch[61:63] = b"\xfe\x7f"  # 8191 bytes
    with pytest.raises(InvalidRecords, match="goes beyond the last batch"):
        decoded(batch * 30)


def test_decode_record_too_short_for_its_offset_raises() -> None:
    batch = with_payload(b"\x02\0" + b"\x16" + bytes(11), 2)
    schema = pa.schema([ALL_COLUMNS.field("offset")])
    with pytest.raises(InvalidRecords, match="too short"):
        list(Decoder(schema, "t", 3).decode(Batches.of(memoryview(batch)), *EVERYTHING))


def with_payload(payload: bytes, count: int) -> bytearray:
    batch = build_batch([Record(0, 0, None, b"", [])])[:61] + payload
    struct.pack_into(">i", batch, 8, len(batch) - 12)
    struct.pack_into(">i", batch, 57, count)
    return batch


@pytest.mark.parametrize(
    ("payload", "count", "error"),
    [
        (b"\x0e" + bytes(7), 2, "fewer bytes than its count"),
        (b"\x0f" + bytes(7), 1, "a record of 7 bytes"),
        (b"\x10" + bytes(7), 1, "a record of 8 bytes"),
        (b"\x80" * 8, 1, "length of a record is truncated"),
        (b"\x0e" + bytes(8), 1, "1 bytes after the last record"),
        (b"\x06" + bytes(3) + b"\x06" + bytes(3) * 3, 2, "."),
        (b"\x0e\0\0\0\1\1\2\0", 1, "headers that does not fit|does not end"),
        (b"\x0e\0\0\0\1\1\1\0", 1, "headers that does not fit"),
        (b"\x0e\0\0\0\1\4\0\0", 1, "does not end"),
        (b"\x12\0\0\0\1\1\2\1\1\0", 1, "header without a name"),
        (b"\x12\0\0\0\1\1\2\0\0\0", 1, "does not end"),
        (b"\x1c\0\0" + b"\xff" * 9 + b"\1\0\0", 1, "varint of more than 32 bits"),
        (b"\x22\0" + b"\xff" * 11 + bytes(5), 1, "varint of more than 64 bits"),
    ],
)
def test_decode_invalid_record_raises(payload: bytes, count: int, error: str) -> None:
    batch = with_payload(payload, count)
    with pytest.raises(InvalidRecords):
        list(RecordBatch(batch).records())
    with pytest.raises(InvalidRecords, match=error):
        decoded(batch)
