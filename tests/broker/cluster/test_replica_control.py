"""Leaders, in-sync replicas and preferred leaders when nodes stop and start."""

from __future__ import annotations

from tests.broker.harness import World, produce


def test_preferred_leader_after_restart_leads_again_later() -> None:
    world = World(nodes=3)
    topic = world.cluster.create_topic("t", 6)
    before = [partition.leader for partition in topic.partitions]
    world.cluster.stop_node(2)
    world.cluster.start_node(2)
    world.advance(299_999)
    assert [partition.leader for partition in topic.partitions] != before
    world.advance(1)
    assert [partition.leader for partition in topic.partitions] == before


def test_preferred_leader_of_reassignment_leads_later() -> None:
    world = World()
    partition = world.cluster.create_topic("t", assignments=[[1, 2]]).partitions[0]
    world.cluster.replica_control.reassign(partition, [2, 1])
    world.advance(299_999)
    assert partition.leader == 1
    world.advance(1)
    assert partition.leader == 2


def test_leader_without_auto_rebalance_stays() -> None:
    world = World(settings={"auto.leader.rebalance.enable": "false"})
    topic = world.cluster.create_topic("t", 2)
    world.cluster.stop_node(2)
    world.cluster.start_node(2)
    world.advance(10**9)
    assert [partition.leader for partition in topic.partitions] == [1, 1]


def test_partition_without_in_sync_replica_has_no_leader() -> None:
    world = World()
    world.cluster.create_topic("t", 1)
    partition = world.cluster.topics["t"].partitions[0]
    first, second = partition.replicas
    produce(world, "t", b"a")
    world.cluster.stop_node(first)
    produce(world, "t", b"b")
    world.cluster.stop_node(second)
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [second])
    world.cluster.start_node(first)  # it lacks b
    assert (partition.leader, partition.isr, partition.elr) == (-1, [], [second])
    world.cluster.start_node(second)
    assert (partition.leader, sorted(partition.isr)) == (second, [1, 2])
    assert partition.log.end_offset == 2
    assert partition.leader_epoch == 3
