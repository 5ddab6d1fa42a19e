"""Client telemetry of one broker: its client instances, and the metrics that they push (KIP-714; Kafka's ClientMetricsManager).

A client instance gets the subscription that its attributes match. The subscription's id, which each push must repeat, follows from its
content and the instance id. A change of the cluster's subscriptions has the instance matched again at its next request, as if it were new.
The state of an instance is removed with the connection that it was created on, after three push intervals without a request, and if there
are more than MAX_INSTANCES, in the order of use.

Pushed metrics are kept as they were received, up to MAX_PUSHES and MAX_PUSHED_BYTES, and decoded when a user asks for them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from ...protocol.errors import ErrorCode, KafkaError
from ..kafka_quirks.java_hash import hash_map_order
from ..kafka_quirks.java_uuid import uuid_text
from ..settings.properties import InvalidConfig
from ..settings.rows import CLIENT_METRICS_SETTINGS
from ..settings.values import BrokerConfig, ClientMetricsConfig, parse, text_of

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
            config = self.configs[name] = ClientMetricsConfig(broker, {key: _shown_text(key, text) for key, text in overrides.items()})
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


def _shown_text(key: str, text: str) -> str:
    value = parse(CLIENT_METRICS_SETTINGS[key], text)
    return text_of(tuple(dict.fromkeys(value)) if isinstance(value, tuple) else value) or ""


def _matches(patterns: Patterns, attributes: Mapping[str, str]) -> bool:
    return all(pattern.matches(attributes[attribute]) for attribute, pattern in patterns.items())


def validate_subscription(name: str, overrides: Mapping[str, str]) -> None:
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
    interval_ms = values.get("interval.ms")
    if isinstance(interval_ms, int) and not MIN_INTERVAL_MS <= interval_ms <= MAX_INTERVAL_MS:
        text = f"Invalid value {interval_ms} for interval.ms, interval must be between {MIN_INTERVAL_MS} and {MAX_INTERVAL_MS} (1 hour)"
        raise KafkaError(ErrorCode.INVALID_REQUEST, text)
    if isinstance(texts := values.get("match"), tuple):
        _patterns(texts)


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


MIN_EXPIRY_MS = 60_000
MAX_INSTANCES = 16_384
MAX_PUSHES = 1000
MAX_PUSHED_BYTES = 4 * 1024 * 1024
NEVER = -(1 << 62)
"""A time early enough that every interval that began then has passed."""


class Push(NamedTuple):
    """Metrics that a client has pushed: an OTLP `MetricsData` message, compressed by `compression_type`."""

    time_ms: int
    client_instance_id: bytes
    attributes: Mapping[str, str]
    terminating: bool
    compression_type: int
    metrics: bytes


def subscription_id(subscription: Subscription, client_instance_id: bytes) -> int:
    """Returns the id of a client's subscription, a signed 32-bit integer.

    It is the CRC-32C of the metrics, as Java prints a list, and the interval, exclusive or the hash code of the instance id.
    """
    from ...protocol.batches.checksum import crc32c

    value = crc32c(f"[{', '.join(subscription.metrics)}]{subscription.push_interval_ms}".encode())
    for at in range(0, 16, 4):
        value ^= int.from_bytes(client_instance_id[at : at + 4], "big")
    return value - (1 << 32) if value >> 31 else value


class Instance:
    """The state of one client instance: its subscription, the times of its last requests, and the error of its last push.

    `version` is that of the cluster's subscriptions when the instance was matched with them.
    """

    __slots__ = (
        "attributes",
        "connection_id",
        "error",
        "pushed_ms",
        "subscribed_ms",
        "subscription",
        "subscription_id",
        "terminating",
        "used_ms",
        "version",
    )

    def __init__(
        self, attributes: Mapping[str, str], connection_id: int, subscription: Subscription, identifier: int, version: int, now_ms: int
    ) -> None:
        self.attributes, self.connection_id = attributes, connection_id
        self.subscription, self.subscription_id, self.version = subscription, identifier, version
        self.subscribed_ms = self.pushed_ms = NEVER
        self.used_ms = now_ms
        self.error = ErrorCode.NONE
        self.terminating = False

    @property
    def expiry_ms(self) -> int:
        return max(MIN_EXPIRY_MS, 3 * self.subscription.push_interval_ms)


class ClientMetrics:
    """The client instances of one broker. `max_bytes` is the maximum size of a push."""

    def __init__(self, max_bytes: int, subscriptions: MetricSubscriptions) -> None:
        self.max_bytes = max_bytes
        self.pushes: deque[Push] = deque()
        self._pushed_bytes = 0
        self._subscriptions = subscriptions
        self._instances: dict[bytes, Instance] = {}

    def subscribe(self, client_instance_id: bytes, attributes: Mapping[str, str], connection_id: int, now_ms: int) -> Instance:
        """Returns the state of a client instance that asks for its subscription.

        Raises KafkaError with THROTTLING_QUOTA_EXCEEDED within the push interval. A client whose last push failed because of a wrong
        subscription id or an unsupported compression type may ask again at once.
        """
        instance = self._instance(client_instance_id, attributes, connection_id, now_ms)
        if now_ms - max(instance.subscribed_ms, instance.pushed_ms) >= instance.subscription.push_interval_ms:
            instance.subscribed_ms = now_ms
        elif instance.error not in (ErrorCode.UNKNOWN_SUBSCRIPTION_ID, ErrorCode.UNSUPPORTED_COMPRESSION_TYPE):
            raise KafkaError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        instance.error = ErrorCode.NONE
        return instance

    def push(
        self,
        client_instance_id: bytes,
        attributes: Mapping[str, str],
        connection_id: int,
        subscription: int,
        compression_type: int,
        metrics: bytes,
        now_ms: int,
        *,
        terminating: bool,
    ) -> None:
        """Accepts and keeps metrics.

        Raises KafkaError with INVALID_REQUEST, THROTTLING_QUOTA_EXCEEDED, UNKNOWN_SUBSCRIPTION_ID, UNSUPPORTED_COMPRESSION_TYPE or
        TELEMETRY_TOO_LARGE.
        """
        instance = self._instance(client_instance_id, attributes, connection_id, now_ms)
        instance.error = _push_error(instance, now_ms, terminating)
        instance.terminating = terminating
        if not instance.error:
            instance.error = self._content_error(instance, subscription, compression_type, len(metrics))
        if instance.error:
            raise KafkaError(instance.error)
        if metrics:
            self._keep(Push(now_ms, client_instance_id, instance.attributes, terminating, compression_type, metrics))

    def forget_connection(self, connection_id: int) -> None:
        """Removes the state of the client instances that were created on a connection."""
        self._instances = {key: each for key, each in self._instances.items() if each.connection_id != connection_id}

    def _keep(self, push: Push) -> None:
        self.pushes.append(push)
        self._pushed_bytes += len(push.metrics)
        while len(self.pushes) > MAX_PUSHES or self._pushed_bytes > MAX_PUSHED_BYTES:
            self._pushed_bytes -= len(self.pushes.popleft().metrics)

    def _content_error(self, instance: Instance, subscription: int, compression_type: int, size: int) -> ErrorCode:
        from ...protocol.batches.compression import Compression

        if subscription != instance.subscription_id:
            return ErrorCode.UNKNOWN_SUBSCRIPTION_ID
        if compression_type not in set(Compression):
            return ErrorCode.UNSUPPORTED_COMPRESSION_TYPE
        return ErrorCode.TELEMETRY_TOO_LARGE if size > self.max_bytes else ErrorCode.NONE

    def _instance(self, client_instance_id: bytes, attributes: Mapping[str, str], connection_id: int, now_ms: int) -> Instance:
        """Returns the state of a client instance, which is created if there is none. The dictionary is kept in the order of use."""
        instance = self._instances.pop(client_instance_id, None)
        if instance is not None and now_ms - instance.used_ms >= instance.expiry_ms:
            instance = None
        if instance is None or instance.version < self._subscriptions.version:
            subscription = self._subscriptions.of({**attributes, "client_instance_id": uuid_text(client_instance_id)})
            identifier = subscription_id(subscription, client_instance_id)
            instance = Instance(attributes, connection_id, subscription, identifier, self._subscriptions.version, now_ms)
        instance.used_ms = now_ms
        self._instances[client_instance_id] = instance
        if len(self._instances) > MAX_INSTANCES:
            del self._instances[next(iter(self._instances))]
        return instance


def _push_error(instance: Instance, now_ms: int, terminating: bool) -> ErrorCode:
    """Returns the error for a push that is too early or follows a terminating push, and otherwise NONE.

    The first push after a subscription is accepted at any time, because clients choose a random delay for it.
    """
    if instance.terminating:
        return ErrorCode.INVALID_REQUEST
    if instance.subscribed_ms > instance.pushed_ms or now_ms - instance.pushed_ms >= instance.subscription.push_interval_ms:
        instance.pushed_ms = now_ms
    elif not terminating:
        return ErrorCode.THROTTLING_QUOTA_EXCEEDED
    return ErrorCode.NONE
