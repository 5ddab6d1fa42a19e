"""The memory of logs: reused or freed when records or topics are deleted, and limited by --max-memory for all logs together."""

from __future__ import annotations

import logging
import sys
import weakref

import pytest

from odradek.broker.cluster.state import BLOCKS_KEPT_MS
from odradek.broker.groups.offsets import CommittedOffset
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.produce import PRODUCE, PartitionProduceData
from odradek.storage.blocks import Blocks
from odradek.storage.log import Log
from tests.broker.harness import World, a_batch, produce, produce_request
from tests.broker.topics.mapped_memory import VALUE, errors_of, mapping

reuses = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells whether a view of a mapping exists")

LIMIT = 300_000


def blocks_of(log: Log) -> list[object]:
    return [part.obj for part in log.read(0, 1 << 30, log.end_offset, at_least_one=True)]


@pytest.mark.usefixtures("without_collector")
@pytest.mark.parametrize("size", [10, 300_000], ids=["copied", "kept"])
def test_topic_deleted_frees_its_memory_after_a_while(size: int) -> None:
    world = World(1)
    topic = world.cluster.topics.create("t", 3)
    produce(world, "t", b"v" * size)
    memory = mapping(topic.partitions[0].log)
    world.cluster.delete_topic(topic)
    assert world.cluster.blocks.kept_bytes >= size
    world.advance(BLOCKS_KEPT_MS - 1)
    assert memory() is not None
    world.advance(1)
    assert memory() is None
    assert world.cluster.blocks.kept_bytes == 0


@pytest.mark.usefixtures("without_collector")
def test_large_topic_deleted_frees_most_of_it_at_once() -> None:
    world = World(1)
    topic = world.cluster.topics.create("t", 1)
    world.cluster.blocks = topic.partitions[0].log._blocks = Blocks(400_000)
    memory = []
    for _ in range(4):
        produce(world, "t", b"v" * 300_000)
        memory.append(mapping(topic.partitions[0].log))
    world.cluster.delete_topic(topic)
    assert [known() is None for known in memory].count(False) == 1


@reuses
@pytest.mark.parametrize("size", [30_000, 300_000], ids=["copied", "kept"])
def test_produce_into_used_memory_returns_only_its_bytes(size: int) -> None:
    world = World(1)
    for name in ("secret", "t"):
        world.cluster.topics.create(name, 1)
    for _ in range(3):
        produce(world, "secret", b"secret" * (size // 6))
    old = blocks_of(world.cluster.topics["secret"].partitions[0].log)
    world.cluster.delete_topic(world.cluster.topics["secret"])
    for value in (b"v" * (size - 1000), b"w" * 10):
        produce(world, "t", value)
    log = world.cluster.topics["t"].partitions[0].log
    assert blocks_of(log)[0] in old
    client = world.client()
    wanted = FetchTopic(
        topic="t", topic_id=bytes(16), partitions=[FetchPartition(partition=0, fetch_offset=0, partition_max_bytes=1 << 30)]
    )
    client.send(FETCH, 12, FetchRequest(max_wait_ms=0, min_bytes=1, max_bytes=1 << 30, topics=[wanted], session_epoch=-1))
    assert bytes(client.sent).count(b"v") >= size - 1000
    assert b"secret" not in client.sent


@reuses
def test_large_request_that_is_copied_gives_its_memory_back() -> None:
    world = World(1)
    world.cluster.topics.create("t", 12)
    client, request = world.client(), produce_request("t", b"")
    request.topic_data[0].partition_data = [
        PartitionProduceData(index=partition, records=a_batch(b"v" * 30_000)) for partition in range(12)
    ]
    for _ in range(2):
        client.call(PRODUCE, 9, request)
        assert world.cluster.blocks.kept_bytes == 393_216, "the second request was received into the memory of the first"


def test_large_request_of_a_lost_client_gives_its_memory_back() -> None:
    world = World(1)
    client = world.client()
    client.feed((300_000).to_bytes(4) + b"begun")
    assert world.cluster.blocks.kept_bytes == 0
    client.connection.lost("gone")
    assert world.cluster.blocks.kept_bytes >= 300_000


@pytest.mark.usefixtures("without_collector")
def test_topic_deleted_is_in_no_reference_cycle() -> None:
    world = World(1)
    topic = world.cluster.topics.create("t", 3)
    known = weakref.ref(topic)
    world.cluster.delete_topic(topic)
    del topic
    assert known() is None


@pytest.mark.usefixtures("without_collector")
def test_topic_deleted_is_kept_by_no_connection() -> None:
    world = World(1)
    topic = world.cluster.topics.create("t", 1)
    produce(world, "t", VALUE)
    memory = mapping(topic.partitions[0].log)
    client = world.client()
    wanted = FetchTopic(
        topic="t", topic_id=bytes(16), partitions=[FetchPartition(partition=0, fetch_offset=1, partition_max_bytes=1 << 20)]
    )
    client.send(FETCH, 12, FetchRequest(max_wait_ms=1000, min_bytes=1, max_bytes=1 << 20, topics=[wanted], session_epoch=0))
    world.cluster.delete_topic(topic)
    world.advance(BLOCKS_KEPT_MS)
    assert memory() is None


def limited_world(limit: int = LIMIT) -> World:
    world = World(1, max_memory_bytes=limit)
    for name in ("t", "u"):
        world.cluster.topics.create(name, 1)
    return world


def test_produce_at_the_limit_is_refused_and_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    world = limited_world()
    client = world.client()
    fitting = LIMIT // len(a_batch(VALUE))
    with caplog.at_level(logging.ERROR):
        errors = errors_of(client, "t", fitting + 3)
    assert errors == [0] * fitting + [ErrorCode.KAFKA_STORAGE_ERROR] * 3
    assert [record.getMessage() for record in caplog.records if "--max-memory" in record.getMessage()] == [
        f"the logs have reached the limit of {LIMIT} bytes (--max-memory): Produce is refused until records are deleted"
    ]
    assert errors_of(world.client(), "u") == [ErrorCode.KAFKA_STORAGE_ERROR], "the limit is for all logs together"
    assert world.cluster.topics["t"].partitions[0].log.end_offset == fitting
    assert world.cluster.log_memory is not None
    assert world.cluster.log_memory.used_bytes == world.cluster.topics["t"].partitions[0].log.size


@pytest.mark.parametrize("way", ["delete-topic", "delete-records", "retention"])
def test_produce_after_deletion_is_accepted_again(way: str, caplog: pytest.LogCaptureFixture) -> None:
    world = limited_world()
    client = world.client()
    assert errors_of(client, "t", 20)[-1] == ErrorCode.KAFKA_STORAGE_ERROR
    topic = world.cluster.topics["t"]
    match way:
        case "delete-topic":
            world.cluster.delete_topic(topic)
        case "delete-records":
            topic.partitions[0].delete_before(topic.partitions[0].log.end_offset)
        case "retention":
            topic.config.alter({"retention.bytes": "0", "internal.segment.bytes": "1"})
            world.cluster.log_retention.delete_expired()
    assert errors_of(client, "u") == [0]
    caplog.clear()
    errors_of(client, "u", 20)
    assert sum("--max-memory" in record.getMessage() for record in caplog.records) == 1, "another crossing is another line"


def test_group_at_the_limit_commits_offsets() -> None:
    world = limited_world(limit=1)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    world.cluster.groups.offsets.commit("g", {("t", 0): CommittedOffset(5, -1, "", 0)})
    assert errors_of(world.client(), "t") == [ErrorCode.KAFKA_STORAGE_ERROR]


def test_consumer_offsets_are_compacted_by_the_timer() -> None:
    world = World(1, {"offsets.topic.segment.bytes": "1000", "offsets.topic.num.partitions": "1"})
    world.cluster.topics.ensure_internal("__consumer_offsets")
    for offset in range(500):
        world.cluster.groups.offsets.commit("g", {("t", 0): CommittedOffset(offset, -1, "", 0)})
    log = world.cluster.topics["__consumer_offsets"].partitions[0].log
    before = log.size
    world.advance(world.cluster.config.integers["log.cleaner.backoff.ms"])
    assert log.size < 2000 < before
