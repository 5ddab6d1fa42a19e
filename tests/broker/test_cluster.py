from __future__ import annotations

import pytest

from odradek.broker.topics.names import illegal_name
from tests.broker.harness import World, produce


@pytest.mark.parametrize(
    ("name", "legal"), [("a.b_c-D9", True), ("x" * 249, True), ("x" * 250, False), ("", False), (".", False), ("a b", False)]
)
def test_names(name: str, legal: bool) -> None:
    assert (illegal_name(name) is None) == legal


def test_a_stopped_node_leads_nothing_and_returns() -> None:
    world = World(nodes=3)
    topic = world.cluster.create_topic("t", 6)
    assert {partition.leader for partition in topic.partitions} == {1, 2, 3}
    epochs = [partition.leader_epoch for partition in topic.partitions]
    moved = [partition.leader == 2 for partition in topic.partitions]
    world.cluster.stop_node(2)
    assert all(partition.leader in (1, 3) for partition in topic.partitions)
    assert [partition.leader_epoch for partition in topic.partitions] == [e + m for e, m in zip(epochs, moved, strict=True)]
    assert all(2 not in partition.isr and 2 in partition.replicas for partition in topic.partitions)
    assert world.cluster.running == [1, 3]
    world.cluster.start_node(2)
    assert all(2 in partition.isr for partition in topic.partitions)
    assert all(partition.leader != 2 for partition in topic.partitions)


def test_leaders_return_to_the_first_replica_after_a_while() -> None:
    world = World(nodes=3)
    topic = world.cluster.create_topic("t", 6)
    before = [partition.leader for partition in topic.partitions]
    world.cluster.stop_node(2)
    world.cluster.start_node(2)
    world.advance(299_999)
    assert [partition.leader for partition in topic.partitions] != before
    world.advance(1)
    assert [partition.leader for partition in topic.partitions] == before


def test_leadership_moves_to_the_first_replica_of_a_reassignment() -> None:
    world = World()
    partition = world.cluster.create_topic("t", assignments=[[1, 2]]).partitions[0]
    world.cluster.replica_control.reassign(partition, [2, 1])
    world.advance(299_999)
    assert partition.leader == 1
    world.advance(1)
    assert partition.leader == 2


def test_leaders_stay_where_rebalancing_is_off() -> None:
    world = World(settings={"auto.leader.rebalance.enable": "false"})
    topic = world.cluster.create_topic("t", 2)
    world.cluster.stop_node(2)
    world.cluster.start_node(2)
    world.advance(10**9)
    assert [partition.leader for partition in topic.partitions] == [1, 1]


def test_the_last_in_sync_replica_is_waited_for() -> None:
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


def test_a_node_that_is_down_is_given_replicas() -> None:
    """As Apache Kafka 4.3.1 does: it is still registered."""
    world = World()
    world.cluster.stop_node(2)
    topic = world.cluster.create_topic("t", 3, 2)
    assert [(partition.leader, partition.replicas, partition.isr) for partition in topic.partitions] == [(1, [1, 2], [1])] * 3
    world.cluster.start_node(2)
    world.cluster.stop_node(1)
    assert [partition.leader for partition in topic.partitions] == [2] * 3


def test_a_coordinator_made_while_a_node_was_down_moves_to_it() -> None:
    world = World()
    world.cluster.stop_node(2)
    world.cluster.ensure_internal("__consumer_offsets")
    world.cluster.start_node(2)
    world.cluster.stop_node(1)
    assert world.cluster.brokers[2].is_coordinator("g")


def test_no_node_no_controller() -> None:
    world = World(nodes=1)
    world.cluster.stop_node(1)
    assert (world.cluster.controller_id, world.cluster.running) == (-1, [])
    assert world.cluster.ensure_internal("__consumer_offsets")
    assert not world.cluster.topics


def test_a_seed_makes_a_cluster_again() -> None:
    first, second = World(), World()
    for world in (first, second):
        world.cluster.create_topic("t", 5)
    assert first.cluster.cluster_id == second.cluster.cluster_id
    assert first.cluster.topics["t"].id == second.cluster.topics["t"].id
    assert [p.replicas for p in first.cluster.partitions()] == [p.replicas for p in second.cluster.partitions()]
