"""The length of the metadata log."""

from __future__ import annotations

from odradek.broker.cluster.controller import MetadataLog
from odradek.broker.scheduling.timers import Timers
from odradek.broker.settings.values import BrokerConfig


def test_end_offset_counts_nodes_changes_and_idle_intervals() -> None:
    timers = Timers(1000)
    metadata_log = MetadataLog(timers, BrokerConfig({"metadata.max.idle.interval.ms": "500"}, nodes=1), 3)
    assert metadata_log.end_offset == 3
    metadata_log.add()
    metadata_log.add(4)
    assert metadata_log.end_offset == 8
    timers.advance(2100)
    assert metadata_log.end_offset == 10
    assert metadata_log.changes == 8


def test_end_offset_without_idle_interval_ignores_time() -> None:
    timers = Timers(1000)
    metadata_log = MetadataLog(timers, BrokerConfig({"metadata.max.idle.interval.ms": "0"}, nodes=1), 1)
    timers.advance(100_000)
    assert metadata_log.end_offset == 1
