"""The settings of a share group that concern its records."""

from __future__ import annotations

from typing import NamedTuple

from ..settings.values import GroupConfig

READ_COMMITTED = "read_committed"


class ShareSettings(NamedTuple):
    """Group configs under Kafka's names, without `share.`."""

    record_lock_duration_ms: int = 30_000
    delivery_count_limit: int = 5
    max_record_locks: int = 2_000
    renew_acknowledge_enabled: bool = True
    read_committed: bool = False
    auto_offset_reset: str = "latest"

    @classmethod
    def of(cls, config: GroupConfig) -> ShareSettings:
        """Returns the settings of a group; a group inherits those that it does not set from the broker."""
        return cls(
            record_lock_duration_ms=config.integers["share.record.lock.duration.ms"],
            delivery_count_limit=config.integers["share.delivery.count.limit"],
            max_record_locks=config.integers["share.partition.max.record.locks"],
            renew_acknowledge_enabled=config.booleans["share.renew.acknowledge.enable"],
            read_committed=config.texts["share.isolation.level"] == READ_COMMITTED,
            auto_offset_reset=config.texts["share.auto.offset.reset"],
        )
