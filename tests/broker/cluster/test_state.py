"""Nodes that stop and start, and the creation of topics."""

from __future__ import annotations

from tests.broker.harness import World


def test_node_stopped_leads_nothing_until_started() -> None:
    world = World(nodes=3)
    topic = world.cluster.topics.create("t", 6)
    assert {partition.leader for partition in topic.partitions} == {1, 2, 3}
    epochs = [partition.leader_epoch for partition in topic.partitions]
    moved = [partition.leader == 2 for partition in topic.partitions]
    world.cluster.nodes.stop(2)
    assert all(partition.leader in (1, 3) for partition in topic.partitions)
    assert [partition.leader_epoch for partition in topic.partitions] == [e + m for e, m in zip(epochs, moved, strict=True)]
    assert all(2 not in partition.isr and 2 in partition.replicas for partition in topic.partitions)
    assert world.cluster.brokers.running == [1, 3]
    world.cluster.nodes.start(2)
    assert all(2 in partition.isr for partition in topic.partitions)
    assert all(partition.leader != 2 for partition in topic.partitions)


def test_create_topic_places_replicas_on_stopped_nodes() -> None:
    """A stopped node is still registered. Apache Kafka 4.3.1 places replicas on it too."""
    world = World()
    world.cluster.nodes.stop(2)
    topic = world.cluster.topics.create("t", 3, 2)
    assert [(partition.leader, partition.replicas, partition.isr) for partition in topic.partitions] == [(1, [1, 2], [1])] * 3
    world.cluster.nodes.start(2)
    world.cluster.nodes.stop(1)
    assert [partition.leader for partition in topic.partitions] == [2] * 3


def test_cluster_without_running_node_has_no_controller() -> None:
    world = World(nodes=1)
    world.cluster.nodes.stop(1)
    assert (world.cluster.brokers.controller_id, world.cluster.brokers.running) == (-1, [])
    assert world.cluster.topics.ensure_internal("__consumer_offsets")
    assert not world.cluster.topics


def test_cluster_with_same_seed_is_reproduced() -> None:
    first, second = World(), World()
    for world in (first, second):
        world.cluster.topics.create("t", 5)
    assert first.cluster.cluster_id == second.cluster.cluster_id
    assert first.cluster.topics["t"].id == second.cluster.topics["t"].id
    assert [p.replicas for p in first.cluster.topics.partitions()] == [p.replicas for p in second.cluster.topics.partitions()]


def test_deleted_topic_needs_no_coordinator() -> None:
    """The groups of a cluster are made, and their 60 modules imported, when a request needs one."""
    world = World()
    topic = world.cluster.topics.create("t", 1)
    world.cluster.delete_topic(topic)
    world.cluster.alter_brokers(None, {"group.max.size": "5"})
    world.cluster.nodes.stop(2)
    assert (world.cluster.groups_in_use, world.cluster.transactions_in_use) == (None, None)
    assert world.cluster.groups.settings.group_max_size == 5
    world.cluster.alter_brokers(None, {"group.max.size": "6"})
    assert world.cluster.groups.settings.group_max_size == 6
