"""Nodes: their settings, and the groups that they coordinate."""

from __future__ import annotations

from tests.broker.harness import World


def test_broker_takes_its_limits_from_settings() -> None:
    broker = World(nodes=1, settings={"max.connections": "7", "queued.max.request.bytes": "1000"}).cluster.brokers[1]
    assert (broker.connections.limit, broker.request_memory.capacity_bytes) == (7, 1000)
    assert not broker.rack_aware


def test_broker_coordinates_groups_of_led_partitions() -> None:
    cluster = World(nodes=2).cluster
    assert not cluster.brokers[1].is_coordinator("g"), "there is no internal topic yet"
    cluster.topics.ensure_internal("__consumer_offsets")
    assert sum(broker.is_coordinator("g") for broker in cluster.brokers.values()) == 1


def test_brokers_share_groups_and_transactions() -> None:
    first, second = World(nodes=2).cluster.brokers.values()
    assert first.groups is second.groups
    assert first.transactions is second.transactions
