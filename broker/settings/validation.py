"""Checks of the settings that a request gives to a topic or a group (Kafka's LogConfig.validate and GroupConfig.validate).

Error messages are Kafka's. The checks for brokers, whose settings change at run time, are in `dynamic.py`.
"""

from __future__ import annotations

from collections.abc import Mapping

from .parsing import parse
from .properties import InvalidConfig
from .rows import GROUP_SETTINGS, PRESENT
from .types import Setting, SettingRows, Value
from .values import BrokerConfig, GroupConfig


def validate_topic_configs(overrides: Mapping[str, str | None], rows: SettingRows = PRESENT) -> None:
    """Raises InvalidConfig for settings that CreateTopics and AlterConfigs reject."""
    known = {name: row for name, row in rows.topic.items() if name not in rows.later}
    values = {name: row.default for name, row in rows.topic.items()} | _parsed("topic", known, overrides)
    low, high = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise InvalidConfig(f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})")
    if values["remote.storage.enable"]:
        raise InvalidConfig("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")


def validate_group_configs(overrides: Mapping[str, str | None], broker: BrokerConfig) -> None:
    """Raises InvalidConfig for settings that the broker does not allow for a group."""
    for name, value in _parsed("group", GROUP_SETTINGS, overrides).items():
        # consumer.session.timeout.ms is bounded by group.consumer.min.session.timeout.ms and group.consumer.max.session.timeout.ms,
        # streams.num.standby.replicas by group.streams.max.standby.replicas.
        kind, rest = name.split(".", 1)
        low, high = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest.removeprefix('num.')}"
        if isinstance(value, int) and value < broker.integers.get(low, value):
            raise InvalidConfig(f"{name} must be greater than or equal to {low}")
        if isinstance(value, int) and value > broker.integers.get(high, value):
            raise InvalidConfig(f"{name} must be less than or equal to {high}")
    values = GroupConfig(broker, {name: text for name, text in overrides.items() if text is not None}).integers
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if values[session] <= values[heartbeat]:
            raise InvalidConfig(f"{session} must be greater than {heartbeat}")


def _parsed(kind: str, rows: Mapping[str, Setting], overrides: Mapping[str, str | None]) -> dict[str, Value]:
    """Returns the parsed values. Raises InvalidConfig for names without a row, for null, and for invalid values."""
    if unknown := [name for name in overrides if name not in rows]:
        raise InvalidConfig(f"Unknown {kind} config name: {unknown[0]}")
    if empty := [name for name, text in overrides.items() if text is None]:
        raise InvalidConfig(f"Null value not supported for {kind} configs: {', '.join(empty)}")
    return {name: parse(rows[name], text) for name, text in overrides.items() if text is not None}
