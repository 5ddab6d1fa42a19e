"""Which settings of brokers AlterConfigs may change while they run (Kafka's DynamicBrokerConfig)."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from .rows import BROKER_SETTINGS, PER_BROKER, PER_LISTENER, ConfigType
from .values import LISTENER_PREFIX, BrokerConfig, InvalidConfig, base_name, parse, text_of

CLUSTER_LEVEL_OF_LISTENERS = {"max.connections", "max.connection.creation.rate", "num.network.threads"}
"""Settings that may be set for a listener on all brokers at once."""
FIXED = ("listeners", "listener.security.protocol.map")
"""Settings that Kafka can change and this broker cannot, because its sockets stay as they are."""
THREADS = ("background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir", "num.replica.fetchers")


def validate_broker_configs(overrides: Mapping[str, str], present: BrokerConfig, *, cluster_wide: bool) -> None:
    """Raises InvalidConfig for what may not be set for one broker, or for all; settings that nobody knows are allowed."""
    modes = {name: row.dynamic for name in overrides if (row := BROKER_SETTINGS.get(name))}
    _refuse("Cannot update these configs dynamically", [name for name, mode in modes.items() if mode is None])
    _refuse(
        "These security configs can be dynamically updated only per-listener using the listener prefix",
        [name for name, mode in modes.items() if mode == PER_LISTENER],
    )
    values = {}
    for name, text in overrides.items():
        if row := BROKER_SETTINGS.get(base_name(name)):
            values[name] = parse(row, text)
            if row.type is ConfigType.CLASS and text != text_of(present.values[row.name]):
                raise InvalidConfig(f"Invalid value {text} for configuration {row.name}: Class {text} could not be found.")
    if cluster_wide:
        single = [name for name in overrides if modes.get(name) == PER_BROKER or _is_of_one_brokers_listener(name)]
        _refuse("Cannot update these configs at default cluster level, broker id must be specified", single)
    for name in FIXED:
        if name in values and values[name] != present.values[name]:
            raise InvalidConfig(f"{name} cannot be changed while the broker runs; restart it with {name}={overrides[name]}")
    for name in THREADS:
        if isinstance(value := values.get(name), int):
            _check_threads(name, value, present.integers[name])


def _refuse(problem: str, names: Collection[str]) -> None:
    if names:
        raise InvalidConfig(f"{problem}: [{', '.join(names)}]")


def _is_of_one_brokers_listener(name: str) -> bool:
    match = LISTENER_PREFIX.fullmatch(name)
    return match is not None and match[1] not in CLUSTER_LEVEL_OF_LISTENERS


def _check_threads(name: str, wanted: int, present: int) -> None:
    """A pool of threads grows and shrinks to twice and half its size at most."""
    problem = f"Dynamic thread count update validation failed for {name}={wanted}"
    if wanted < present // 2:
        raise InvalidConfig(f"{problem}, value should be at least half the current value {present}")
    if wanted > present * 2:
        raise InvalidConfig(f"{problem}, value should not be greater than double the current value {present}")
