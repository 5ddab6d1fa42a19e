"""Checks of the settings that a request gives to a topic, a group or a running broker. Error messages are Kafka's.

They are Kafka's LogConfig.validate, GroupConfig.validate and DynamicBrokerConfig (KIP-226).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .properties import InvalidConfig
from .rows import GROUP_SETTINGS, PRESENT
from .types import PER_BROKER, PER_LISTENER, ConfigType, Setting, SettingRows, Value
from .values import LISTENER_PREFIX, BrokerConfig, GroupConfig, base_name, parse, text_of


def validate_topic_configs(overrides: Mapping[str, str | None], rows: SettingRows = PRESENT) -> None:
    """Raises InvalidConfig for settings that CreateTopics and AlterConfigs reject."""
    known = {name: rows.topic[name] for name in overrides if name in rows.topic and name not in rows.later}
    parsed = _parse_overrides("topic", known, overrides)
    low, high, is_tiered = (
        parsed.get(name, rows.topic[name].default) for name in ("min.compaction.lag.ms", "max.compaction.lag.ms", "remote.storage.enable")
    )
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise InvalidConfig(f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})")
    if is_tiered:
        raise InvalidConfig("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")


def validate_group_configs(overrides: Mapping[str, str | None], broker: BrokerConfig) -> None:
    """Raises InvalidConfig for settings that the broker does not allow for a group."""
    for name, value in _parse_overrides("group", GROUP_SETTINGS, overrides).items():
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


def _parse_overrides(kind: str, rows: Mapping[str, Setting], overrides: Mapping[str, str | None]) -> dict[str, Value]:
    """Returns the parsed values. Raises InvalidConfig for names without a row, for null, and for invalid values."""
    if unknown := [name for name in overrides if name not in rows]:
        raise InvalidConfig(f"Unknown {kind} config name: {unknown[0]}")
    if empty := [name for name, text in overrides.items() if text is None]:
        raise InvalidConfig(f"Null value not supported for {kind} configs: {', '.join(empty)}")
    return {name: parse(rows[name], text) for name, text in overrides.items() if text is not None}


CLUSTER_LEVEL_OF_LISTENERS = {"max.connections", "max.connection.creation.rate", "num.network.threads"}
"""Settings that may be set cluster-wide for a listener; all others of a listener are per broker."""
FIXED = ("listeners", "listener.security.protocol.map")
"""Settings that Kafka can change at run time but this broker cannot, because it opens its sockets only at startup."""
ALL_LOG_DIRS = "*"
CLEANER_THREADS = "log.cleaner.threads"
THREADS = ("background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers")


def validate_broker_configs(overrides: Mapping[str, str], current: BrokerConfig, *, cluster_wide: bool) -> None:
    """Raises InvalidConfig for settings that may not be changed to these values, for one broker or cluster-wide.

    Unknown settings are accepted, as in Kafka.
    """
    modes = {name: row.dynamic for name in overrides if (row := current.rows.broker.get(name))}
    _refuse("Cannot update these configs dynamically", [name for name, mode in modes.items() if mode is None])
    _refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        [name for name, mode in modes.items() if mode == PER_LISTENER],
    )
    values = {}
    for name, text in overrides.items():
        if row := current.rows.broker.get(base_name(name)):
            values[name] = parse(row, text)
            if row.type is ConfigType.CLASS and text != text_of(current.values[row.name]):
                raise InvalidConfig(f"Invalid value {text} for configuration {row.name}: Class {text} could not be found.")
    if cluster_wide:
        single = [name for name in overrides if modes.get(name) == PER_BROKER or _is_per_broker_listener_setting(name)]
        _refuse("Cannot update these configs at default cluster level, broker id must be specified", single)
    for name in FIXED:
        if name in values and values[name] != current.values[name]:
            raise InvalidConfig(f"{name} cannot be changed while the broker runs; restart it with {name}={overrides[name]}")
    if isinstance(cordoned := values.get("cordoned.log.dirs"), tuple):
        known = (*(current.lists.get("log.dirs") or current.lists["log.dir"]), ALL_LOG_DIRS)
        _refuse("cordoned.log.dirs may only contain directories of log.dirs, and not", [name for name in cordoned if name not in known])
    for name in THREADS:
        if isinstance(value := values.get(name), int):
            _check_threads(name, value, current.integers[name])
    if isinstance(value := values.get(CLEANER_THREADS), int):
        _check_cleaner_threads(value, current.integers[CLEANER_THREADS])


def _refuse(problem: str, names: Collection[str]) -> None:
    if names:
        raise InvalidConfig(f"{problem}: [{', '.join(names)}]")


def _is_per_broker_listener_setting(name: str) -> bool:
    match = LISTENER_PREFIX.fullmatch(name)
    return match is not None and match[1] not in CLUSTER_LEVEL_OF_LISTENERS


def _check_threads(name: str, count: int, current: int) -> None:
    """Raises InvalidConfig for less than half or more than twice the current number of threads, which Kafka rejects."""
    problem = f"Dynamic thread count update validation failed for {name}={count}"
    if count < current // 2:
        raise InvalidConfig(f"{problem}, value should be at least half the current value {current}")
    if count > current * 2:
        raise InvalidConfig(f"{problem}, value should not be greater than double the current value {current}")


def _check_cleaner_threads(count: int, current: int) -> None:
    """Raises InvalidConfig for no thread, and for less than half or more than double the current number (Kafka's LogCleaner)."""
    if count < 1:
        raise InvalidConfig("Log cleaner threads should be at least 1")
    if count < current // 2:
        raise InvalidConfig(f"Log cleaner threads cannot be reduced to less than half the current value {current}")
    if count > current * 2:
        raise InvalidConfig(f"Log cleaner threads cannot be increased to more than double the current value {current}")
