"""The settings of a share group that concern its share partitions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ...settings.values import BrokerConfig, GroupConfig


class ShareConfig(NamedTuple):
    """The settings share.* of one group under Kafka's names, with `_` for `.` and without the prefix."""

    auto_offset_reset: str
    delivery_count_limit: int
    isolation_level: str
    partition_max_record_locks: int
    record_lock_duration_ms: int
    renew_acknowledge_enable: bool


def share_config(group_id: str, group_configs: Mapping[str, GroupConfig], broker: BrokerConfig) -> ShareConfig:
    """Returns the settings of a group (config resource GROUP), which inherits those that it does not set from the broker."""
    config = group_configs.get(group_id) or GroupConfig(broker, {})
    return ShareConfig(
        auto_offset_reset=config.texts["share.auto.offset.reset"],
        delivery_count_limit=config.integers["share.delivery.count.limit"],
        isolation_level=config.texts["share.isolation.level"],
        partition_max_record_locks=config.integers["share.partition.max.record.locks"],
        record_lock_duration_ms=config.integers["share.record.lock.duration.ms"],
        renew_acknowledge_enable=config.booleans["share.renew.acknowledge.enable"],
    )
