"""Nodes take their limits from their settings."""

from __future__ import annotations

from tests.broker.harness import World


def test_broker_takes_its_limits_from_settings() -> None:
    broker = World(nodes=1, settings={"max.connections": "7", "queued.max.request.bytes": "1000"}).cluster.brokers[1]
    assert (broker.connections.limit, broker.request_memory.capacity_bytes) == (7, 1000)
    assert not broker.rack_aware
