"""Produce up to v2, and appends to topics with older message formats."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.message_sets import LegacyMessage, build_message, build_message_set
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record, batches
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceResponse
from tests.broker.harness import START_MS, Client, World, a_batch, produce_request

RECORDS = [Record(number, START_MS + number, b"k", value, []) for number, value in enumerate((b"a", b"b"))]


def world(as_version: str = "2.8", **configs: str) -> World:
    world = World(as_version=as_version)
    world.cluster.topics.create("t", 1, 1, configs={name.replace("_", "."): text for name, text in configs.items()})
    return world


def send(world: World, version: int, data: bytes | None, client: Client | None = None) -> PartitionProduceResponse:
    response = (client or world.leader_of("t")).call(PRODUCE, version, produce_request("t", data))
    answer: PartitionProduceResponse = response.responses[0].partition_responses[0]
    return answer


def stored(world: World) -> list[Any]:
    log = world.cluster.topics["t"].partitions[0].log
    views = log.read(log.start_offset, 1 << 20, log.end_offset, at_least_one=True)
    return [batch for view in views for batch in batches(view)]


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("magic", [0, 1])
@pytest.mark.parametrize("codec", [Compression.NONE, Compression.GZIP, Compression.SNAPPY, Compression.LZ4])
def test_produce_message_set_is_stored_as_one_batch(version: int, magic: int, codec: Compression) -> None:
    cluster = world()
    for base_offset in (0, 2):
        answer = send(cluster, version, build_message_set(RECORDS, magic, codec))
        assert (answer.error_code, answer.base_offset) == (0, base_offset)
    first, second = stored(cluster)
    assert first.crc_valid() and first.header.compression is codec
    assert [(each.offset, each.key, each.value) for each in second.records()] == [(2, b"k", b"a"), (3, b"k", b"b")]
    assert [each.timestamp for each in first.records()] == ([START_MS, START_MS + 1] if magic else [-1, -1])


def test_produce_v2_batch_of_format_2_is_accepted() -> None:
    cluster = world()
    assert send(cluster, 2, a_batch(b"a")).base_offset == 0
    assert [each.value for each in stored(cluster)[0].records()] == [b"a"]


@pytest.mark.parametrize("data", [None, b"", build_message_set(RECORDS[:1], 1)[:-1]])
def test_produce_empty_message_set_appends_nothing(data: bytes | None) -> None:
    cluster = world()
    answer = send(cluster, 2, data)
    assert (answer.error_code, answer.base_offset, stored(cluster)) == (0, -1, [])


def message(magic: int = 1, attributes: int = 0, key: bytes | None = None, timestamp: int = START_MS) -> bytes:
    return build_message(LegacyMessage(0, magic, attributes, timestamp, key, b"v"))


@pytest.mark.parametrize(
    ("data", "configs", "code"),
    [
        (message()[:-1] + b"x", {}, ErrorCode.CORRUPT_MESSAGE),
        (message(), {"cleanup_policy": "compact"}, ErrorCode.INVALID_RECORD),
        (message(attributes=8), {}, ErrorCode.INVALID_TIMESTAMP),
        (message(timestamp=START_MS - 10), {"message_timestamp_difference_max_ms": "5"}, ErrorCode.INVALID_TIMESTAMP),
        (message(timestamp=START_MS + 10), {"message_timestamp_difference_max_ms": "5"}, ErrorCode.INVALID_TIMESTAMP),
        (message(), {"max_message_bytes": "10"}, ErrorCode.MESSAGE_TOO_LARGE),
        (build_message_set(RECORDS, 1, Compression.GZIP) + message(), {}, ErrorCode.INVALID_RECORD),
    ],
)
def test_produce_message_set_refused_appends_nothing(data: bytes, configs: dict[str, str], code: ErrorCode) -> None:
    cluster = world(**configs)
    assert send(cluster, 2, data).error_code == code
    assert stored(cluster) == []


def test_produce_invalid_record_was_corrupt_message_before_2_4() -> None:
    assert send(world("2.3", cleanup_policy="compact"), 2, message()).error_code == ErrorCode.CORRUPT_MESSAGE


def test_produce_several_wrappers_are_accepted_before_2_4() -> None:
    cluster = world("2.3")
    assert send(cluster, 2, build_message_set(RECORDS, 1, Compression.GZIP) + message()).error_code == 0
    assert [each.value for each in stored(cluster)[0].records()] == [b"a", b"b", b"v"]


def test_produce_log_append_time_is_returned_in_v2() -> None:
    cluster = world(message_timestamp_type="LogAppendTime")
    assert send(cluster, 2, message()).log_append_time_ms == START_MS
    assert [each.timestamp for each in stored(cluster)[0].records()] == [START_MS]


def test_produce_to_a_follower_is_refused_before_the_records() -> None:
    cluster = world()
    leader = cluster.cluster.topics["t"].partitions[0].leader
    answer = send(cluster, 2, b"x" * 30, cluster.client(3 - leader))
    assert answer.error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER


def test_produce_v0_with_acks_0_closes_on_an_error() -> None:
    cluster = world()
    client = cluster.leader_of("t")
    client.send(PRODUCE, 0, produce_request("t", message(), acks=0))
    assert client.closed is None and len(stored(cluster)) == 1
    client.send(PRODUCE, 0, produce_request("t", message()[:-1] + b"x", acks=0))
    assert client.closed == "Produce with acks=0 failed with CORRUPT_MESSAGE"


def test_produce_repeated_message_sets_are_all_appended() -> None:
    """Requests of an equal form are not taken for those of the shortcut."""
    cluster = world()
    client = cluster.leader_of("t")
    assert [send(cluster, 2, message(), client).base_offset for _ in range(5)] == [0, 1, 2, 3, 4]


def batch(headers: list[tuple[str, bytes | None]] | None = None, **options: Any) -> bytes:
    return bytes(build_batch([Record(0, START_MS, b"k", b"v", headers or [])], **options))


@pytest.mark.parametrize(("format_version", "timestamp"), [("0.9.0", -1), ("0.10.2", START_MS)])
def test_append_to_older_format_drops_what_it_lacks(format_version: str, timestamp: int) -> None:
    cluster = world(message_format_version=format_version)
    assert send(cluster, 7, batch()).error_code == 0
    (record,) = stored(cluster)[0].records()
    assert (record.headers, record.timestamp, record.value) == ([], timestamp, b"v")


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"producer_id": 1, "producer_epoch": 0, "base_sequence": 0}, ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT),
        ({"compression": Compression.ZSTD}, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE),
        ({"headers": [("h", b"x")]}, ErrorCode.UNKNOWN_SERVER_ERROR),
    ],
)
def test_append_to_older_format_refuses_what_needs_batches(options: dict[str, Any], code: ErrorCode) -> None:
    assert send(world(message_format_version="0.10.2"), 7, batch(**options)).error_code == code


def test_append_of_plain_batch_to_older_format_keeps_its_bytes() -> None:
    cluster = world(message_format_version="0.10.2")
    plain = a_batch(b"a", b"b")
    assert send(cluster, 7, plain).error_code == 0
    assert bytes(stored(cluster)[0].view[16:]) == plain[16:]
