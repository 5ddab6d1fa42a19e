"""Checks and changes of a batch before it is appended that tests/differential does not compare with Apache Kafka."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import cramjam
import pytest

from odradek.broker.appending.batch_checks import AppendRules, validate_records
from odradek.protocol.batches import compression as codecs
from odradek.protocol.batches.batch_validation import BatchTooLarge
from odradek.protocol.batches.checks import UnreadableRecords
from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import DECOMPRESSED_LIMIT, HEADER, Record, RecordBatch, read_header, write_crc
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE
from tests.broker.harness import START_MS, World, a_batch, produce_request

MIB = 1 << 20


def rules(**configs: str) -> AppendRules:
    topic = World(nodes=1).cluster.topics.create("t", 1, configs={name.replace("_", "."): value for name, value in configs.items()})
    return AppendRules.of(topic.config)


def with_payload(codec: Compression, payload: bytes) -> memoryview:
    batch = bytearray(a_batch(b"x")[: HEADER.size] + payload)
    batch[8:12] = (len(batch) - 12).to_bytes(4, "big")
    batch[22] = codec
    write_crc(batch)
    return memoryview(batch)


BOMBS: dict[Compression, Callable[[bytes], bytes]] = {
    Compression.GZIP: lambda data: codecs.compress(Compression.GZIP, data),
    Compression.SNAPPY: lambda data: bytes(cramjam.snappy.compress_raw(data)),
    Compression.LZ4: lambda data: codecs.compress(Compression.LZ4, data),
    Compression.ZSTD: lambda data: codecs.compress(Compression.ZSTD, data),
}


@pytest.mark.parametrize("codec", BOMBS)
def test_decompression_bomb_stops_at_the_limit(codec: Compression) -> None:
    batch = with_payload(codec, BOMBS[codec](bytes(DECOMPRESSED_LIMIT + MIB)))
    tracemalloc.start()
    try:
        with pytest.raises(BatchTooLarge):
            validate_records(batch, read_header(batch), rules(), START_MS)
        assert tracemalloc.get_traced_memory()[1] < DECOMPRESSED_LIMIT * 2 + MIB  # twice while zlib joins its pieces
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("codec", ["gzip", "lz4", "zstd"])
def test_compression_levels_take_effect(codec: str) -> None:
    values = [bytes((17 * n * n >> 3 & 63) + 32 for n in range(start, start + 800)) for start in range(20)]
    batch = memoryview(bytearray(a_batch(*values)))
    header, sizes = read_header(batch), []
    for level in ("1", "9"):
        configs = {"compression.type": codec, f"compression.{codec}.level": level}
        topic = World(nodes=1).cluster.topics.create("t", 1, configs=configs)
        rebuilt = validate_records(batch, header, AppendRules.of(topic.config), START_MS)[0]
        assert [record.value for record in RecordBatch(rebuilt).records()] == values
        sizes.append(len(rebuilt))
    assert sizes[1] < sizes[0]


def test_recompressed_batch_above_the_limit_is_refused() -> None:
    batch = memoryview(bytearray(a_batch(bytes(3000), compression=Compression.GZIP)))
    with pytest.raises(BatchTooLarge):
        validate_records(batch, read_header(batch), rules(compression_type="uncompressed", max_message_bytes="1000"), START_MS)


def test_changed_config_takes_effect_at_once() -> None:
    world = World(nodes=1)
    topic = world.cluster.topics.create("t", 1)
    for policy, code in (("delete", 0), ("compact", ErrorCode.INVALID_RECORD), ("delete", 0)):
        topic.config.alter({"cleanup.policy": policy})
        response = world.client().call(PRODUCE, 9, produce_request("t", a_batch(b"x")))
        assert response.responses[0].partition_responses[0].error_code == code


def test_batch_refused_by_its_sequence_is_unchanged() -> None:
    """The shortcut and then the decoded request are tried. Neither finds a valid timestamp."""
    world = World(nodes=1)
    world.cluster.topics.create("t", 1, configs={"message.timestamp.type": "LogAppendTime"})
    client = world.client()
    codes = []
    for sequence in (0, 1, 5, 2):
        batch = bytes(build_batch([Record(0, 1000, None, b"x", [])], producer_id=7, producer_epoch=0, base_sequence=sequence))
        codes.append(client.call(PRODUCE, 9, produce_request("t", batch)).responses[0].partition_responses[0].error_code)
    assert codes == [0, 0, ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER, 0]


def test_refused_request_with_acks_0_closes_the_connection() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    client = world.client()
    client.send(PRODUCE, 9, produce_request("t", a_batch(b"x", is_transactional=True), acks=0))
    assert client.closed == "Produce with acks=0 failed with TRANSACTIONAL_ID_AUTHORIZATION_FAILED"


def test_records_before_1970_are_not_recompressed() -> None:
    batch = memoryview(bytearray(build_batch([Record(0, -5, None, b"x", [])])))
    with pytest.raises(UnreadableRecords):
        validate_records(batch, read_header(batch), rules(compression_type="gzip"), START_MS)


def test_transactional_batch_without_id_is_refused() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    client, codes = world.client(), []
    for transactional in (False, False, True, False):
        request = produce_request("t", a_batch(b"x", is_transactional=transactional))
        codes.append(client.call(PRODUCE, 9, request).responses[0].partition_responses[0].error_code)
    assert codes == [0, 0, ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, 0]
