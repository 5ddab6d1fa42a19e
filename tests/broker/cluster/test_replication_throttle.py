"""Replication throttles lengthen the copies of reassignments (KIP-73)."""

from __future__ import annotations

import pytest

from odradek.broker.snapshots.cluster import write_cluster
from odradek.broker.topics.partition import Partition
from tests.broker.harness import World, produce

SIZE = 100_000
RATES = {"leader.replication.throttled.rate": "10000"}
LEADERS, FOLLOWERS = {"leader.replication.throttled.replicas": "*"}, {"follower.replication.throttled.replicas": "0:2"}


def filled(world: World, name: str = "t", configs: dict[str, str] | None = None) -> Partition:
    """Returns a partition of one replica, on node 1, with records of somewhat more than SIZE bytes."""
    partition = world.cluster.topics.create(name, assignments=[[1]], configs=configs or {}).partitions[0]
    produce(world, name, bytes(SIZE))
    return partition


def seconds_of_reassignment(world: World, partition: Partition) -> int:
    """Returns the whole seconds until node 2 has replaced node 1."""
    world.cluster.replica_control.reassign(partition, [2])
    return seconds_left(world, partition)


def seconds_left(world: World, partition: Partition) -> int:
    for second in range(200):
        if not partition.is_reassigned:
            return second
        world.advance(1000)
    return 200


@pytest.mark.parametrize(
    ("configs", "settings", "seconds"),
    [
        ({}, RATES, 1),
        (LEADERS, {}, 1),
        (LEADERS, RATES, 11),
        ({"leader.replication.throttled.replicas": "0:1"}, RATES, 11),
        ({"leader.replication.throttled.replicas": "0:2"}, RATES, 1),
        (FOLLOWERS, {"follower.replication.throttled.rate": "5000"}, 21),
        (FOLLOWERS | LEADERS, RATES | {"follower.replication.throttled.rate": "5000"}, 21),
        (LEADERS, {"leader.replication.throttled.rate": "0"}, 200),
    ],
)
def test_throttled_copy_takes_its_bytes_by_the_rate(configs: dict[str, str], settings: dict[str, str], seconds: int) -> None:
    world = World(nodes=3, settings=settings)
    assert seconds_of_reassignment(world, filled(world, configs=configs)) == seconds


def test_copies_of_one_node_share_its_rate() -> None:
    world = World(nodes=3, settings=RATES)
    first, second = filled(world, "a", LEADERS), filled(world, "b", LEADERS)
    world.cluster.replica_control.reassign(first, [2])
    world.cluster.replica_control.reassign(second, [3])
    assert seconds_left(world, first) == 11
    assert seconds_left(world, second) == 10


def test_new_rate_acts_on_what_is_left_to_copy() -> None:
    world = World(nodes=3, settings=RATES)
    partition = filled(world, configs=LEADERS)
    world.cluster.replica_control.reassign(partition, [2])
    world.advance(5000)
    world.cluster.alter_brokers(None, {"leader.replication.throttled.rate": "1000"})
    assert 50 <= seconds_left(world, partition) <= 52


def test_removed_throttle_ends_the_copy_soon() -> None:
    world = World(nodes=3, settings=RATES)
    partition = filled(world, configs=LEADERS)
    world.cluster.replica_control.reassign(partition, [2])
    world.cluster.alter_topic(partition.topic, {})
    assert seconds_left(world, partition) == 1


def test_cancelled_copy_begins_again() -> None:
    world = World(nodes=3, settings=RATES)
    partition = filled(world, configs=LEADERS)
    world.cluster.replica_control.reassign(partition, [2])
    world.advance(5000)
    partition.cancel_reassignment(world.cluster.brokers.running)
    world.cluster.replica_control.changed(partition)
    assert (partition.copy, partition.replicas) == (None, [1])
    assert seconds_of_reassignment(world, partition) == 11


def test_unrelated_change_leaves_an_unthrottled_copy_alone() -> None:
    world = World(nodes=3)
    partition = filled(world)
    world.cluster.replica_control.reassign(partition, [2])
    world.advance(400)
    world.cluster.alter_brokers(None, {"log.cleaner.threads": "1"})
    world.advance(100)
    assert not partition.is_reassigned


def test_restored_copy_continues() -> None:
    world = World(nodes=3, settings=RATES)
    first, second = filled(world, "a", LEADERS), filled(world, "b", LEADERS)
    world.cluster.replica_control.reassign(first, [2])
    state = write_cluster(world.cluster)
    world.cluster.replica_control.reassign(second, [3])
    world.advance(15_000)
    world.restore(state)
    first, second = (world.cluster.topics[name].partitions[0] for name in "ab")
    world.cluster.replica_control.reassign(second, [3])
    assert seconds_left(world, first) == 11
    assert seconds_left(world, second) == 10
