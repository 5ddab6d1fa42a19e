"""Leaders, in-sync replicas and preferred leaders when nodes stop and start."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.silence import Silence
from odradek.broker.snapshots.cluster import write_cluster
from odradek.broker.topics.partition import Partition
from tests.broker.harness import World, produce

LAG_MS = 30_000


def replicated(*replicas: int, **settings: str) -> tuple[World, Partition]:
    world = World(nodes=3, settings={name.replace("_", "."): value for name, value in settings.items()})
    return world, world.cluster.topics.create("t", assignments=[replicas]).partitions[0]


def test_preferred_leader_after_restart_leads_again_later() -> None:
    world = World(nodes=3)
    topic = world.cluster.topics.create("t", 6)
    before = [partition.leader for partition in topic.partitions]
    world.cluster.nodes.stop(2)
    world.cluster.nodes.start(2)
    world.advance(299_999)
    assert [partition.leader for partition in topic.partitions] != before
    world.advance(1)
    assert [partition.leader for partition in topic.partitions] == before


def test_preferred_leader_of_reassignment_leads_later() -> None:
    world = World()
    partition = world.cluster.topics.create("t", assignments=[[1, 2]]).partitions[0]
    world.cluster.replica_control.reassign(partition, [2, 1])
    world.advance(299_999)
    assert partition.leader == 1
    world.advance(1)
    assert partition.leader == 2


def test_leader_without_auto_rebalance_stays() -> None:
    world = World(settings={"auto.leader.rebalance.enable": "false"})
    topic = world.cluster.topics.create("t", 2)
    world.cluster.nodes.stop(2)
    world.cluster.nodes.start(2)
    world.advance(10**9)
    assert [partition.leader for partition in topic.partitions] == [1, 1]


def test_partition_without_in_sync_replica_has_no_leader() -> None:
    world = World()
    world.cluster.topics.create("t", 1)
    partition = world.cluster.topics["t"].partitions[0]
    first, second = partition.replicas
    produce(world, "t", b"a")
    world.cluster.nodes.stop(first)
    produce(world, "t", b"b")
    world.cluster.nodes.stop(second)
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [second])
    world.cluster.nodes.start(first)  # it lacks b
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [second])
    world.cluster.nodes.start(second)
    assert (partition.leader, sorted(partition.isr)) == (second, [1, 2])
    assert partition.log.end_offset == 2
    assert partition.leader_epoch == 3


def test_follower_that_lacks_nothing_stays_in_sync() -> None:
    world, partition = replicated(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    world.advance(10 * LAG_MS)
    assert partition.isr == [1, 2]
    produce(world, "t", b"a", acks=1)
    world.advance(LAG_MS // 2)
    assert (partition.isr, partition.lag_marks) == ([1], {})


def test_distant_follower_that_moves_stays_in_sync() -> None:
    world, partition = replicated(1, 2, replica_lag_time_max_ms="1000")
    world.cluster.replica_control.lag(partition, 2, 3)
    for _ in range(20):
        produce(world, "t", b"a", acks=1)
        world.advance(200)
    assert (partition.isr, partition.high_watermark) == ([1, 2], 17)
    for _ in range(20):
        produce(world, "t", b"a", acks=1)
        world.advance(500)
    assert (partition.isr, partition.high_watermark) == ([1], 40)


def test_follower_that_caught_up_is_not_checked_any_more() -> None:
    world, partition = replicated(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    produce(world, "t", b"a", acks=1)
    world.cluster.replica_control.end_lag(partition, 2)
    assert ("replica lag", partition, 2) not in world.timers
    world.advance(LAG_MS)
    assert partition.isr == [1, 2]


def test_paused_leader_removes_no_follower() -> None:
    world, partition = replicated(1, 2, broker_session_timeout_ms="100000")
    world.cluster.replica_control.lag(partition, 2, 0)
    produce(world, "t", b"a", acks=1)
    world.cluster.nodes.silence(1, Silence.PAUSED)
    world.advance(99_999)
    assert partition.isr == [1, 2]


def test_deleted_partition_is_not_checked() -> None:
    world, partition = replicated(1, 2)
    world.cluster.replica_control.lag(partition, 2, 0)
    world.cluster.delete_topic(partition.topic)
    assert ("replica lag", partition, 2) not in world.timers


def test_held_reassignment_stays_until_released() -> None:
    world, partition = replicated(1)
    control = world.cluster.replica_control
    control.reassign(partition, [2])
    control.hold_reassignments()
    world.advance(3_600_000)
    assert (partition.adding, partition.removing, partition.leader) == ([2], [1], 1)
    control.release_reassignments()
    assert (partition.replicas, partition.is_reassigned, partition.leader) == ([2], False, 2)


def test_held_reassignment_does_not_hold_restarted_replicas() -> None:
    world, partition = replicated(1, 2)
    control = world.cluster.replica_control
    control.hold_reassignments()
    control.reassign(partition, [1, 2, 3])
    world.cluster.nodes.stop(2)
    world.cluster.nodes.start(2)
    world.advance(1000)
    assert (partition.isr, partition.adding) == ([1, 2], [3])


def test_added_replica_that_lags_keeps_the_reassignment() -> None:
    world, partition = replicated(1)
    control = world.cluster.replica_control
    control.reassign(partition, [1, 2])
    control.lag(partition, 2, 0)
    world.advance(3_600_000)
    assert partition.adding == [2]
    control.end_lag(partition, 2)
    assert (partition.isr, partition.adding) == ([1, 2], [])


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
