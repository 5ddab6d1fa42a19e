"""Reads of a partition whose followers lag: from the leader, and from followers with their own offsets (KIP-392)."""

from __future__ import annotations

from typing import Any, cast

import pytest

from odradek.broker.topics.partition import Partition
from odradek.protocol.batches.records import batches
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_log_dirs import DESCRIBE_LOG_DIRS, DescribeLogDirsRequest
from odradek.protocol.messages.fetch import FETCH, FetchPartition, FetchRequest, FetchTopic
from odradek.protocol.messages.list_offsets import LIST_OFFSETS, ListOffsetsPartition, ListOffsetsRequest, ListOffsetsTopic
from odradek.protocol.messages.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from tests.broker.harness import World, produce

RACKS = {"replica.selector.class": "org.apache.kafka.common.replica.RackAwareReplicaSelector"}
LEADER, FOLLOWER = 1, 2


def a_world(*, settings: dict[str, str] | None = None) -> tuple[World, Partition]:
    """Returns a partition with one replicated record."""
    world = World(nodes=3, settings=settings)
    partition = world.cluster.topics.create("t", assignments=[[LEADER, FOLLOWER, 3]]).partitions[0]
    produce(world, "t", b"a")
    return world, partition


def fetch_request(offset: int, *, isolation: int = 0, max_wait_ms: int = 0, rack: str = "", **fields: Any) -> FetchRequest:
    wanted = FetchPartition(partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **fields)
    topics = [FetchTopic(topic="t", partitions=[wanted])]
    return FetchRequest(max_wait_ms=max_wait_ms, min_bytes=1, isolation_level=isolation, topics=topics, rack_id=rack)


def read(world: World, node: int, offset: int = 0, **options: Any) -> Any:
    return world.client(node).call(FETCH, 12, fetch_request(offset, **options)).responses[0].partitions[0]


def seen(answer: Any) -> tuple[int, int, int]:
    """Returns high watermark, last stable offset and number of records."""
    records = sum(batch.header.records_count for batch in batches(bytes(cast(bytes, answer.records))))
    return answer.high_watermark, answer.last_stable_offset, records


def latest(world: World, isolation: int) -> int:
    wanted = [ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])]
    answer = world.client(LEADER).call(LIST_OFFSETS, 4, ListOffsetsRequest(replica_id=-1, isolation_level=isolation, topics=wanted))
    return int(answer.topics[0].partitions[0].offset)


def test_fetch_above_the_high_watermark_does_not_wait() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    produce(world, "t", b"b", acks=1)
    assert (seen(read(world, LEADER)), latest(world, 0)) == ((1, 1, 1), 1)
    assert read(world, LEADER, 2, max_wait_ms=500).error_code == 0
    assert read(world, LEADER, 3).error_code == ErrorCode.OFFSET_OUT_OF_RANGE


def test_waiting_fetch_gets_records_when_the_watermark_moves() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    client = world.client(LEADER)
    client.send(FETCH, 12, fetch_request(1, max_wait_ms=60_000))
    produce(world, "t", b"b", acks=1)
    assert client.receive() is None
    world.advance(30_000)
    assert partition.isr == [LEADER, 3]
    assert seen(client.receive().responses[0].partitions[0]) == (2, 2, 1)


def test_follower_that_lags_serves_its_older_records() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    world.cluster.replica_control.lag(partition, 3, 2)
    for _ in range(3):
        produce(world, "t", b"b", acks=1)
    assert [seen(read(world, node)) for node in (LEADER, FOLLOWER, 3)] == [(1, 1, 1)] * 3
    partition.follower_timed_out(FOLLOWER, world.cluster.brokers.running)
    assert [seen(read(world, node)) for node in (LEADER, FOLLOWER, 3)] == [(2, 2, 2), (1, 1, 1), (2, 2, 2)]
    assert read(world, FOLLOWER, 1).error_code == 0
    assert read(world, FOLLOWER, 2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    world.cluster.replica_control.end_lag(partition, FOLLOWER)
    assert seen(read(world, FOLLOWER)) == (2, 2, 2)


def test_stopped_follower_keeps_the_high_watermark_it_knew() -> None:
    """Node 2 stops with two records, of which it knows only the first one to be committed."""
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, 3, 0)
    produce(world, "t", b"b", acks=1)
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    world.cluster.replica_control.end_lag(partition, 3)
    assert [seen(read(world, node)) for node in (LEADER, FOLLOWER, 3)] == [(2, 2, 2), (1, 1, 1), (2, 2, 2)]
    assert partition.position(FOLLOWER) == 2


def test_follower_that_catches_up_answers_a_waiting_fetch() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    partition.follower_timed_out(FOLLOWER, world.cluster.brokers.running)
    client = world.client(FOLLOWER)
    client.send(FETCH, 12, fetch_request(1, max_wait_ms=500))
    produce(world, "t", b"b")
    assert client.receive() is None
    world.cluster.replica_control.end_lag(partition, FOLLOWER)
    world.advance(0)
    assert seen(client.receive().responses[0].partitions[0]) == (2, 2, 1)


def test_leader_does_not_name_a_replica_without_the_offset() -> None:
    world, partition = a_world(settings=RACKS)
    for node, rack in ((LEADER, "east"), (FOLLOWER, "west"), (3, "west")):
        world.cluster.brokers[node].rack = rack
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    world.cluster.replica_control.lag(partition, 3, 1)
    produce(world, "t", b"b", b"c", acks=1)
    produce(world, "t", b"d", acks=1)
    assert [read(world, LEADER, offset, rack="west").preferred_read_replica for offset in (0, 1, 3)] == [3, 3, 3]
    assert read(world, LEADER, 4, rack="west").preferred_read_replica == -1


def test_transaction_with_marker_above_watermark_is_not_stable() -> None:
    world, partition = a_world()
    produce(world, "t", b"b", producer_id=7, producer_epoch=0, base_sequence=0)
    partition.producers.record(8, 0, 0, 0, partition.log.end_offset, partition.log.end_offset, -1, 0, transactional=True)
    produce(world, "t", b"c")
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    produce(world, "t", b"d", acks=1)
    partition.producers.end_transaction(8, 0, 0, 3, 0, committed=True)
    assert (latest(world, 0), latest(world, 1)) == (3, 2)
    assert [seen(read(world, node, isolation=1)) for node in (LEADER, FOLLOWER)] == [(3, 2, 2)] * 2
    partition.follower_timed_out(FOLLOWER, world.cluster.brokers.running)
    assert [seen(read(world, node, isolation=1)) for node in (LEADER, FOLLOWER, 3)] == [(4, 4, 4), (3, 2, 2), (4, 4, 4)]


def test_end_below_the_start_of_the_epoch_is_not_available() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, 3, 0)
    produce(world, "t", b"b", acks=1)
    world.cluster.replica_control.move_leader(partition, FOLLOWER)
    wanted = [ListOffsetsTopic(name="t", partitions=[ListOffsetsPartition(partition_index=0, timestamp=-1)])]

    def error(version: int) -> int:
        answer = world.client(FOLLOWER).call(LIST_OFFSETS, version, ListOffsetsRequest(replica_id=-1, topics=wanted))
        return int(answer.topics[0].partitions[0].error_code)

    assert [error(version) for version in (4, 5)] == [ErrorCode.LEADER_NOT_AVAILABLE, ErrorCode.OFFSET_NOT_AVAILABLE]
    world.cluster.replica_control.end_lag(partition, 3)
    assert [error(version) for version in (4, 5)] == [0, 0]


def test_truncated_consumer_learns_the_end_of_its_epoch() -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    produce(world, "t", b"b", acks=1)
    partition.follower_timed_out(FOLLOWER, world.cluster.brokers.running)
    world.cluster.nodes.stop(3)
    world.cluster.nodes.stop(LEADER)
    assert partition.elect_uncleanly([FOLLOWER])
    assert read(world, FOLLOWER, 2).error_code == ErrorCode.OFFSET_OUT_OF_RANGE
    diverging = read(world, FOLLOWER, 2, last_fetched_epoch=0).diverging_epoch
    assert (diverging.epoch, diverging.end_offset) == (0, 1)
    assert read(world, FOLLOWER, 2, current_leader_epoch=0).error_code == ErrorCode.FENCED_LEADER_EPOCH
    wanted = OffsetForLeaderTopic(topic="t", partitions=[OffsetForLeaderPartition(partition=0, leader_epoch=0)])
    answer = world.client(FOLLOWER).call(OFFSET_FOR_LEADER_EPOCH, 4, OffsetForLeaderEpochRequest(replica_id=-1, topics=[wanted]))
    assert answer.topics[0].partitions[0].end_offset == 1


@pytest.mark.parametrize(("node", "records"), [(LEADER, 2), (FOLLOWER, 1)])
def test_log_dir_of_a_lagging_replica_has_its_own_size(node: int, records: int) -> None:
    world, partition = a_world()
    world.cluster.replica_control.lag(partition, FOLLOWER, 0)
    produce(world, "t", b"b", acks=1)
    (directory,) = world.client(node).call(DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)).results
    described = directory.topics[0].partitions[0]
    assert (described.partition_size, described.offset_lag) == (partition.log.size * records // 2, 0)


def test_follower_with_nothing_has_an_empty_log_dir() -> None:
    world = World()
    partition = world.cluster.topics.create("t", assignments=[[1, 2]]).partitions[0]
    world.cluster.replica_control.lag(partition, 2, 0)
    produce(world, "t", b"b", acks=1)
    (directory,) = world.client(2).call(DESCRIBE_LOG_DIRS, 4, DescribeLogDirsRequest(topics=None)).results
    assert directory.topics[0].partitions[0].partition_size == 0
