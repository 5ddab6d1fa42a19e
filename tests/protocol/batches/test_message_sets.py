"""Message sets, compared with those that kafka-python builds and reads."""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import Any
from zlib import crc32

import pytest
import xxhash
from kafka.record.legacy_records import LegacyRecordBatchBuilder

from odradek.protocol.batches.batch_validation import BatchTooLarge, InvalidBatch
from odradek.protocol.batches.compression import Compression, compress
from odradek.protocol.batches.message_sets import LegacyMessage, _xxh32_of_few, build_message, build_message_set, read_message_set
from odradek.protocol.batches.records import BatchError, CorruptBatch, Record
from tests.protocol.batches.kafka_python_reader import read_by_kafka_python

CODECS = (Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4)
PAIRS: list[tuple[bytes | None, bytes | None]] = [(b"key", b"value"), (None, b""), (b"", None), (b"k" * 300, b"v" * 3000)]
RECORDS = [Record(offset, 1000 + offset, key, value, []) for offset, (key, value) in enumerate(PAIRS, 5)]


def built_by_kafka_python(magic: int, codec: Compression) -> memoryview:
    builder = LegacyRecordBatchBuilder(magic, codec, 1 << 20)
    for number, (key, value) in enumerate(PAIRS):
        builder.append(number, timestamp=1000 + number, key=key, value=value)
    return memoryview(bytes(builder.build()))


def message(value: bytes | None = b"v", *, magic: int = 1, attributes: int = 0, offset: int = 0, timestamp: int = 7) -> bytes:
    return build_message(LegacyMessage(offset, magic, attributes, timestamp, None, value))


def wrapper(value: bytes | None, codec: int = Compression.GZIP, **options: Any) -> memoryview:
    packed = None if value is None else compress(Compression.GZIP, value)
    return memoryview(message(packed, attributes=codec | options.pop("attributes", 0), **options))


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_read_message_set_of_kafka_python_has_its_records(magic: int, codec: Compression) -> None:
    found = read_message_set(built_by_kafka_python(magic, codec))
    assert (found.codec, found.has_append_time) == (codec, False)
    expected = [Record(n, 1000 + n if magic else -1, key, value, []) for n, (key, value) in enumerate(PAIRS)]
    assert found.records == expected


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
@pytest.mark.parametrize("append_time_ms", [None, 77])
def test_build_message_set_is_read_by_kafka_python(magic: int, codec: Compression, append_time_ms: int | None) -> None:
    data = build_message_set(RECORDS, magic, codec, append_time_ms)
    kind = None if magic == 0 else int(append_time_ms is not None)
    times = [None if magic == 0 else append_time_ms or record.timestamp for record in RECORDS]
    expected = [(each.offset, time, kind, each.key, each.value) for each, time in zip(RECORDS, times, strict=True)]
    assert read_by_kafka_python(data, magic) == expected


@pytest.mark.parametrize(("magic", "covered"), [(0, slice(0, 6)), (1, slice(4, 6))])
def test_lz4_header_checksum_of_format_0_covers_the_frame_magic(magic: int, covered: slice) -> None:
    start = 12 + 6 + 8 * magic + 8  # the frame begins behind the other fields of the message
    frame = build_message_set(RECORDS, magic, Compression.LZ4)[start:]
    assert frame[6] == xxhash.xxh32(frame[covered]).intdigest() >> 8 & 0xFF


@pytest.mark.parametrize("size", range(16))
def test_xxh32_of_few_bytes_equals_xxhash(size: int) -> None:
    data = bytes(range(250, 250 + 6)) + bytes(range(10))
    assert _xxh32_of_few(data[:size]) == xxhash.xxh32(data[:size]).intdigest()


def test_read_message_set_ignores_an_incomplete_message() -> None:
    data = message(b"a") + message(b"b")
    assert [record.value for record in read_message_set(memoryview(data)[:-1]).records] == [b"a"]
    assert read_message_set(memoryview(b"")).records == []


def test_read_message_set_incomplete_inner_message_is_ignored() -> None:
    inner = message(b"a") + message(b"b")
    assert [record.value for record in read_message_set(wrapper(inner[:-1])).records] == [b"a"]
    assert [record.value for record in read_message_set(wrapper(message(b"a") + b"123")).records] == [b"a"]


def test_read_message_set_append_time_is_that_of_the_wrapper() -> None:
    found = read_message_set(wrapper(message(b"a", timestamp=3), attributes=8, timestamp=99))
    assert found.has_append_time and found.records[0].timestamp == 99


def test_read_message_set_two_wrappers_are_for_old_brokers_only() -> None:
    both = memoryview(bytes(wrapper(message(b"a"))) + message(b"b"))
    with pytest.raises(InvalidBatch, match="beside others"):
        read_message_set(both)
    assert [record.value for record in read_message_set(both, many_wrappers=True).records] == [b"a", b"b"]


LZ4_FRAME = compress(Compression.LZ4, message(b"a", magic=0))


@pytest.mark.parametrize(
    ("data", "error", "text"),
    [
        (message()[:-1] + b"x", CorruptBatch, "CRC"),
        (message(magic=2), InvalidBatch, "magic 2 in a message set"),
        (build_message(LegacyMessage(0, 0, 0, 0, None, None))[:14] + b"", None, ""),
        (wrapper(None), InvalidBatch, "without a value"),
        (wrapper(b""), InvalidBatch, "without messages"),
        (wrapper(b"\0" * 40), CorruptBatch, "an inner message of 0 bytes"),
        (wrapper(message(), codec=Compression.ZSTD), InvalidBatch, "zstd needs"),
        (wrapper(message(), codec=5), BatchError, "no compression type 5"),
        (wrapper(message(), codec=Compression.LZ4), BatchError, "lz4"),
        (wrapper(message(magic=0)), InvalidBatch, "magic 0 in one of magic 1"),
        (wrapper(bytes(wrapper(message()))), InvalidBatch, "compressed message in another"),
        (wrapper(message()[:-1] + b"x"), CorruptBatch, "CRC"),
        (wrapper(message(offset=3), offset=2), InvalidBatch, "less than 3"),
        (message(LZ4_FRAME[:3], magic=0, attributes=3), BatchError, "lz4"),
        (message(LZ4_FRAME[:6], magic=0, attributes=3), BatchError, "lz4"),
    ],
)
def test_read_message_set_damaged_is_refused(data: bytes | memoryview, error: type[Exception] | None, text: str) -> None:
    if error is None:
        assert read_message_set(memoryview(data)).records == []
    else:
        with pytest.raises(error, match=text):
            read_message_set(memoryview(data))


def with_body(body: bytes) -> memoryview:
    return memoryview(bytes(8) + (4 + len(body)).to_bytes(4, "big") + crc32(body).to_bytes(4, "big") + body)


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (b"\1\0" + bytes(8), "ends before its key or value"),
        (b"\0\0" + b"\0\0\0\2kk" + bytes(2), "ends before its key or value"),
        (b"\0\0" + b"\0\0\0\7" + bytes(5), "a key or value of 7 bytes where the message has 5"),
    ],
)
def test_read_message_set_fields_that_do_not_fit_are_refused(body: bytes, text: str) -> None:
    with pytest.raises(BatchError, match=text):
        read_message_set(with_body(body))


def test_read_message_set_limits_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(BatchTooLarge, match="27 bytes, 26 are allowed"):
        read_message_set(memoryview(message(b"v", magic=0)), 26)
    monkeypatch.setattr("odradek.protocol.batches.message_sets.DECOMPRESSED_LIMIT", 10)
    with pytest.raises(BatchTooLarge, match="more than 10 bytes"):
        read_message_set(wrapper(message()))


def test_lz4_frame_with_content_size_is_read() -> None:
    inner = message(b"a", magic=0)
    frame = compress(Compression.LZ4, inner)
    sized = frame[:4] + bytes((frame[4] | 8, frame[5])) + len(inner).to_bytes(8, "little") + b"\0" + frame[7:]
    found = read_message_set(memoryview(message(sized, magic=0, attributes=3)))
    assert found.records[0].value == b"a"


@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", CODECS)
def test_read_message_set_of_mutated_bytes_raises_batch_error(magic: int, codec: Compression) -> None:
    """Bytes change at random, half of the time with a CRC that fits, so that the fields behind it are read."""
    chance = Random(f"{magic} {codec}")
    original = build_message_set(RECORDS, magic, codec)
    for _ in range(300):
        data = bytearray(original)
        for _ in range(chance.randint(1, 3)):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 127, 128, 255, chance.randrange(256)))
        if chance.random() < 0.5:
            size = int.from_bytes(data[8:12], "big")
            data[12:16] = crc32(bytes(data[16 : 12 + size])).to_bytes(4, "big")
        with suppress(BatchError):
            assert len(read_message_set(memoryview(data)).records) <= 2 * len(RECORDS)
