"""The subscriptions to client metrics, and which of them apply to a client (KIP-714).

The rules are those of Kafka's ClientMetricsConfigs and ClientMetricsManager.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...protocol.errors import ErrorCode, KafkaError
from ..kafka_quirks.java_hash import hash_map_order
from ..settings.parsing import parse, text_of
from ..settings.properties import InvalidConfig
from ..settings.rows import CLIENT_METRICS_SETTINGS
from ..settings.values import BrokerConfig, ClientMetricsConfig

if TYPE_CHECKING:
    from ..kafka_quirks.re2 import Regex

Patterns: TypeAlias = "dict[str, Regex]"
"""The regular expressions that the attributes of a client must match, each as a whole."""
ALL_METRICS = "*"
DEFAULT_INTERVAL_MS = 300_000
MIN_INTERVAL_MS, MAX_INTERVAL_MS = 100, 3_600_000
ATTRIBUTES = (
    "client_instance_id",
    "client_id",
    "client_software_name",
    "client_software_version",
    "client_source_address",
    "client_source_port",
)
"""The properties of a client that a pattern may be about."""


class Subscription(NamedTuple):
    """The metrics that a client is to push, as prefixes of their names, and the interval at which it pushes them."""

    metrics: list[str]
    push_interval_ms: int


class MetricSubscriptions:
    """The subscriptions of a cluster by name. `version` changes with each of them, because clients are then matched again."""

    def __init__(self) -> None:
        self.configs: dict[str, ClientMetricsConfig] = {}
        self.version = 0
        self._patterns: dict[str, Patterns] = {}

    def alter(self, name: str, broker: BrokerConfig, overrides: Mapping[str, str]) -> None:
        """Replaces the configs of a subscription, which is removed if there are none. The configs must be valid.

        DescribeConfigs shows the elements of lists without blanks and once each.
        """
        if overrides:
            config = self.configs[name] = ClientMetricsConfig(broker, {key: _as_shown(key, text) for key, text in overrides.items()})
            self._patterns[name] = _patterns(config.lists["match"])
        else:
            self.configs.pop(name, None)
            self._patterns.pop(name, None)
        self.version += 1

    def of(self, attributes: Mapping[str, str]) -> Subscription:
        """Returns all that is subscribed from a client with these attributes.

        The metrics are in the order of Java's HashSet, because the id of the subscription is computed from them in that order.
        """
        found = [config for name, config in self.configs.items() if _matches(self._patterns[name], attributes)]
        intervals = [config.integers["interval.ms"] for config in found]
        metrics = [metric for config in found for metric in config.lists["metrics"]]
        return Subscription([ALL_METRICS] if ALL_METRICS in metrics else hash_map_order(metrics), min([DEFAULT_INTERVAL_MS, *intervals]))


def _as_shown(key: str, text: str) -> str:
    value = parse(CLIENT_METRICS_SETTINGS[key], text)
    return text_of(tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value) or ""


def _matches(patterns: Patterns, attributes: Mapping[str, str]) -> bool:
    return all(pattern.matches(attributes[attribute]) for attribute, pattern in patterns.items())


def validate(name: str, overrides: Mapping[str, str]) -> None:
    """Checks the configs of a subscription.

    Raises KafkaError with INVALID_REQUEST for a subscription without a name, an unknown config or an interval out of range, and
    InvalidConfig for a value that cannot be read.
    """
    if not name:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "Subscription name can't be empty")
    for unknown in (key for key in overrides if key not in CLIENT_METRICS_SETTINGS):
        raise KafkaError(ErrorCode.INVALID_REQUEST, f"Unknown client metrics configuration: {unknown}")
    values = {key: parse(CLIENT_METRICS_SETTINGS[key], text) for key, text in overrides.items()}
    for key, value in values.items():
        if isinstance(value, tuple) and len(value) > 1 and "" in value:
            raise InvalidConfig(f"Configuration '{key}' values must not be empty.")
    interval_ms = values.get("interval.ms", DEFAULT_INTERVAL_MS)
    assert isinstance(interval_ms, int)
    if not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
        text = f"Invalid value {interval_ms} for interval.ms, interval must be between {MIN_INTERVAL_MS} and {MAX_INTERVAL_MS} (1 hour)"
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    patterns = values.get("match", ())
    assert isinstance(patterns, tuple)
    _patterns(patterns)


def _patterns(texts: Sequence[str]) -> Patterns:
    """Returns the patterns of texts such as `client_id=billing.*`. Raises InvalidConfig for an invalid one."""
    from ..kafka_quirks.re2 import InvalidRegularExpression, Regex

    patterns = {}
    for text in texts:
        attribute, _, expression = (part.strip() for part in text.partition("="))
        try:
            if attribute not in ATTRIBUTES or not expression or "=" in expression:
                raise InvalidRegularExpression(text)
            patterns[attribute] = Regex(expression)
        except InvalidRegularExpression:
            raise InvalidConfig(f"Illegal client matching pattern: {text}") from None
    return patterns
