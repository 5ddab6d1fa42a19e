"""Transaction markers and the records of the transaction coordinator."""

from __future__ import annotations

from odradek.broker.transactions.transaction import Marker, Producer, TopicPartition
from tests.broker.harness import World

MARKER = Marker(Producer(7, 0), 0, True, False)


def test_write_marker_appends_to_the_partition() -> None:
    world = World(nodes=1)
    partition = world.cluster.create_topic("t", 1).partitions[0]
    assert world.cluster.transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert partition.log.end_offset == 1


def test_write_marker_without_leader_returns_false() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    world.cluster.stop_node(1)
    assert not world.cluster.transaction_log.write_marker(TopicPartition("t", 0), MARKER)


def test_write_marker_to_deleted_partition_needs_nothing() -> None:
    world = World(nodes=1)
    world.cluster.create_topic("t", 1)
    assert world.cluster.transaction_log.write_marker(TopicPartition("t", 5), MARKER)
    assert world.cluster.transaction_log.write_marker(TopicPartition("u", 0), MARKER)


def test_write_marker_with_stale_epoch_needs_nothing() -> None:
    world = World(nodes=1)
    partition = world.cluster.create_topic("t", 1).partitions[0]
    transaction_log = world.cluster.transaction_log
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER._replace(producer=Producer(7, 3)))
    assert transaction_log.write_marker(TopicPartition("t", 0), MARKER)
    assert partition.log.end_offset == 1


def test_coordinator_epoch_without_leader_is_none() -> None:
    world = World(nodes=1)
    transaction_log = world.cluster.transaction_log
    assert transaction_log.coordinator_epoch("x") is None
    world.cluster.ensure_internal("__transaction_state")
    assert transaction_log.coordinator_epoch("x") == 0
    world.cluster.stop_node(1)
    assert transaction_log.coordinator_epoch("x") is None
