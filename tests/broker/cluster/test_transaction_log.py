"""Transaction markers and the records of the transaction coordinator. Producer ids and the expiration of producers."""

from __future__ import annotations

import pytest

from odradek.broker.topics.partition import Partition
from odradek.broker.transactions.transaction import Marker, Producer, TopicPartition
from tests.broker.harness import World, a_batch, produce

MARKER = Marker(Producer(7, 0), 0, True, False)


def test_write_marker_appends_to_the_partition() -> None:
    world = World(nodes=1)
    partition = world.cluster.topics.create("t", 1).partitions[0]
    assert world.cluster.transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert partition.log.end_offset == 1


def test_write_marker_without_leader_returns_false() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    world.cluster.nodes.stop(1)
    assert not world.cluster.transaction_log.write_marker(TopicPartition("t", 0), MARKER)


def test_write_marker_to_deleted_partition_needs_nothing() -> None:
    world = World(nodes=1)
    world.cluster.topics.create("t", 1)
    assert world.cluster.transaction_log.write_marker(TopicPartition("t", 5), MARKER)
    assert world.cluster.transaction_log.write_marker(TopicPartition("u", 0), MARKER)


def test_write_marker_with_stale_epoch_needs_nothing() -> None:
    world = World(nodes=1)
    partition = world.cluster.topics.create("t", 1).partitions[0]
    transaction_log = world.cluster.transaction_log
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER._replace(producer=Producer(7, 3)))
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert partition.log.end_offset == 1


def test_coordinator_epoch_without_leader_is_none() -> None:
    world = World(nodes=1)
    transaction_log = world.cluster.transaction_log
    assert transaction_log.coordinator_epoch("x") is None
    world.cluster.topics.ensure_internal("__transaction_state")
    assert transaction_log.coordinator_epoch("x") == 0
    world.cluster.nodes.stop(1)
    assert transaction_log.coordinator_epoch("x") is None


def replicated() -> tuple[World, Partition]:
    world = World(nodes=3)
    partition = world.cluster.topics.create("t", assignments=[[1, 2]]).partitions[0]
    world.cluster.replica_control.lag(partition, 2, 0)
    partition.producers.record(7, 0, 0, 0, partition.log.append(memoryview(bytearray(a_batch(b"v"))), 0, owned=False), 0, -1, 0, True)
    return world, partition


def test_write_marker_is_complete_when_replicated() -> None:
    world, partition = replicated()
    transaction_log = world.cluster.transaction_log
    assert [transaction_log.write_marker(TopicPartition("t", 0), MARKER) for _ in range(3)] == [False] * 3
    assert (partition.log.end_offset, partition.last_stable_offset, partition.high_watermark) == (2, 0, 0)
    partition.release(2, world.cluster.brokers.running)
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert (partition.log.end_offset, partition.last_stable_offset, transaction_log.uncommitted) == (2, 2, {})


def test_write_marker_that_was_truncated_is_repeated() -> None:
    world, partition = replicated()
    transaction_log = world.cluster.transaction_log
    partition.release(2, world.cluster.brokers.running)
    partition.hold(2, 0)
    assert not transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    partition.move_leader(2)
    assert (partition.log.end_offset, partition.producers.open_since(7)) == (1, 0)
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert (partition.log.end_offset, partition.last_stable_offset) == (2, 2)


@pytest.mark.parametrize("later_records", [0, 3])
def test_marker_that_was_truncated_with_its_records_is_repeated(later_records: int) -> None:
    world, partition = replicated()
    transaction_log = world.cluster.transaction_log
    assert not transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    partition.move_leader(2)
    assert (partition.log.end_offset, partition.producers.open_since(7)) == (0, -1)
    for _ in range(later_records):
        partition.log.append(memoryview(bytearray(a_batch(b"v"))), partition.leader_epoch, owned=False)
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert (partition.log.end_offset, partition.high_watermark) == (later_records + 1, later_records + 1)
    assert transaction_log.uncommitted == {}


def test_marker_whose_offset_was_deleted_is_complete() -> None:
    world, partition = replicated()
    transaction_log = world.cluster.transaction_log
    assert not transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    partition.release(2, world.cluster.brokers.running)
    partition.log.delete_before(2)
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert partition.log.end_offset == 2


def test_write_marker_to_topic_deleted_meanwhile_needs_nothing() -> None:
    world, partition = replicated()
    transaction_log = world.cluster.transaction_log
    assert not transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    world.cluster.delete_topic(partition.topic)
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert transaction_log.uncommitted == {}


def test_generate_returns_increasing_ids() -> None:
    producer_ids = World().cluster.producer_ids
    assert [producer_ids.generate() for _ in range(3)] == [0, 1, 2]


def test_producers_idle_too_long_are_expired() -> None:
    world = World(nodes=1, settings={"producer.id.expiration.ms": "1000", "producer.id.expiration.check.interval.ms": "400"})
    world.cluster.topics.create("t", 1)
    producers = world.cluster.topics["t"].partitions[0].producers
    producer_id = world.cluster.producer_ids.generate()
    produce(world, "t", b"a", producer_id=producer_id, producer_epoch=0, base_sequence=0)
    world.advance(800)
    assert len(producers) == 1
    world.advance(400)
    assert (len(producers), "producer expiration" in world.timers) == (0, False)
