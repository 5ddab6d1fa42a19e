"""Nodes that end, fail, return, join and leave."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.silence import Silence
from odradek.broker.settings.cluster_config import NodeConfig, cluster_of
from odradek.broker.topics.partition import Partition
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.harness import World, produce

SESSION_MS = 9000


def a_world(*replicas: list[int], nodes: int = 3) -> tuple[World, list[Partition]]:
    world = World(nodes=nodes, settings={"auto.leader.rebalance.enable": "false"})
    return world, [world.cluster.topics.create(f"t{n}", assignments=[nodes]).partitions[0] for n, nodes in enumerate(replicas)]


def leaders(partitions: list[Partition]) -> list[int]:
    return [partition.leader for partition in partitions]


def brokers_in_metadata(world: World, node: int = 1) -> list[int]:
    request = MetadataRequest(topics=[])
    return [broker.node_id for broker in world.client(node).call(METADATA, 9, request).brokers]


def fail(world: World, how: str) -> None:
    nodes = world.cluster.nodes
    if how == "killed":
        nodes.stop(2, graceful=False)
    else:
        nodes.silence(2, Silence(how))


@pytest.mark.parametrize("how", ["killed", "paused", "isolated"])
def test_node_that_fails_leads_until_its_session_expires(how: str) -> None:
    world, partitions = a_world([2, 3], [3, 2], [2])
    fail(world, how)
    world.advance(SESSION_MS - 1)
    assert (leaders(partitions), brokers_in_metadata(world), world.cluster.brokers.running) == ([2, 3, 2], [1, 2, 3], [1, 2, 3])
    world.advance(1)
    assert (leaders(partitions), brokers_in_metadata(world), world.cluster.brokers.running) == ([3, 3, -1], [1, 3], [1, 3])
    world.cluster.nodes.start(2)
    assert (leaders(partitions), [partition.isr for partition in partitions]) == ([3, 3, 2], [[2, 3], [2, 3], [2]])
    assert brokers_in_metadata(world) == [1, 2, 3]


def test_node_that_resumes_in_time_still_leads() -> None:
    world, partitions = a_world([2, 3], [3, 2])
    fail(world, "paused")
    produce(world, "t1", b"a", acks=1)
    assert (partitions[1].high_watermark, partitions[1].isr) == (0, [3, 2])
    world.cluster.nodes.start(2)
    world.advance(SESSION_MS)
    assert (leaders(partitions), partitions[1].high_watermark, partitions[1].isr) == ([2, 3], 1, [3, 2])
    assert [partition.leader_epoch for partition in partitions] == [0, 0]


def test_node_killed_and_started_at_once_is_fenced_before() -> None:
    world, partitions = a_world([2, 3])
    world.cluster.nodes.stop(2, graceful=False)
    world.cluster.nodes.start(2)
    assert (leaders(partitions), partitions[0].leader_epoch, partitions[0].isr) == ([3], 1, [2, 3])
    world.advance(SESSION_MS)
    assert world.cluster.brokers.running == [1, 2, 3]


def test_node_paused_and_killed_keeps_its_first_deadline() -> None:
    world, partitions = a_world([2, 3])
    fail(world, "paused")
    world.advance(SESSION_MS - 1)
    world.cluster.nodes.stop(2, graceful=False)
    world.advance(1)
    assert leaders(partitions) == [3]


def test_all_nodes_failing_leaves_no_controller() -> None:
    world, _ = a_world([1])
    for node in (1, 2, 3):
        world.cluster.nodes.stop(node, graceful=False)
    assert world.cluster.brokers.controller_id == 1
    world.advance(SESSION_MS)
    assert (world.cluster.brokers.controller_id, world.cluster.brokers.running) == (-1, [])


def test_add_node_takes_part_in_placement_and_settings() -> None:
    world, _ = a_world([1])
    cluster = world.cluster
    cluster.alter_brokers(None, {"log.retention.ms": "5"})
    cluster.nodes.add(cluster_node(world, 4, "east"))
    added = cluster.brokers[4]
    assert (added.rack, added.config.integers["log.retention.ms"], cluster.brokers.running) == ("east", 5, [1, 2, 3, 4])
    assert 4 in {node for partition in cluster.topics.create("u", 4, 1).partitions for node in partition.replicas}
    cluster.alter_brokers(None, {"log.retention.ms": "6"})
    assert added.config.integers["log.retention.ms"] == 6


def cluster_node(world: World, node_id: int, rack: str | None = None) -> NodeConfig:
    return cluster_of([{"listeners": "PLAINTEXT://127.0.0.1:9092"}]).nodes[0].sibling(node_id, rack)


def test_remove_node_moves_its_replicas() -> None:
    world, partitions = a_world([2, 3], [3, 2], [2], [1, 2, 3])
    cluster = world.cluster
    for partition in partitions:
        produce(world, partition.topic.name, b"a")
    cluster.replica_control.lag(partitions[1], 2, 0)
    cluster.replica_control.hold_reassignments()
    cluster.nodes.remove(2)
    assert [partition.replicas for partition in partitions] == [[1, 3], [3, 1], [1], [1, 3]]
    assert [sorted(partition.isr) for partition in partitions] == [[1, 3], [1, 3], [1], [1, 3]]
    assert [partition.high_watermark for partition in partitions] == [1] * 4
    assert not any(partition.is_reassigned for partition in partitions)
    assert brokers_in_metadata(world) == [1, 3]
    world.advance(SESSION_MS)


def test_remove_node_that_lagged_alone_keeps_its_records() -> None:
    """The only other replica lags and is out of sync. It copies the records before the leader leaves."""
    world, (partition,) = a_world([2, 1], nodes=2)
    world.cluster.replica_control.lag(partition, 1, 0)
    produce(world, "t0", b"a", acks=1)
    world.advance(30_000)
    assert partition.isr == [2]
    world.cluster.nodes.remove(2)
    assert (partition.leader, partition.replicas, partition.isr, partition.log.end_offset) == (1, [1], [1], 1)


def test_remove_first_node_keeps_the_settings_of_the_cluster() -> None:
    world, _ = a_world([2, 3])
    world.cluster.nodes.remove(1)
    world.cluster.alter_brokers(None, {"log.retention.ms": "5"})
    assert world.cluster.config.integers["log.retention.ms"] == world.cluster.brokers[2].config.integers["log.retention.ms"] == 5
    assert (world.cluster.brokers.controller_id, brokers_in_metadata(world, 2)) == (2, [2, 3])


def test_replica_is_moved_to_the_node_with_fewest() -> None:
    world, partitions = a_world([4], [4], [1], [1], [2], nodes=4)
    assert dict(world.cluster.nodes.moves(4)) == {partitions[0]: [3], partitions[1]: [2]}
