"""Partitions and records of coordinators."""

from __future__ import annotations

from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from tests.broker.harness import World


def test_coordinator_moves_to_a_node_started_later() -> None:
    world = World()
    world.cluster.stop_node(2)
    world.cluster.ensure_internal("__consumer_offsets")
    world.cluster.start_node(2)
    world.cluster.stop_node(1)
    assert world.cluster.brokers[2].is_coordinator("g")


def test_append_without_leader_writes_nothing() -> None:
    world = World(nodes=1)
    cluster = world.cluster
    cluster.ensure_internal("__consumer_offsets")
    partition = cluster.coordinator("g", "__consumer_offsets")
    assert partition is not None
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1
    cluster.stop_node(1)
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1
