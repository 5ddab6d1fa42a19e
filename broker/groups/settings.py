"""The broker settings that concern groups."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..settings.values import BrokerConfig


class GroupSettings(NamedTuple):
    """Broker settings under Kafka's names, with `_` for `.`.

    The defaults are Kafka's, except that the first member of a group does not wait 3 s for others (group.initial.rebalance.delay.ms and
    group.streams.initial.rebalance.delay.ms).
    """

    group_min_session_timeout_ms: int = 6_000
    group_max_session_timeout_ms: int = 1_800_000
    group_max_size: int = (1 << 31) - 1
    group_initial_rebalance_delay_ms: int = 0
    group_consumer_assignment_interval_ms: int = 1_000
    group_consumer_assignors: tuple[str, ...] = ("uniform", "range")
    group_consumer_heartbeat_interval_ms: int = 5_000
    group_consumer_max_size: int = (1 << 31) - 1
    group_consumer_migration_policy: str = "bidirectional"
    group_consumer_session_timeout_ms: int = 45_000
    group_share_assignment_interval_ms: int = 1_000
    group_share_assignors: tuple[str, ...] = ("simple",)
    group_share_heartbeat_interval_ms: int = 5_000
    group_share_initialize_retry_interval_ms: int = 30_000
    group_share_max_size: int = 200
    group_share_session_timeout_ms: int = 45_000
    group_streams_assignment_interval_ms: int = 1_000
    group_streams_heartbeat_interval_ms: int = 5_000
    group_streams_initial_rebalance_delay_ms: int = 0
    group_streams_max_size: int = (1 << 31) - 1
    group_streams_num_standby_replicas: int = 0
    group_streams_session_timeout_ms: int = 45_000
    offset_metadata_max_bytes: int = 4_096
    offsets_retention_minutes: int = 10_080
    offsets_retention_check_interval_ms: int = 600_000

    @classmethod
    def of(cls, config: BrokerConfig) -> GroupSettings:
        values: list[Any] = [config.values[name.replace("_", ".")] for name in cls._fields]
        return cls(*values)
