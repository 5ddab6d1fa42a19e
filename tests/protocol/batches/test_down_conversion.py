"""Record batches as message sets: sizes, offsets, and what is left out."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.down_conversion import as_stored, down_convert
from odradek.protocol.batches.message_sets import read_message_set
from odradek.protocol.batches.record_builder import build_batch, build_marker
from odradek.protocol.batches.records import LOG_APPEND_TIME, PREFIX_SIZE, Record, read_header
from odradek.protocol.errors import ErrorCode, KafkaError
from tests.protocol.batches.kafka_python_reader import read_by_kafka_python


def batch(first: int, count: int = 3, codec: Compression = Compression.NONE, size: int = 10, **options: Any) -> memoryview:
    records = [Record(first + n, 1000 + first + n, b"k", b"v" * size, [("h", b"x")]) for n in range(count)]
    return memoryview(bytes(build_batch(records, base_offset=first, compression=codec, **options)))


def offsets(data: bytes) -> list[int]:
    return [each[0] for each in read_by_kafka_python(data, 1)]


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_down_convert_records_keep_offsets_and_values(magic: int, codec: Compression) -> None:
    data = as_stored([batch(5, codec=codec)], magic, 5)
    found = read_by_kafka_python(data, magic)
    assert [(each[0], each[3], each[4]) for each in found] == [(offset, b"k", b"v" * 10) for offset in (5, 6, 7)]
    assert [each[1] for each in found] == ([1005, 1006, 1007] if magic else [None] * 3)


def test_down_convert_append_time_is_that_of_the_batch() -> None:
    found = read_by_kafka_python(as_stored([batch(0, timestamp_type=LOG_APPEND_TIME)], 1, 0), 1)
    assert {(each[1], each[2]) for each in found} == {(1002, 1)}


def test_down_convert_uncompressed_records_begin_at_the_offset() -> None:
    assert offsets(as_stored([batch(5)], 1, 6)) == [6, 7]
    assert offsets(as_stored([batch(5, codec=Compression.GZIP)], 1, 6)) == [5, 6, 7]
    assert as_stored([batch(5)], 1, 8) == b""


def test_down_convert_larger_first_batch_is_sent_whole() -> None:
    """Without compression, messages are larger than the records of a batch."""
    source = batch(0, count=100)
    data = down_convert([source], 1, 0)
    assert len(data) > len(source)
    assert offsets(data) == list(range(100))


def test_down_convert_later_batches_are_cut_at_the_size() -> None:
    source = memoryview(bytes(batch(0, 100)) + bytes(batch(100, 100)) + bytes(batch(200, 100)))
    data = down_convert([source], 1, 0)
    assert len(data) == len(source)
    assert [record.offset for record in read_message_set(memoryview(data)).records][-1] < 300
    assert len(read_message_set(memoryview(data)).records) < 300


def test_down_convert_short_records_are_followed_by_overflow() -> None:
    source = [batch(0, 1), memoryview(bytes(build_marker(9, 0, 0, 1000, committed=True)))]
    data = down_convert(source, 1, 0)
    assert len(data) == sum(map(len, source))
    size = PREFIX_SIZE + int.from_bytes(data[8:12], "big")
    assert offsets(data[:size]) == [0]
    rest = data[size:]
    assert int.from_bytes(rest[:8], "big", signed=True) == -1
    assert int.from_bytes(rest[8:12], "big") == max(len(rest) + 1, 61) and not any(rest[12:])


def test_down_convert_long_overflow_is_repeated() -> None:
    data = down_convert([batch(0, 1, size=5), batch(1, 1, Compression.ZSTD), memoryview(bytes(300_000))], 1, 0)
    overflow = data.index(b"\xff" * 8)
    assert data[overflow + 128 * 1024 :][:8] == b"\xff" * 8
    assert len(data) > 300_000


def test_down_convert_control_batch_alone_is_an_overflow() -> None:
    marker = memoryview(bytes(build_marker(9, 0, 0, 1000, committed=True)))
    assert down_convert([marker], 1, 0) == b"\xff" * 8 + (61).to_bytes(4, "big")


def test_down_convert_zstd_first_is_refused() -> None:
    with pytest.raises(KafkaError) as refusal:
        down_convert([batch(0, codec=Compression.ZSTD)], 1, 0)
    assert refusal.value.code is ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_down_convert_zstd_later_ends_the_records() -> None:
    data = down_convert([batch(0), batch(3, codec=Compression.ZSTD)], 1, 0)
    assert [record.value for record in read_message_set(memoryview(data)).records] == [b"v" * 10] * 3


def test_as_stored_batches_of_producers_stay_batches() -> None:
    idempotent = batch(0, producer_id=7, producer_epoch=0, base_sequence=0)
    zstd, marker = batch(3, codec=Compression.ZSTD), memoryview(bytes(build_marker(7, 0, 0, 1000, committed=True)))
    data = as_stored([idempotent, zstd, marker], 1, 0)
    assert data == bytes(idempotent) + bytes(zstd) + bytes(marker)
    assert read_header(data).producer_id == 7
