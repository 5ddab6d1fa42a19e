"""The settings of share groups that concern their records."""

from __future__ import annotations

from odradek.broker.share_partitions.settings import ShareSettings
from tests.broker.harness import World


def test_settings_of_group_are_inherited_from_broker() -> None:
    world = World(nodes=1, settings={"group.share.record.lock.duration.ms": "20000"})
    world.cluster.alter_group("g", {"share.auto.offset.reset": "earliest", "share.delivery.count.limit": "3"})
    of_g, other = map(world.cluster.brokers[1].share_partitions.settings, ("g", "other"))
    assert (of_g.auto_offset_reset, of_g.delivery_count_limit, of_g.record_lock_duration_ms) == ("earliest", 3, 20_000)
    assert other == ShareSettings(record_lock_duration_ms=20_000)
