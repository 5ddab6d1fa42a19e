"""Reading of batches: captured batches of real clients, and malformed ones."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import (
    CONTROL_BIT,
    HEADER,
    TIMESTAMP_TYPE_BIT,
    CorruptBatch,
    InvalidRecords,
    Record,
    RecordBatch,
    batches,
    read_header,
    write_crc,
)
from odradek.protocol.varints import put_uvarint

SAMPLE = [
    Record(0, 1_700_000_000_000, b"key", b"value", [("name", b"text"), ("empty", b""), ("null", None)]),
    Record(1, 1_699_999_999_000, None, b"x" * 200, []),
    Record(2, 1_700_000_005_000, b"", None, [("ü", bytes(100))]),
]


def _of_librdkafka(i: int) -> tuple[Any, ...]:
    headers = [("trace", b"%d" % i), ("empty", b""), ("null", None)] if i % 4 == 0 else []
    return f"key-{i % 7}".encode() if i % 5 else None, _value(i), headers


def _of_java(i: int) -> tuple[Any, ...]:
    return f"key-{i % 7}".encode(), _value(i), [("h", b"%d" % i)]


def _value(i: int) -> bytes | None:
    return f"value {i} ".encode() * (i % 9) if i % 11 else None


CAPTURED = [line.split() for line in Path(__file__).with_name("captured_batches.txt").read_text().splitlines()[1:]]


@pytest.mark.parametrize(("producer", "codec", "data"), CAPTURED, ids=[f"{producer}-{codec}" for producer, codec, _ in CAPTURED])
def test_records_of_captured_batch_are_read(producer: str, codec: str, data: str) -> None:
    record_of = _of_java if producer.startswith("Java") else _of_librdkafka
    batch = RecordBatch(base64.b64decode(data))
    assert batch.crc_valid()
    assert batch.header.compression is Compression[codec.upper()]
    records = list(batch.records())
    assert [record[2:] for record in records] == [record_of(i) for i in range(24)]
    assert [record.offset for record in records] == list(range(24))


def test_captured_batches_cover_every_codec() -> None:
    assert {(producer.partition("-")[0], codec) for producer, codec, _ in CAPTURED} == {
        (producer, codec.name.lower()) for producer in ("librdkafka", "Java") for codec in Compression
    }


def test_crc_does_not_cover_offset_and_leader_epoch() -> None:
    data = build_batch(SAMPLE)
    data[0:8], data[12:16] = (77).to_bytes(8, "big"), (5).to_bytes(4, "big")
    batch = RecordBatch(data)
    assert batch.crc_valid()
    assert (batch.header.base_offset, batch.header.partition_leader_epoch) == (77, 5)
    assert [record.offset for record in batch.records()] == [77, 78, 79]


@pytest.mark.parametrize("end", range(HEADER.size))
def test_read_header_too_few_bytes_raises(end: int) -> None:
    with pytest.raises(InvalidRecords, match="too few for a batch header"):
        read_header(bytes(end))
    with pytest.raises(InvalidRecords):
        read_header(bytes(100 + end), 100)


def test_read_header_at_position() -> None:
    data = build_batch(SAMPLE)
    assert read_header(b"before" + data, 6) == read_header(data)


def test_record_batch_other_than_one_batch_raises() -> None:
    data = build_batch(SAMPLE)
    for wrong in (data[:-1], data + b"x"):
        with pytest.raises(InvalidRecords, match="a batch of"):
            RecordBatch(wrong)
    data[16] = 1
    with pytest.raises(InvalidRecords, match="magic 1"):
        RecordBatch(data)


def test_crc_valid_changed_byte_is_false() -> None:
    data = build_batch(SAMPLE)
    for position in range(17, len(data)):
        data[position] ^= 0x10
        assert not RecordBatch(data).crc_valid()
        data[position] ^= 0x10
    assert RecordBatch(data).crc_valid()


# Batches of a fetch response


def test_batches_of_fetch_response_omit_the_cut_one() -> None:
    first, second = build_batch(SAMPLE), build_batch(SAMPLE[:1])
    both = first + second
    for end in range(len(both) + 1):
        found = [bytes(batch.view) for batch in batches(both[:end])]
        assert found == [bytes(batch) for batch, at in ((first, len(first)), (second, len(both))) if at <= end]


@pytest.mark.parametrize("length", [13, 0, -1, -(1 << 31)])
def test_batches_impossible_length_raises(length: int) -> None:
    data = build_batch(SAMPLE)
    found = batches(data + bytes(8) + length.to_bytes(4, "big", signed=True))
    assert next(found).view == data
    with pytest.raises(CorruptBatch, match="length"):
        next(found)


def test_batches_unknown_magic_raises() -> None:
    with pytest.raises(CorruptBatch, match="magic 9"):
        next(batches(bytes(8) + b"\0\0\0\x63" + bytes(4) + b"\x09"))


def test_batches_older_format_raises() -> None:
    with pytest.raises(InvalidRecords, match="magic 1"):
        next(batches(bytes(11) + b"\x32" + bytes(4) + b"\x01" + bytes(100)))


# Malformed records


def with_payload(payload: bytes, count: int = 1, attributes: int = 0) -> RecordBatch:
    header = read_header(build_batch(SAMPLE[:1]))._replace(batch_length=49 + len(payload), records_count=count, attributes=attributes)
    return RecordBatch(HEADER.pack(*header) + payload)


def varint(value: int) -> bytes:
    out = bytearray()
    put_uvarint(out, value << 1 if value >= 0 else -value * 2 - 1)
    return bytes(out)


def body(
    *, timestamp: bytes = b"\0", offset: bytes = b"\0", key: bytes = b"\1", value: bytes = b"\1", headers: bytes = b"\0", end: bytes = b""
) -> bytes:
    content = b"\0" + timestamp + offset + key + value + headers + end
    return varint(len(content)) + content


def test_records_minimal_record_is_read() -> None:
    assert list(with_payload(body()).records()) == [Record(0, SAMPLE[0].timestamp, None, None, [])]


INVALID: dict[str, tuple[bytes, str]] = {
    "no byte": (b"", "ends within record 0"),
    "a record of 0 bytes": (b"\0", "ends within"),
    "a record of -1 bytes": (b"\1" + body(), "a record of -1 bytes"),
    "a record of too many bytes": (varint(7) + body()[1:], "7 bytes where 6 are left"),
    "a record of too few bytes": (varint(5) + body()[1:], "ends at byte 6"),
    "a byte too many in the record": (body(end=b"x"), "ends at byte 6"),
    "a byte after the last record": (body() + b"x", "1 bytes after"),
    "a key longer than the record": (body(key=varint(6) + b"abc"), "6 bytes where the record has"),
    "a key of 2^31-1 bytes": (body(key=varint(0x7FFFFFFF)), "2147483647 bytes where"),
    "a key that reaches into the next record": (body(key=varint(6) + b"abc") + body(), "6 bytes where the record has 5"),
    "a value longer than the record": (body(value=varint(100)), "100 bytes where"),
    "-1 headers": (body(headers=varint(-1)), "-1 headers"),
    "2^31-1 headers": (body(headers=varint(0x7FFFFFFF)), "2147483647 headers"),
    "a header less than there are bytes": (body(headers=varint(1)), "1 headers where"),
    "a header without a name": (body(headers=varint(1) + varint(-1) + b"\0"), "without a name"),
    "a header cut in its value": (body(headers=varint(1) + varint(1) + b"h" + varint(2) + b"x"), "2 bytes where"),
    "a length of 6 bytes": (b"\xff\xff\xff\xff\xff\x01", "more than 32 bits"),
    "a timestamp of 11 bytes": (body(timestamp=b"\xff" * 10 + b"\x01"), "more than 64 bits"),
    "an offset cut in its varint": (b"\x06\0\0\xff", "ends within"),
}


@pytest.mark.parametrize("name", INVALID)
def test_records_malformed_record_raises(name: str) -> None:
    payload, message = INVALID[name]
    with pytest.raises(InvalidRecords, match=re.escape(message)):
        list(with_payload(payload).records())


@pytest.mark.parametrize(("count", "message"), [(-1, "count of -1"), (2, "within record 1 of 2"), (0, "after the last record")])
def test_records_wrong_count_raises(count: int, message: str) -> None:
    with pytest.raises(InvalidRecords, match=message):
        list(with_payload(body(), count).records())


def test_records_overlong_varints_are_read() -> None:
    # Kafka accepts them too.
    record = next(with_payload(body(timestamp=b"\x82\0", offset=b"\x84\x80\0", key=b"\x82\0k", headers=b"\x82\0\x82\0h\1")).records())
    assert record == Record(2, SAMPLE[0].timestamp + 1, b"k", None, [("h", None)])


def test_records_negative_length_is_null() -> None:
    record = next(with_payload(body(key=varint(-2), value=varint(-100))).records())
    assert (record.key, record.value) == (None, None)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_records_unknown_codec_raises(codec: int) -> None:
    with pytest.raises(InvalidRecords, match=f"compression type {codec}"):
        list(with_payload(body(), attributes=codec).records())


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec is not Compression.NONE])
def test_records_wrong_compression_raises(codec: Compression) -> None:
    with pytest.raises(InvalidRecords, match=codec.name.lower()):
        list(with_payload(b"no such format", attributes=codec).records())
    with pytest.raises(InvalidRecords, match=codec.name.lower()):
        list(RecordBatch(build_batch(SAMPLE, compression=codec)).records(limit=100))


@pytest.mark.parametrize("cut", [True, False])
def test_records_changed_byte_raises_only_invalid_records(cut: bool) -> None:
    payload = bytes(build_batch(SAMPLE))[HEADER.size :]

    @given(st.integers(0, len(payload) - 1), st.integers(0, 255))
    @settings(max_examples=20 * settings().max_examples)
    def change(position: int, value: int) -> None:
        changed = payload[:position] + (b"" if cut else bytes([value]) + payload[position + 1 :])
        with suppress(InvalidRecords):
            assert len(list(with_payload(changed, 3).records())) == 3

    change()


@given(st.binary(max_size=60), st.integers(0, 5))
@settings(max_examples=20 * settings().max_examples)
def test_records_random_bytes_raise_only_invalid_records(payload: bytes, count: int) -> None:
    with suppress(InvalidRecords):
        assert len(list(with_payload(payload, count).records())) == count


def test_write_crc_makes_crc_valid() -> None:
    data = build_batch(SAMPLE)
    data[22] |= TIMESTAMP_TYPE_BIT | CONTROL_BIT
    assert not RecordBatch(data).crc_valid()
    write_crc(memoryview(data))
    assert RecordBatch(data).crc_valid()
