"""Partitions and records of coordinators."""

from __future__ import annotations

from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from tests.broker.harness import World


def test_coordinator_moves_to_a_node_started_later() -> None:
    world = World()
    world.cluster.nodes.stop(2)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    world.cluster.nodes.start(2)
    world.cluster.nodes.stop(1)
    assert world.cluster.brokers[2].is_coordinator("g")


def test_append_without_leader_writes_nothing() -> None:
    world = World(nodes=1)
    cluster = world.cluster
    cluster.topics.ensure_internal("__consumer_offsets")
    partition = cluster.coordinator_log.partition("g", "__consumer_offsets")
    assert partition is not None
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1
    cluster.nodes.stop(1)
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1
