"""Reading and building batches, against other people's builders and parsers, and against captured batches of real clients."""

from __future__ import annotations

import base64
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

from odradek.protocol.compression import Compression
from odradek.protocol.record_builder import build_batch
from odradek.protocol.records import (
    CONTROL_BIT,
    CREATE_TIME,
    HEADER,
    LOG_APPEND_TIME,
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

# kafka-python has gzip of its own; the others need packages that aiokafka does not.
FOREIGN = [
    *((AiokafkaBuilder, AiokafkaBatch, codec) for codec in Compression),
    *((KafkaPythonBuilder, KafkaPythonBatch, codec) for codec in (Compression.NONE, Compression.GZIP)),
]
BYTES = st.none() | st.binary(max_size=8) | st.sampled_from([bytes(63), bytes(64), bytes(8191), bytes(8192)])
HEADERS = st.lists(st.tuples(st.text(max_size=4), BYTES), max_size=3)
TIMESTAMPS = st.sampled_from([0, 1, 63, 64, 1 << 31, 1 << 40, (1 << 62) - 1]) | st.integers(0, 1 << 42)


def numbered(fields: list[Any]) -> list[Record]:
    return [Record(offset, *rest) for offset, rest in enumerate(fields)]


RECORDS = st.lists(st.tuples(TIMESTAMPS, BYTES, BYTES, HEADERS), min_size=1, max_size=5).map(numbered)
SAMPLE = [
    Record(0, 1_700_000_000_000, b"key", b"value", [("name", b"text"), ("empty", b""), ("null", None)]),
    Record(1, 1_699_999_999_000, None, b"x" * 200, []),
    Record(2, 1_700_000_005_000, b"", None, [("ü", bytes(100))]),
]


@pytest.mark.parametrize(("builder", "parser", "codec"), FOREIGN)
@given(records=RECORDS)
def test_foreign_builders_and_parsers(builder: Any, parser: Any, codec: Compression, records: list[Record]) -> None:
    foreign = builder(2, int(codec), 0, -1, -1, -1, 1 << 20)
    for record in records:
        foreign.append(record.offset, record.timestamp, record.key, record.value, record.headers)
    theirs = RecordBatch(foreign.build())
    assert theirs.crc_valid()
    assert list(theirs.records()) == records
    ours = build_batch(records, compression=codec)
    parsed = parser(bytearray(ours))
    assert parsed.validate_crc()
    assert [(r.offset, r.timestamp, r.key, r.value, list(r.headers)) for r in parsed] == records
    if codec is Compression.NONE:
        # aiokafka and kafka-python set no partition leader epoch, but write 0.
        assert ours[16:] == bytes(theirs.view)[16:]


def _of_librdkafka(i: int) -> tuple[Any, ...]:
    headers = [("trace", b"%d" % i), ("empty", b""), ("null", None)] if i % 4 == 0 else []
    return f"key-{i % 7}".encode() if i % 5 else None, _value(i), headers


def _of_java(i: int) -> tuple[Any, ...]:
    return f"key-{i % 7}".encode(), _value(i), [("h", b"%d" % i)]


def _value(i: int) -> bytes | None:
    return f"value {i} ".encode() * (i % 9) if i % 11 else None


CAPTURED = [line.split() for line in Path(__file__).with_name("captured_batches.txt").read_text().splitlines()[1:]]


@pytest.mark.parametrize(("producer", "codec", "data"), CAPTURED, ids=[f"{producer}-{codec}" for producer, codec, _ in CAPTURED])
def test_captured_batches(producer: str, codec: str, data: str) -> None:
    record_of = _of_java if producer.startswith("Java") else _of_librdkafka
    batch = RecordBatch(base64.b64decode(data))
    assert batch.crc_valid()
    assert batch.header.compression is Compression[codec.upper()]
    records = list(batch.records())
    assert [record[2:] for record in records] == [record_of(i) for i in range(24)]
    assert [record.offset for record in records] == list(range(24))


def test_there_are_captures_of_every_codec() -> None:
    assert {(producer.partition("-")[0], codec) for producer, codec, _ in CAPTURED} == {
        (producer, codec.name.lower()) for producer in ("librdkafka", "Java") for codec in Compression
    }


@given(
    st.sampled_from(Compression),
    RECORDS,
    st.integers(0, 1 << 40),
    st.integers(-1, 1 << 40),
    st.integers(-1, 0x7FFF),
    st.integers(-1, 0x7FFFFFFF),
    st.integers(-1, 0x7FFFFFFF),
    st.booleans(),
    st.booleans(),
)
@settings(max_examples=5 * settings.default.max_examples)
def test_what_is_built_is_read(
    codec: Compression,
    records: list[Record],
    base_offset: int,
    producer_id: int,
    producer_epoch: int,
    base_sequence: int,
    leader_epoch: int,
    is_transactional: bool,
    is_control: bool,
) -> None:
    records = [record._replace(offset=record.offset + base_offset) for record in records]
    built = build_batch(
        records,
        base_offset=base_offset,
        compression=codec,
        producer_id=producer_id,
        producer_epoch=producer_epoch,
        base_sequence=base_sequence,
        partition_leader_epoch=leader_epoch,
        is_transactional=is_transactional,
        is_control=is_control,
    )
    batch = RecordBatch(built)
    assert list(batch.records()) == records
    assert batch.crc_valid()
    header = batch.header
    assert header[:4] == (base_offset, len(built) - 12, leader_epoch, 2)
    assert (header.producer_id, header.producer_epoch, header.base_sequence) == (producer_id, producer_epoch, base_sequence)
    assert (header.compression, header.is_transactional, header.is_control) == (codec, is_transactional, is_control)
    assert (header.size, header.last_offset, header.records_count) == (len(built), records[-1].offset, len(records))
    assert header.base_timestamp == records[0].timestamp
    assert header.max_timestamp == max(record.timestamp for record in records)


def test_log_append_time_holds_for_every_record() -> None:
    batch = RecordBatch(build_batch(SAMPLE, timestamp_type=LOG_APPEND_TIME))
    assert batch.header.timestamp_type == LOG_APPEND_TIME
    assert {record.timestamp for record in batch.records()} == {1_700_000_005_000}
    assert RecordBatch(build_batch(SAMPLE)).header.timestamp_type == CREATE_TIME


def test_compacted_records_keep_their_offsets() -> None:
    records = [SAMPLE[0]._replace(offset=105), SAMPLE[1]._replace(offset=109)]
    batch = RecordBatch(build_batch(records, base_offset=100))
    assert [record.offset for record in batch.records()] == [105, 109]
    assert batch.header.last_offset == 109


def test_what_a_broker_writes_is_outside_of_the_crc() -> None:
    data = build_batch(SAMPLE)
    data[0:8], data[12:16] = (77).to_bytes(8, "big"), (5).to_bytes(4, "big")
    batch = RecordBatch(data)
    assert batch.crc_valid()
    assert (batch.header.base_offset, batch.header.partition_leader_epoch) == (77, 5)
    assert [record.offset for record in batch.records()] == [77, 78, 79]


@pytest.mark.parametrize("end", range(HEADER.size))
def test_too_short_for_a_header(end: int) -> None:
    with pytest.raises(InvalidRecords, match="no batch header"):
        read_header(bytes(end))
    with pytest.raises(InvalidRecords):
        read_header(bytes(100 + end), 100)


def test_header_at_a_position() -> None:
    data = build_batch(SAMPLE)
    assert read_header(b"before" + data, 6) == read_header(data)


def test_a_view_of_other_than_one_batch_of_format_2() -> None:
    data = build_batch(SAMPLE)
    for wrong in (data[:-1], data + b"x"):
        with pytest.raises(InvalidRecords, match="a batch of"):
            RecordBatch(wrong)
    data[16] = 1
    with pytest.raises(InvalidRecords, match="magic 1"):
        RecordBatch(data)


def test_every_changed_byte_under_the_crc_is_found() -> None:
    data = build_batch(SAMPLE)
    for position in range(17, len(data)):
        data[position] ^= 0x10
        assert not RecordBatch(data).crc_valid()
        data[position] ^= 0x10
    assert RecordBatch(data).crc_valid()


# Batches of a Fetch answer.


def test_batches_of_a_fetch_answer() -> None:
    first, second = build_batch(SAMPLE), build_batch(SAMPLE[:1])
    both = first + second
    for end in range(len(both) + 1):
        found = [bytes(batch.view) for batch in batches(both[:end])]
        assert found == [bytes(batch) for batch, at in ((first, len(first)), (second, len(both))) if at <= end]


@pytest.mark.parametrize("length", [13, 0, -1, -(1 << 31)])
def test_a_length_that_no_batch_has(length: int) -> None:
    data = build_batch(SAMPLE)
    found = batches(data + bytes(8) + length.to_bytes(4, "big", signed=True))
    assert next(found).view == data
    with pytest.raises(CorruptBatch, match="length"):
        next(found)


def test_a_magic_that_nobody_knows() -> None:
    with pytest.raises(CorruptBatch, match="magic 9"):
        next(batches(bytes(8) + b"\0\0\0\x63" + bytes(4) + b"\x09"))


def test_an_older_format_is_not_read() -> None:
    with pytest.raises(InvalidRecords, match="magic 1"):
        next(batches(bytes(11) + b"\x32" + bytes(4) + b"\x01" + bytes(100)))


# Records that do not decode exactly.


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


def test_the_plainest_record_is_read() -> None:
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
def test_records_that_do_not_decode(name: str) -> None:
    payload, message = INVALID[name]
    with pytest.raises(InvalidRecords, match=re.escape(message)):
        list(with_payload(payload).records())


@pytest.mark.parametrize(("count", "message"), [(-1, "count of -1"), (2, "within record 1 of 2"), (0, "after the last record")])
def test_a_count_that_is_not_true(count: int, message: str) -> None:
    with pytest.raises(InvalidRecords, match=message):
        list(with_payload(body(), count).records())


def test_varints_may_be_longer_than_needed() -> None:
    """Kafka reads them too."""
    record = next(with_payload(body(timestamp=b"\x82\0", offset=b"\x84\x80\0", key=b"\x82\0k", headers=b"\x82\0\x82\0h\1")).records())
    assert record == Record(2, SAMPLE[0].timestamp + 1, b"k", None, [("h", None)])


def test_any_negative_length_is_null() -> None:
    record = next(with_payload(body(key=varint(-2), value=varint(-100))).records())
    assert (record.key, record.value) == (None, None)


@pytest.mark.parametrize("codec", [5, 6, 7])
def test_a_codec_that_does_not_exist(codec: int) -> None:
    with pytest.raises(InvalidRecords, match=f"compression type {codec}"):
        list(with_payload(body(), attributes=codec).records())


@pytest.mark.parametrize("codec", [codec for codec in Compression if codec is not Compression.NONE])
def test_records_that_do_not_decompress(codec: Compression) -> None:
    with pytest.raises(InvalidRecords, match=codec.name.lower()):
        list(with_payload(b"no such format", attributes=codec).records())
    with pytest.raises(InvalidRecords, match=codec.name.lower()):
        list(RecordBatch(build_batch(SAMPLE, compression=codec)).records(limit=100))


@pytest.mark.parametrize("cut", [True, False])
def test_any_change_of_the_records_raises_nothing_else(cut: bool) -> None:
    payload = bytes(build_batch(SAMPLE))[HEADER.size :]

    @given(st.integers(0, len(payload) - 1), st.integers(0, 255))
    @settings(max_examples=20 * settings.default.max_examples)
    def change(position: int, value: int) -> None:
        changed = payload[:position] + (b"" if cut else bytes([value]) + payload[position + 1 :])
        with suppress(InvalidRecords):
            assert len(list(with_payload(changed, 3).records())) == 3

    change()


@given(st.binary(max_size=60), st.integers(0, 5))
@settings(max_examples=20 * settings.default.max_examples)
def test_random_records_raise_nothing_else(payload: bytes, count: int) -> None:
    with suppress(InvalidRecords):
        assert len(list(with_payload(payload, count).records())) == count


def test_write_crc() -> None:
    data = build_batch(SAMPLE)
    data[22] |= TIMESTAMP_TYPE_BIT | CONTROL_BIT
    assert not RecordBatch(data).crc_valid()
    write_crc(memoryview(data))
    assert RecordBatch(data).crc_valid()
