"""Fetch up to v3, topics with older message formats, and what brokers refuse to convert."""

from __future__ import annotations

import pytest

from odradek.protocol.batches.compression import Compression
from odradek.protocol.batches.records import read_header
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic, PartitionData
from tests.broker.harness import World, produce
from tests.protocol.batches.kafka_python_reader import read_by_kafka_python


def world(as_version: str = "2.8", **configs: str) -> World:
    world = World(as_version=as_version)
    world.cluster.topics.create("t", 1, 1, configs={name.replace("_", "."): text for name, text in configs.items()})
    return world


def fetch(world: World, version: int, offset: int = 0, partition_max_bytes: int = 1 << 20) -> PartitionData:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=partition_max_bytes)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=[wanted])])
    data: PartitionData = world.leader_of("t").call(FETCH, version, request).responses[0].partitions[0]
    return data


def records(data: PartitionData, magic: int) -> list[tuple[int, int | None, bytes | None]]:
    assert not data.error_code and isinstance(data.records, memoryview)
    return [(each[0], each[1], each[4]) for each in read_by_kafka_python(bytes(data.records), magic)]


@pytest.mark.parametrize(("version", "magic"), [(0, 0), (1, 0), (2, 1), (3, 1)])
@pytest.mark.parametrize("release", ["2.1", "3.9"])
def test_fetch_old_version_returns_message_sets(release: str, version: int, magic: int) -> None:
    cluster = world(release)
    produce(cluster, "t", b"a", b"b")
    times = [None, None] if magic == 0 else [1000, 1001]
    assert records(fetch(cluster, version), magic) == [(0, times[0], b"a"), (1, times[1], b"b")]
    assert records(fetch(cluster, version, offset=1), magic) == [(1, times[1], b"b")]
    assert fetch(cluster, version, offset=2).records == b""


def test_fetch_v4_returns_batches_of_the_log() -> None:
    cluster = world("2.8")
    produce(cluster, "t", b"a")
    data = fetch(cluster, 4)
    assert isinstance(data.records, memoryview) and read_header(data.records).magic == 2


def test_fetch_v2_larger_batch_than_the_limit_is_cut() -> None:
    """Up to v2 the client must enlarge its limit; from v3 on it gets the whole batch (KIP-74)."""
    cluster = world()
    produce(cluster, "t", b"v" * 1000)
    data = fetch(cluster, 2, partition_max_bytes=100)
    assert isinstance(data.records, memoryview)
    assert bytes(data.records) == b"\xff" * 8 + (61).to_bytes(4, "big")
    assert [each[2] for each in records(fetch(cluster, 3, partition_max_bytes=100), 1)] == [b"v" * 1000]


@pytest.mark.parametrize(("format_version", "magic"), [("0.9.0", 0), ("0.10.2", 1)])
def test_fetch_topic_of_older_format_returns_message_sets(format_version: str, magic: int) -> None:
    cluster = world(message_format_version=format_version)
    produce(cluster, "t", b"a")
    assert records(fetch(cluster, 11), magic) == [(0, 1000 if magic else None, b"a")]
    assert not cluster.cluster.shortcut_allowed


def test_fetch_older_format_for_older_client_is_converted() -> None:
    cluster = world(message_format_version="0.10.2")
    produce(cluster, "t", b"a")
    assert records(fetch(cluster, 1), 0) == [(0, None, b"a")]


def test_fetch_without_down_conversion_is_refused() -> None:
    cluster = world(message_downconversion_enable="false")
    produce(cluster, "t", b"a")
    refused = fetch(cluster, 3)
    assert (refused.error_code, refused.high_watermark, refused.records) == (ErrorCode.UNSUPPORTED_VERSION, -1, b"")
    assert not fetch(cluster, 4).error_code


@pytest.mark.parametrize(("release", "nothing"), [("2.8", (b"", None)), ("3.0", (None, []))])
def test_fetch_refused_partition_has_records_of_the_release(release: str, nothing: tuple[object, object]) -> None:
    cluster = world(release, compression_type="zstd")
    refused = fetch(cluster, 4)
    assert (refused.records, refused.aborted_transactions) == nothing


def test_fetch_zstd_topic_is_refused_before_v10() -> None:
    cluster = world("3.9", compression_type="zstd")
    produce(cluster, "t", b"a")
    assert fetch(cluster, 9).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
    assert not fetch(cluster, 10).error_code


def test_fetch_zstd_batch_cannot_be_converted() -> None:
    cluster = world("3.9")
    produce(cluster, "t", b"a", compression=Compression.ZSTD)
    assert fetch(cluster, 3).error_code == ErrorCode.UNSUPPORTED_COMPRESSION_TYPE


def test_fetch_of_a_topic_altered_to_older_format_is_not_kept() -> None:
    """A consumer whose requests were served without being decoded gets message sets after the change."""
    cluster = world("2.8")
    produce(cluster, "t", b"a")
    client = cluster.leader_of("t")
    wanted = FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 20)
    request = FetchRequest(max_wait_ms=0, min_bytes=0, topics=[FetchTopic(topic="t", partitions=[wanted])])
    for _ in range(3):
        batch = client.call(FETCH, 11, request).responses[0].partitions[0].records
        assert read_header(batch).magic == 2
    cluster.cluster.alter_topic(cluster.cluster.topics["t"], {"message.format.version": "0.10.2"})
    assert records(client.call(FETCH, 11, request).responses[0].partitions[0], 1) == [(0, 1000, b"a")]
