"""Values of settings: parsed from text, looked up, described and checked. Pure; the rows are in settings.py.

Kafka's AbstractConfig and ConfigDef parse, ConfigHelper describes, LogConfig and GroupConfig check.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from enum import IntEnum
from itertools import dropwhile
from typing import Any, NamedTuple

from .properties import InvalidConfig
from .rows import BROKER_SETTINGS, GROUP_SETTINGS, TOPIC_SETTINGS, ConfigType, Scope, Setting, Value

__all__ = [
    "BrokerConfig",
    "ConfigEntry",
    "ConfigSource",
    "ConfigType",
    "GroupConfig",
    "InvalidConfig",
    "Synonym",
    "TopicConfig",
    "validate_group_configs",
    "validate_topic_configs",
]

BOUNDS = {ConfigType.SHORT: 2**15, ConfigType.INT: 2**31, ConfigType.LONG: 2**63}
INTEGER = re.compile(r"[+-]?[0-9]+")
DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[fFdD]?")
COMMA = re.compile(r"\s*,\s*")


class ConfigSource(IntEnum):
    """Where a value comes from; the numbers are those of DescribeConfigs."""

    UNKNOWN = 0
    TOPIC = 1
    DYNAMIC_BROKER = 2
    DYNAMIC_DEFAULT_BROKER = 3
    STATIC_BROKER = 4
    DEFAULT = 5
    DYNAMIC_BROKER_LOGGER = 6
    CLIENT_METRICS = 7
    GROUP = 8


class Synonym(NamedTuple):
    """One place where a value was looked for and found."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One setting of a resource, as DescribeConfigs answers it."""

    name: str
    value: str | None
    read_only: bool
    source: ConfigSource
    is_sensitive: bool
    type: ConfigType
    documentation: str | None
    synonyms: list[Synonym]


def parse(setting: Setting, text: str) -> Value:
    """The value that `text` means for `setting`; InvalidConfig if it means none, or one that is not allowed."""
    value = _parse(setting, text.strip())
    for part in value if isinstance(value, tuple) else (value,):
        if setting.valid is not None and (complaint := setting.valid.complaint(part)) is not None:
            raise InvalidConfig(f"Invalid value {_element_text(part)} for configuration {setting.name}: {complaint}")
    return value


def _parse(setting: Setting, text: str) -> Value:
    match setting.type:
        case ConfigType.BOOLEAN:
            if text.lower() not in ("true", "false"):
                raise InvalidConfig(f"Invalid value {text} for configuration {setting.name}: Expected value to be either true or false")
            return text.lower() == "true"
        case ConfigType.INT | ConfigType.SHORT | ConfigType.LONG:
            bound = BOUNDS[setting.type]
            # The length is checked first because Python refuses to convert thousands of digits.
            if INTEGER.fullmatch(text) and len(text) <= 40 and -bound <= int(text) < bound:
                return int(text)
        case ConfigType.DOUBLE:
            if number := DOUBLE.fullmatch(text):
                return float(number[1])
        case ConfigType.LIST:
            return tuple(COMMA.split(text)) if text else ()
        case _:
            return text
    raise InvalidConfig(f"Invalid value {text} for configuration {setting.name}: Not a number of type {setting.type.name}")


def text_of(value: Value) -> str | None:
    """How Kafka writes a parsed value; None stays null."""
    if value is None:
        return None
    return ",".join(value) if isinstance(value, tuple) else _element_text(value)


def _element_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _double_text(value) if isinstance(value, float) else str(value)


def _double_text(value: float) -> str:
    """As Java's Double.toString: an exponent below 0.001 and from ten million on."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for digits in range(1, 18) if float(text := f"{value:.{digits}e}") == value)
    mantissa, exponent = shortest.split("e")
    return f"{mantissa}E{int(exponent)}"


class Config:
    """Parsed values, by type and by name: `config.integers["num.partitions"]` is one dictionary look-up.

    A value that is null is in none of the dictionaries. They are replaced when the config changes, so nobody keeps them.
    """

    booleans: dict[str, bool]
    integers: dict[str, int]
    doubles: dict[str, float]
    texts: dict[str, str]
    lists: dict[str, tuple[str, ...]]

    derived: dict[type, Any]
    """What others have made of the values, by its class."""

    def _load(self, values: dict[str, Value]) -> None:
        self.values, self.derived = values, {}
        self.booleans = {name: value for name, value in values.items() if isinstance(value, bool)}
        self.integers = {name: value for name, value in values.items() if isinstance(value, int) and not isinstance(value, bool)}
        self.doubles = {name: value for name, value in values.items() if isinstance(value, float)}
        self.texts = {name: value for name, value in values.items() if isinstance(value, str)}
        self.lists = {name: value for name, value in values.items() if isinstance(value, tuple)}


class BrokerConfig(Config):
    """The settings of one node. `static` is what it was started with; names that nobody knows are kept.

    `own` and `cluster_wide` are what AlterConfigs set since, for this node and for all. Raises InvalidConfig.
    """

    def __init__(self, static: Mapping[str, str], *, nodes: int = 1) -> None:
        self.static = dict(static)
        self.nodes = nodes
        self.defaults = {name: self._capped(row, row.default) for name, row in BROKER_SETTINGS.items()}
        self.alter(own={}, cluster_wide={})
        if "classic" not in self.lists["group.coordinator.rebalance.protocols"]:
            raise InvalidConfig(
                "group.coordinator.rebalance.protocols must contain classic: Disabling the 'classic' protocol is not supported."
            )

    def alter(self, *, own: Mapping[str, str], cluster_wide: Mapping[str, str]) -> None:
        """Replaces what was set dynamically; topics that inherit from this node are to be told by `TopicConfig.reload`."""
        values = dict(self.defaults)
        for name, text in (self.static | dict(cluster_wide) | dict(own)).items():
            if row := BROKER_SETTINGS.get(name):
                values[name] = self._capped(row, parse(row, text))
        self.own, self.cluster_wide = dict(own), dict(cluster_wide)
        self._load(values)

    def ignored(self) -> list[str]:
        """The static settings that change nothing here, in order."""
        return sorted(name for name in self.static if not (row := _broker_row(name)) or not row.acts)

    def describe(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """The entries of this broker, all of them if no names are given."""
        shown = {name for name, row in BROKER_SETTINGS.items() if not row.internal}
        known = sorted(shown.union(self.static, self.own, self.cluster_wide))
        return [self._entry(name) for name in known if not names or name in names]

    def describe_cluster_wide(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """The entries of the broker resource without a name: what is set for all brokers."""
        found = [self._entry(name) for name in sorted(self.cluster_wide) if not names or name in names]
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER
        kept = [(entry, [synonym for synonym in entry.synonyms if synonym.source is source]) for entry in found]
        return [entry._replace(value=synonyms[0].value, source=source, synonyms=synonyms) for entry, synonyms in kept]

    def synonyms(self, name: str) -> list[Synonym]:
        """Where the value of `name` was found, the one that counts first; empty if only under other names."""
        row = _broker_row(name)
        sensitive = _is_secret(row)
        layers: list[tuple[ConfigSource, Mapping[str, str]]] = [
            (ConfigSource.DYNAMIC_BROKER, self.own),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.cluster_wide),
            (ConfigSource.STATIC_BROKER, self.static),
            (ConfigSource.DEFAULT, {key: text for key in _chain(name) if (text := self._default_text(key)) is not None}),
        ]
        found = (
            Synonym(key, None if sensitive else layer[key], source) for source, layer in layers for key in _chain(name) if key in layer
        )
        return list(dropwhile(lambda synonym: synonym.name != name, found))

    def _default_text(self, name: str) -> str | None:
        """What is told to be the default; Kafka's brokers know none of what can be set dynamically only."""
        row = BROKER_SETTINGS.get(name)
        return None if row is None or (row.internal and row.dynamic) else text_of(self.defaults[name])

    def _entry(self, name: str) -> ConfigEntry:
        row, synonyms = _broker_row(name), self.synonyms(name)
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        if row is None:
            return ConfigEntry(name, None, True, source, True, ConfigType.UNKNOWN, None, synonyms)
        sensitive = _is_secret(row)
        listener_override = name != row.name
        value = synonyms[0].value if listener_override else text_of(self.values[name])
        read_only = row.dynamic is None or listener_override
        return ConfigEntry(name, None if sensitive else value, read_only, source, sensitive, row.type, row.documentation or None, synonyms)

    def _capped(self, row: Setting, value: Value) -> Value:
        return min(value, self.nodes) if row.at_most_nodes and isinstance(value, int) else value


def _chain(name: str) -> tuple[str, ...]:
    base = base_name(name)
    if base != name:
        return (name, base)
    row = BROKER_SETTINGS.get(name)
    return (name, *row.synonyms) if row else (name,)


LISTENER_PREFIX = re.compile(r"listener\.name\.[^.]*\.(.*)")
OF_MECHANISMS = (
    "connections.max.reauth.ms",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)
"""Settings that may be meant for one SASL mechanism of a listener: listener.name.<listener>.<mechanism>.<setting>."""


def base_name(name: str) -> str:
    """The name of a setting without the listener, and the SASL mechanism, that it may be meant for."""
    match = LISTENER_PREFIX.fullmatch(name)
    if match is None:
        return name
    return next((setting for setting in OF_MECHANISMS if match[1].endswith(setting)), match[1])


def _broker_row(name: str) -> Setting | None:
    """The row of a setting, which may be meant for one listener."""
    return BROKER_SETTINGS.get(base_name(name))


def _is_secret(row: Setting | None) -> bool:
    """Kafka takes what it does not know for one."""
    return row is None or row.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)


class InheritingConfig(Config):
    """The settings of a topic or a group: what was set for it, else what its broker says. Raises InvalidConfig."""

    settings: Mapping[str, Setting]
    source: ConfigSource

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self.broker = broker
        self.alter(overrides)

    def alter(self, overrides: Mapping[str, str]) -> None:
        """Replaces what was set."""
        self._parsed = {name: parse(self.settings[name], text) for name, text in overrides.items()}
        self.overrides = dict(overrides)
        self.reload()

    def reload(self) -> None:
        """Takes over what changed in the broker."""
        self._load({name: _inherited(row, self.broker) for name, row in self.settings.items()} | self._parsed)

    def describe(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """The entries of this resource, all of them if no names are given."""
        shown = (row for name, row in sorted(self.settings.items()) if not row.internal or name in self.overrides)
        return [self._entry(row) for row in shown if not names or row.name in names]

    def _entry(self, row: Setting) -> ConfigEntry:
        override = self.overrides.get(row.name)
        synonyms = [] if override is None else [Synonym(row.name, override, self.source)]
        if row.synonyms:
            synonyms += self.broker.synonyms(row.synonyms[0])
        elif row.scope is Scope.GROUP:
            synonyms.append(Synonym(row.name, text_of(row.default), ConfigSource.DEFAULT))
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        value = text_of(self.values[row.name])
        return ConfigEntry(row.name, value, False, source, False, row.type, row.documentation or None, synonyms)


def _inherited(row: Setting, broker: BrokerConfig) -> Value:
    for name in row.synonyms:
        if (value := broker.values[name]) is not None:
            factor = BROKER_SETTINGS[name].factor
            # A negative age means for ever, in hours as in milliseconds.
            return value * factor if isinstance(value, int) and factor != 1 and value > 0 else value
    return row.default


class TopicConfig(InheritingConfig):
    """The settings of one topic."""

    settings, source = TOPIC_SETTINGS, ConfigSource.TOPIC


class GroupConfig(InheritingConfig):
    """The settings of one consumer or share group."""

    settings, source = GROUP_SETTINGS, ConfigSource.GROUP


def validate_topic_configs(overrides: Mapping[str, str | None]) -> None:
    """Raises InvalidConfig for what CreateTopics and AlterConfigs do not allow. LogConfig.validate."""
    values = {name: row.default for name, row in TOPIC_SETTINGS.items()} | _checked("topic", TOPIC_SETTINGS, overrides)
    low, high = values["min.compaction.lag.ms"], values["max.compaction.lag.ms"]
    if isinstance(low, int) and isinstance(high, int) and low > high:
        raise InvalidConfig(f"conflict topic config setting min.compaction.lag.ms ({low}) > max.compaction.lag.ms ({high})")
    if values["remote.storage.enable"]:
        raise InvalidConfig("Tiered Storage functionality is disabled in the broker. Topic cannot be configured with remote log storage.")


def validate_group_configs(overrides: Mapping[str, str | None], broker: BrokerConfig) -> None:
    """Raises InvalidConfig for what the broker does not let a group choose. GroupConfig.validate."""
    for name, value in _checked("group", GROUP_SETTINGS, overrides).items():
        kind, rest = name.split(".", 1)
        low, high = f"group.{kind}.min.{rest}", f"group.{kind}.max.{rest}"
        if isinstance(value, int) and value < broker.integers.get(low, value):
            raise InvalidConfig(f"{name} must be greater than or equal to {low}")
        if isinstance(value, int) and value > broker.integers.get(high, value):
            raise InvalidConfig(f"{name} must be less than or equal to {high}")
    values = GroupConfig(broker, {name: text for name, text in overrides.items() if text is not None}).integers
    for kind in ("consumer", "share", "streams"):
        session, heartbeat = f"{kind}.session.timeout.ms", f"{kind}.heartbeat.interval.ms"
        if values[session] <= values[heartbeat]:
            raise InvalidConfig(f"{session} must be greater than {heartbeat}")


def _checked(kind: str, rows: Mapping[str, Setting], overrides: Mapping[str, str | None]) -> dict[str, Value]:
    if unknown := [name for name in overrides if name not in rows]:
        raise InvalidConfig(f"Unknown {kind} config name: {unknown[0]}")
    if empty := [name for name, text in overrides.items() if text is None]:
        raise InvalidConfig(f"Null value not supported for {kind} configs: {', '.join(empty)}")
    return {name: parse(rows[name], text) for name, text in overrides.items() if text is not None}
