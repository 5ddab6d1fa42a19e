"""Building of batches, compared with the builders and parsers of aiokafka and kafka-python."""

from __future__ import annotations

from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatch as AiokafkaBatch
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatch as KafkaPythonBatch
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import CREATE_TIME, LOG_APPEND_TIME, Record, RecordBatch

# kafka-python compresses with gzip by itself; its other codecs need packages that aiokafka does not.
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
def test_build_batch_equals_foreign_builders(builder: Any, parser: Any, codec: Compression, records: list[Record]) -> None:
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
        # The first 16 bytes differ: aiokafka and kafka-python write 0 as the partition leader epoch, not -1.
        assert ours[16:] == bytes(theirs.view)[16:]


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
@settings(max_examples=5 * settings().max_examples)
def test_build_batch_round_trips(
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


def test_build_batch_log_append_time_applies_to_all() -> None:
    batch = RecordBatch(build_batch(SAMPLE, timestamp_type=LOG_APPEND_TIME))
    assert batch.header.timestamp_type == LOG_APPEND_TIME
    assert {record.timestamp for record in batch.records()} == {1_700_000_005_000}
    assert RecordBatch(build_batch(SAMPLE)).header.timestamp_type == CREATE_TIME


def test_build_batch_keeps_offsets_with_gaps() -> None:
    records = [SAMPLE[0]._replace(offset=105), SAMPLE[1]._replace(offset=109)]
    batch = RecordBatch(build_batch(records, base_offset=100))
    assert [record.offset for record in batch.records()] == [105, 109]
    assert batch.header.last_offset == 109
