"""The kinds of settings and of values: types, scopes, allowed values, and the row of one setting.

Modelled on Kafka's ConfigDef. The rows themselves are in `rows.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import IntEnum
from typing import NamedTuple


class ConfigType(IntEnum):
    """Type of a setting's value; the numbers are those of DescribeConfigs (KIP-569)."""

    UNKNOWN = 0
    BOOLEAN = 1
    STRING = 2
    INT = 3
    SHORT = 4
    LONG = 5
    DOUBLE = 6
    LIST = 7
    CLASS = 8
    PASSWORD = 9


class ConfigResourceType(IntEnum):
    """Kind of resource that has settings (Kafka's ConfigResource.Type). `rows.SETTINGS` has rows for all but BROKER_LOGGER."""

    TOPIC = 2
    BROKER = 4
    BROKER_LOGGER = 8
    CLIENT_METRICS = 16
    GROUP = 32


class OpType(IntEnum):
    """Operation on one setting (Kafka's AlterConfigOp.OpType)."""

    SET = 0
    DELETE = 1
    APPEND = 2
    SUBTRACT = 3


Value = bool | int | float | str | tuple[str, ...] | None


class Range(NamedTuple):
    """Allows numbers from `low` to `high`, both included, and `or_else`."""

    low: float
    high: float | None = None
    or_else: int | None = None

    def complaint(self, value: Value) -> str | None:
        """Returns Kafka's error message for `value`, or None if the value is allowed."""
        if not isinstance(value, int | float):
            raise TypeError(f"{value!r} is not a number")
        too_high = self.high is not None and value > self.high
        if value == self.or_else or not (value < self.low or too_high):
            return None
        if self.or_else is not None:
            return f"Value must be between {self.low} and {self.high} or equal to {self.or_else}"
        return f"Value must be no more than {self.high}" if too_high else f"Value must be at least {self.low}"

    def __str__(self) -> str:
        upper = f"≥ {self.low}" if self.high is None else f"{self.low} … {self.high}"
        return upper if self.or_else is None else f"{upper} or {self.or_else}"


class OneOf:
    """Allows a fixed set of words."""

    def __init__(self, *words: str, ignore_case: bool = False) -> None:
        self.words, self.ignore_case = words, ignore_case

    def complaint(self, value: Value) -> str | None:
        """Returns Kafka's error message for `value`, or None if the value is allowed."""
        if (str(value).upper() if self.ignore_case else value) in self.words:
            return None
        case = " (case insensitive)" if self.ignore_case else ""
        return f"String must be one of{case}: {', '.join(self.words)}"

    def __str__(self) -> str:
        return ", ".join(self.words)


class Matches(NamedTuple):
    """Allows text that matches `pattern`; `form` describes it to a reader."""

    pattern: re.Pattern[str]
    form: str

    def complaint(self, value: Value) -> str | None:
        """Returns an error message for `value`, or None if the value is allowed."""
        return None if self.pattern.fullmatch(str(value)) else f"Value must be {self.form}"

    def __str__(self) -> str:
        return self.form


PER_BROKER, CLUSTER_WIDE, PER_LISTENER = "per-broker", "cluster-wide", "per-listener"
"""Values of `Setting.dynamic` (Kafka's "update mode")."""


class Setting(NamedTuple):
    """The row of one setting.

    `default` is already parsed; None is Kafka's null. `valid` applies to each element of a list. `acts` is False for settings that are
    checked and shown, but have no effect in this broker. `synonyms` are the broker settings that the value falls back to, in order;
    `factor` converts the unit of a synonym to that of the setting, such as hours to milliseconds. `dynamic` is the level at which
    AlterConfigs may change a broker setting, or None if it is read-only. A number with `at_most_nodes` is capped at the number of nodes.
    `internal` settings are shown only on resources where they are set.
    """

    scope: ConfigResourceType
    name: str
    type: ConfigType
    default: Value
    valid: Range | OneOf | Matches | None = None
    documentation: str = ""
    acts: bool = False
    synonyms: tuple[str, ...] = ()
    factor: int = 1
    dynamic: str | None = None
    at_most_nodes: bool = False
    internal: bool = False


class SettingRows(NamedTuple):
    """The settings of the emulated release by name.

    `later` names those among them that the release does not have yet: clients do not see them, but the broker reads their values.
    `message_formats` states whether `message.format.version` decides how messages are stored.
    """

    broker: Mapping[str, Setting]
    topic: Mapping[str, Setting]
    later: frozenset[str] = frozenset()
    message_formats: bool = False


# The words of the tables of settings.
BOOLEAN, STRING, INT, SHORT = ConfigType.BOOLEAN, ConfigType.STRING, ConfigType.INT, ConfigType.SHORT
LONG, DOUBLE, LIST, CLASS, PASSWORD = ConfigType.LONG, ConfigType.DOUBLE, ConfigType.LIST, ConfigType.CLASS, ConfigType.PASSWORD
UNKNOWN = ConfigType.UNKNOWN  # read by a plugin: Kafka's ConfigDef does not define it, so DescribeConfigs hides its value
TOPIC, BROKER, GROUP = ConfigResourceType.TOPIC, ConfigResourceType.BROKER, ConfigResourceType.GROUP
CLIENT_METRICS = ConfigResourceType.CLIENT_METRICS
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
JMX_REPORTER = "org.apache.kafka.common.metrics.JmxReporter"
INT_MAX, LONG_MAX, DOUBLE_MAX = 2**31 - 1, 2**63 - 1, 1.7976931348623157e308
MINUTE_MS, HOUR_MS = 60_000, 3_600_000
REPLICAS = Matches(re.compile(r"\*|\d+:\d+"), "* or partition:broker")
SUBJECT_STRATEGY = "io.confluent.kafka.serializers.subject.TopicNameStrategy"
SUBJECT_STRATEGIES = OneOf(*(SUBJECT_STRATEGY.replace("TopicName", kind) for kind in ("TopicName", "RecordName", "TopicRecordName")))
OFFSET_RESET = Matches(
    re.compile(r"earliest|latest|by_duration:P(?=[\dT])(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+(\.\d+)?S)?)?"),
    "earliest, latest or by_duration:PnDTnHnMn.nS",
)
