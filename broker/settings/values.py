"""The settings of brokers, topics, groups and client metrics: from text to values and back, with their sources.

A value comes from the first of these layers that sets it (KIP-226), as DescribeConfigs shows it:

    topic or group                     TopicConfig, GroupConfig: set by CreateTopics or AlterConfigs
    dynamic, this broker               BrokerConfig.own: set by AlterConfigs for one broker
    dynamic, all brokers               BrokerConfig.cluster_wide: set by AlterConfigs for the broker resource without a name
    static                             BrokerConfig.static: from --set, the environment or server.properties
    default                            the row of the setting (`rows.py`)

A topic or group setting without a value falls back to its `synonyms` among the broker settings. Kafka's ConfigHelper describes settings in
the same way. For one listener of a broker, `listener.name.<listener>.<setting>` takes precedence over `<setting>`, with the listener's name
in lower case (Kafka's AbstractConfig.valuesWithPrefixOverride); the name of some settings may also contain a SASL mechanism.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from copy import copy
from enum import IntEnum
from itertools import dropwhile
from typing import Any, NamedTuple, TypeVar

from .properties import InvalidConfig
from .rows import CLIENT_METRICS_SETTINGS, GROUP_SETTINGS, PRESENT
from .types import ConfigResourceType, ConfigType, Setting, SettingRows, Value

BOUNDS = {ConfigType.SHORT: 2**15, ConfigType.INT: 2**31, ConfigType.LONG: 2**63}
INTEGER = re.compile(r"[+-]?[0-9]+")
DOUBLE = re.compile(r"([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?))[fFdD]?")
COMMA = re.compile(r"\s*,\s*")


def parse(setting: Setting, text: str) -> Value:
    """Returns the value of `text`. Raises InvalidConfig if it does not have the setting's type or is not allowed."""
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
    """Returns the text that Kafka shows for a parsed value; None for null."""
    if value is None:
        return None
    return ",".join(value) if isinstance(value, tuple) else _element_text(value)


def _element_text(value: Value) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return _double_text(value) if isinstance(value, float) else str(value)


def _double_text(value: float) -> str:
    """Formats like Java's Double.toString, which uses an exponent for magnitudes below 0.001 and from ten million on."""
    if value != value or value in (float("inf"), float("-inf")):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    shortest = next(text for digits in range(1, 18) if float(text := f"{value:.{digits}e}") == value)
    mantissa, exponent = shortest.split("e")
    return f"{mantissa}E{int(exponent)}"


LISTENER_PREFIX = re.compile(r"listener\.name\.[^.]*\.(.*)")
PER_MECHANISM = (
    "connections.max.reauth.ms",
    "sasl.jaas.config",
    "sasl.login.callback.handler.class",
    "sasl.login.class",
    "sasl.server.callback.handler.class",
)
"""Settings whose names may include a SASL mechanism."""


def base_name(name: str) -> str:
    """Returns the name of a setting without the listener and the SASL mechanism that it applies to, if any."""
    match = LISTENER_PREFIX.fullmatch(name)
    if match is None:
        return name
    return next((setting for setting in PER_MECHANISM if match[1].endswith(setting)), match[1])


T = TypeVar("T")
MIN_DEDUPE_BYTES = 1 << 20
BATCHES = 2
"""The format of record batches (KIP-98)."""


class ConfigSource(IntEnum):
    """Layer that a value comes from; the numbers are those of DescribeConfigs."""

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
    """A name and layer in which a value is set. The first synonym in a list applies, the others only if those before it are unset."""

    name: str
    value: str | None
    source: ConfigSource


class ConfigEntry(NamedTuple):
    """One setting of a resource, as DescribeConfigs returns it."""

    name: str
    value: str | None
    read_only: bool
    source: ConfigSource
    is_sensitive: bool
    type: ConfigType
    documentation: str | None
    synonyms: list[Synonym]


class Config:
    """Parsed values, by type and by name, so that `config.integers["num.partitions"]` is one dictionary look-up.

    Null values are in none of the dictionaries. The dictionaries are replaced when the config changes; do not keep references to them.
    """

    booleans: dict[str, bool]
    integers: dict[str, int]
    doubles: dict[str, float]
    texts: dict[str, str]
    lists: dict[str, tuple[str, ...]]

    derived: dict[type, Any]
    """Objects that other modules have computed from the values, by class. Emptied when the config changes."""

    def _load(self, values: dict[str, Value]) -> None:
        self.values, self.derived = values, {}
        self.booleans, self.integers, self.doubles, self.texts, self.lists = {}, {}, {}, {}, {}
        tables: dict[type, dict[str, Any]] = {
            bool: self.booleans,
            int: self.integers,
            float: self.doubles,
            str: self.texts,
            tuple: self.lists,
        }
        for name, value in values.items():
            if value is not None:
                tables[type(value)][name] = value

    def _share(self, other: Config) -> None:
        """Takes over the values of another config, whose dictionaries serve both."""
        self.values, self.derived = other.values, {}
        self.booleans, self.integers, self.doubles = other.booleans, other.integers, other.doubles
        self.texts, self.lists = other.texts, other.lists


class BrokerConfig(Config):
    """The settings of one of `nodes` nodes. Unknown names in `static` are kept, because DescribeConfigs shows them.

    Raises InvalidConfig for an invalid value in `static`.
    """

    def __init__(self, static: Mapping[str, str], *, nodes: int = 1, rows: SettingRows = PRESENT) -> None:
        self.static = dict(static)
        self.rows = rows
        self.nodes = nodes
        self.defaults = {name: self._cap(row, row.default) for name, row in rows.broker.items()}
        self.alter(own={}, cluster_wide={})
        if "classic" not in self.lists["group.coordinator.rebalance.protocols"]:
            raise InvalidConfig(
                "group.coordinator.rebalance.protocols must contain classic: Disabling the 'classic' protocol is not supported."
            )

    def alter(self, *, own: Mapping[str, str], cluster_wide: Mapping[str, str]) -> None:
        """Replaces the dynamic settings. Callers must then call `reload` of the topics and groups that inherit from this node.

        Raises InvalidConfig for an invalid value, and changes nothing.
        """
        values = dict(self.defaults)
        for name, text in (self.static | dict(cluster_wide) | dict(own)).items():
            if row := self.rows.broker.get(name):
                values[name] = self._cap(row, parse(row, text))
        _check_cleaner(values)
        self.own, self.cluster_wide = dict(own), dict(cluster_wide)
        self._load(values)

    def with_dynamic(self, *, own: Mapping[str, str], cluster_wide: Mapping[str, str]) -> BrokerConfig:
        """Returns a copy with other dynamic settings. Raises InvalidConfig for an invalid value."""
        changed = copy(self)
        changed.alter(own=own, cluster_wide=cluster_wide)
        return changed

    def listener_integer(self, listener_name: str, name: str) -> int:
        """Returns a setting for one listener: listener.name.<listener>.<setting> takes precedence over <setting>."""
        prefixed = f"listener.name.{listener_name.lower()}.{name}"
        text = next((layer[prefixed] for layer in (self.own, self.cluster_wide, self.static) if prefixed in layer), None)
        return self.integers[name] if text is None else int(text)

    def ignored_settings(self) -> list[str]:
        """Returns the names of the static settings that have no effect, sorted."""
        return sorted(name for name in self.static if not (row := broker_row(name, self.rows)) or not row.acts)

    def describe(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """Returns the entries of this broker: those with the given names, or all if there are no names."""
        shown = {name for name, row in self.rows.broker.items() if not row.internal and name not in self.rows.later}
        known = sorted(shown.union(self.static, self.own, self.cluster_wide))
        return [self._entry(name) for name in known if not names or name in names]

    def describe_cluster_wide(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """Returns the entries of the broker resource without a name, which holds the dynamic settings of all brokers."""
        found = [self._entry(name) for name in sorted(self.cluster_wide) if not names or name in names]
        source = ConfigSource.DYNAMIC_DEFAULT_BROKER
        kept = [(entry, [synonym for synonym in entry.synonyms if synonym.source is source]) for entry in found]
        return [entry._replace(value=synonyms[0].value, source=source, synonyms=synonyms) for entry, synonyms in kept]

    def synonyms(self, name: str) -> list[Synonym]:
        """Returns all layers that set `name` or a synonym, in order of precedence.

        Synonyms before the first entry with that very name are left out, as Kafka does, so the list may be empty.
        """
        chain, sensitive = _chain(name, self.rows), is_secret(broker_row(name, self.rows))
        layers: list[tuple[ConfigSource, Mapping[str, str]]] = [
            (ConfigSource.DYNAMIC_BROKER, self.own),
            (ConfigSource.DYNAMIC_DEFAULT_BROKER, self.cluster_wide),
            (ConfigSource.STATIC_BROKER, self.static),
            (ConfigSource.DEFAULT, {key: text for key in chain if (text := self._default_text(key)) is not None}),
        ]
        found = (Synonym(key, None if sensitive else layer[key], source) for source, layer in layers for key in chain if key in layer)
        return list(dropwhile(lambda synonym: synonym.name != name, found))

    def _default_text(self, name: str) -> str | None:
        """Returns the default that is shown; None for internal dynamic settings, which Kafka's ConfigDef does not define."""
        row = self.rows.broker.get(name)
        return None if row is None or (row.internal and row.dynamic) else text_of(self.defaults[name])

    def _entry(self, name: str) -> ConfigEntry:
        row, synonyms = broker_row(name, self.rows), self.synonyms(name)
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        if row is None:
            return ConfigEntry(name, None, True, source, True, ConfigType.UNKNOWN, None, synonyms)
        sensitive = is_secret(row)
        listener_override = name != row.name
        value = synonyms[0].value if listener_override else text_of(self.values[name])
        read_only = row.dynamic is None or listener_override
        return ConfigEntry(name, None if sensitive else value, read_only, source, sensitive, row.type, row.documentation or None, synonyms)

    def _cap(self, row: Setting, value: Value) -> Value:
        return min(value, self.nodes) if row.at_most_nodes and isinstance(value, int) else value


def _check_cleaner(values: Mapping[str, Value]) -> None:
    """Raises InvalidConfig if the cleaner threads share too small a buffer (KafkaConfig.validateValues)."""
    size, threads = values["log.cleaner.dedupe.buffer.size"], values["log.cleaner.threads"]
    if isinstance(size, int) and isinstance(threads, int) and threads and size // threads <= MIN_DEDUPE_BYTES:
        raise InvalidConfig("log.cleaner.dedupe.buffer.size must be at least 1MB per cleaner thread.")


def _chain(name: str, rows: SettingRows) -> tuple[str, ...]:
    row = rows.broker.get(name)
    if row is not None:
        return (name, *row.synonyms)
    base = base_name(name)
    return (name,) if base == name else (name, base)


def broker_row(name: str, rows: SettingRows = PRESENT) -> Setting | None:
    """Returns the row of a setting, whose name may have the prefix of a listener."""
    return rows.broker.get(name) or rows.broker.get(base_name(name))


def is_secret(row: Setting | None) -> bool:
    """Returns whether the value must not be shown. Kafka treats settings without a definition as secrets."""
    return row is None or row.type in (ConfigType.PASSWORD, ConfigType.UNKNOWN)


class InheritedValues(Config):
    """The values of all topics or groups without overrides, which share them."""

    def __init__(self, values: dict[str, Value]) -> None:
        self._load(values)


class InheritingConfig(Config):
    """The settings of a topic or a group: its overrides, and for all others the values of its broker. Raises InvalidConfig."""

    source: ConfigSource

    def __init__(self, settings: Mapping[str, Setting], broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        self.settings = settings
        self.broker = broker
        self.alter(overrides)

    def alter(self, overrides: Mapping[str, str]) -> None:
        """Replaces the overrides. Raises InvalidConfig for an invalid value, and changes nothing."""
        self._parsed = {name: parse(self.settings[name], text) for name, text in overrides.items()}
        self.overrides = dict(overrides)
        self.reload()

    def reload(self) -> None:
        """Reads the broker's values again, after they have changed."""
        inherited = self.broker.derived.get(type(self)) or self._inherit()
        if self._parsed:
            self._load(inherited.values | self._parsed)
        else:
            self._share(inherited)

    def _inherit(self) -> InheritedValues:
        """Returns the values of a resource without overrides, which are kept until the broker's values change."""
        inherited = InheritedValues({name: _inherited_value(row, self.broker) for name, row in self.settings.items()})
        self.broker.derived[type(self)] = inherited
        return inherited

    def describe(self, names: Collection[str] | None = None) -> list[ConfigEntry]:
        """Returns the entries of this resource: those with the given names, or all if there are no names."""
        hidden = self.broker.rows.later
        shown = (row for name, row in sorted(self.settings.items()) if not (row.internal or name in hidden) or name in self.overrides)
        return [self._entry(row) for row in shown if not names or row.name in names]

    def _entry(self, row: Setting) -> ConfigEntry:
        override = self.overrides.get(row.name)
        synonyms = [] if override is None else [Synonym(row.name, override, self.source)]
        if row.synonyms:
            synonyms += self.broker.synonyms(row.synonyms[0])
        elif row.scope is ConfigResourceType.GROUP:
            synonyms.append(Synonym(row.name, text_of(row.default), ConfigSource.DEFAULT))
        source = synonyms[0].source if synonyms else ConfigSource.DEFAULT
        value = text_of(self.values[row.name])
        return ConfigEntry(row.name, value, False, source, False, row.type, row.documentation or None, synonyms)


def _inherited_value(row: Setting, broker: BrokerConfig) -> Value:
    for name in row.synonyms:
        if (value := broker.values[name]) is not None:
            factor = broker.rows.broker[name].factor
            # A negative age means no limit, whatever the unit.
            return value * factor if isinstance(value, int) and factor != 1 and value > 0 else value
    return row.default


class TopicConfig(InheritingConfig):
    """The settings of one topic."""

    source = ConfigSource.TOPIC

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        super().__init__(broker.rows.topic, broker, overrides)

    @property
    def message_format(self) -> int:
        """The magic of the topic's messages: 0 before 0.10, 1 before 0.11, and BATCHES since then (`message.format.version`)."""
        if not self.broker.rows.message_formats:
            return BATCHES
        major, minor = self.texts["message.format.version"].split(".")[:2]
        if int(major):
            return BATCHES
        return 0 if int(minor) < 10 else 1 if int(minor) == 10 else BATCHES


class GroupConfig(InheritingConfig):
    """The settings of one consumer or share group."""

    source = ConfigSource.GROUP

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        super().__init__(GROUP_SETTINGS, broker, overrides)


class ClientMetricsConfig(InheritingConfig):
    """The settings of one subscription to client metrics (KIP-714)."""

    source = ConfigSource.CLIENT_METRICS

    def __init__(self, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        super().__init__(CLIENT_METRICS_SETTINGS, broker, overrides)


class ListenerSettings:
    """Reads the present values of a broker's settings for one of its listeners."""

    def __init__(self, config: BrokerConfig, listener_name: str) -> None:
        self.config = config
        self.listener_name = listener_name
        self._prefix = f"listener.name.{listener_name.lower()}."

    def value(self, name: str) -> Value:
        """Returns the value for the listener or, without one, that of all listeners. Raises InvalidConfig for an invalid value."""
        text = self.override(name)
        return self.config.values[name] if text is None else parse(self.config.rows.broker[name], text)

    def text(self, name: str) -> str:
        """Returns the value of a setting of type string, "" for null."""
        value = self.value(name)
        return "" if value is None else str(value)

    def integer(self, name: str) -> int:
        """Returns the value of a setting of an integral type."""
        return _of_kind(int, self.value(name))

    def words(self, name: str) -> tuple[str, ...]:
        """Returns the value of a setting of type list."""
        return tuple(filter(None, _of_kind(tuple, self.value(name))))

    def override(self, name: str) -> str | None:
        """Returns the text that is set for this listener only, None if there is none."""
        name = self._prefix + name
        layers = (self.config.own, self.config.cluster_wide, self.config.static)
        return next((layer[name] for layer in layers if name in layer), None)

    def value_of_mechanism(self, mechanism: str, name: str) -> Value:
        """Returns the value for a SASL mechanism of the listener, without one that of the listener. Raises InvalidConfig."""
        text = self.of_mechanism(mechanism, name)
        return self.value(name) if text is None else parse(self.config.rows.broker[name], text)

    def of_mechanism(self, mechanism: str, name: str) -> str | None:
        """Returns the text that is set for a SASL mechanism of this listener, None if there is none."""
        return self.override(f"{mechanism.lower()}.{name}")


def _of_kind(kind: type[T], value: object) -> T:
    """Returns a value of this type. Raises TypeError for any other, which the row of a setting excludes."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not of type {kind.__name__}")
    return value
