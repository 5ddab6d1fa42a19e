"""The options of the source, by the names, defaults and refusals of Spark's own Kafka source.

Names are compared without regard to case. What is unknown is ignored, as there.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from .client import EARLIEST, LATEST, READ_COMMITTED, READ_UNCOMMITTED, ClientConfig, TopicPartition
from .conditions import start_after_end
from .connection import Address

Offsets: TypeAlias = int | dict[TopicPartition, int]
"""EARLIEST or LATEST for all partitions, or for each one an offset or one of these."""

OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
ASSIGN_EXAMPLE = '{"topicA":[0,1],"topicB":[0,1]}'
STRATEGIES = ("subscribe", "subscribepattern", "assign")
INT32_MAX = (1 << 31) - 1
ISOLATION_LEVELS = {"read_uncommitted": READ_UNCOMMITTED, "read_committed": READ_COMMITTED}

_DESERIALIZED = "is not supported as {} are deserialized as byte arrays with ByteArrayDeserializer. Columns can be cast."
REFUSED = {
    "auto.offset.reset": "is not supported. Instead set the source option 'startingoffsets' to 'earliest' or 'latest'.",
    "key.deserializer": _DESERIALIZED.format("keys"),
    "value.deserializer": _DESERIALIZED.format("values"),
    "enable.auto.commit": "is not supported",
    "interceptor.classes": "is not supported",
}


@dataclass(frozen=True)
class Subscribe:
    """All partitions of these topics."""

    topics: tuple[str, ...]


@dataclass(frozen=True)
class SubscribePattern:
    """All partitions of the topics in whose names the regular expression is found, at any place."""

    pattern: str


@dataclass(frozen=True)
class Assign:
    """These partitions, those of them that exist."""

    partitions: tuple[TopicPartition, ...]


Subscription: TypeAlias = Subscribe | SubscribePattern | Assign


@dataclass(frozen=True)
class ReadOptions:
    """What a read was asked to do."""

    client: ClientConfig
    subscription: Subscription
    starting_offsets: Offsets
    ending_offsets: Offsets
    include_headers: bool
    fail_on_data_loss: bool


def read_options(options: Mapping[str, str]) -> ReadOptions:
    """Raises ValueError in the words of Spark's own source."""
    given = _Given(options)
    return ReadOptions(
        subscription=_subscription(given),
        starting_offsets=_offsets(given.text("startingOffsets", "earliest")),
        ending_offsets=_offsets(given.text("endingOffsets", "latest")),
        include_headers=given.boolean("includeHeaders", False),
        fail_on_data_loss=given.boolean("failOnDataLoss", True),
        client=_client_config(given),
    )


def check_batch(options: ReadOptions) -> None:
    """What only a batch refuses. Raises ValueError, KafkaCondition."""
    _refuse_sentinel("start", "starting offset", "startingOffsets", options.starting_offsets, LATEST)
    _refuse_sentinel("end", "ending offset", "ending offset", options.ending_offsets, EARLIEST)
    if isinstance(options.starting_offsets, dict) and isinstance(options.ending_offsets, dict):
        for partition, start in options.starting_offsets.items():
            end = options.ending_offsets.get(partition, LATEST)
            if start > end >= 0:
                raise start_after_end(partition, start, end, resolved=False)


def _refuse_sentinel(side: str, name: str, name_of_one: str, offsets: Offsets, refused: int) -> None:
    where = f"can't be {'latest' if refused == LATEST else 'earliest'} for batch queries on Kafka"
    if offsets == refused:
        raise ValueError(f"{name} {where}")
    if isinstance(offsets, dict):
        for partition, offset in offsets.items():
            if offset == refused:
                raise ValueError(f"{name_of_one} for {partition} {where}")


class _Given:
    """The options as the user gave them, read by name and type."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._values = {name.lower(): value for name, value in options.items()}
        for name, why in REFUSED.items():
            if f"kafka.{name}" in self._values:
                raise ValueError(f"Kafka option '{name}' {why}")

    def __contains__(self, name: str) -> bool:
        return name.lower() in self._values

    def text(self, name: str, default: str) -> str:
        return self._values.get(name.lower(), default).strip()

    def boolean(self, name: str, default: bool) -> bool:
        value = self.text(name, str(default)).lower()
        if value not in ("true", "false"):
            raise ValueError(f'For input string: "{value}"')
        return value == "true"

    def integer(self, name: str, default: int, least: int = 0) -> int:
        value = self.text(name, str(default))
        if not re.fullmatch(r"[+-]?\d+", value):
            raise ValueError(f'For input string: "{value}"')
        if not least <= int(value) <= INT32_MAX:
            raise ValueError(f"Invalid value {value} for configuration {name.removeprefix('kafka.')}: Value must be at least {least}")
        return int(value)


def _subscription(given: _Given) -> Subscription:
    chosen = [name for name in STRATEGIES if name in given]
    if len(chosen) != 1:
        beginning = "Only one of the following options can" if chosen else "One of the following options must"
        raise ValueError(f"{beginning} be specified for Kafka source: {', '.join(STRATEGIES)}. See the docs for more details.")
    (name,) = chosen
    value = given.text(name, "")
    return {"subscribe": _subscribe, "subscribepattern": _subscribe_pattern, "assign": _assign}[name](value)


def _subscribe(value: str) -> Subscription:
    topics = tuple(dict.fromkeys(topic.strip() for topic in value.split(",") if topic.strip()))
    if not topics:
        raise ValueError(f"No topics to subscribe to as specified value for option 'subscribe' is '{value}'")
    return Subscribe(topics)


def _subscribe_pattern(value: str) -> Subscription:
    if not value:
        raise ValueError(f"Pattern to subscribe is empty as specified value for option 'subscribePattern' is '{value}'")
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"option 'subscribePattern': {error} in {value!r}") from error
    return SubscribePattern(value)


def _assign(value: str) -> Subscription:
    if not value.startswith("{"):
        raise ValueError(f"No topicpartitions to assign as specified value for option 'assign' is '{value}'")
    topics = _json_object(value, ASSIGN_EXAMPLE)
    if not all(isinstance(partitions, list) and all(_is_integer(index) for index in partitions) for partitions in topics.values()):
        raise _expected(ASSIGN_EXAMPLE, value)
    return Assign(tuple(TopicPartition(topic, index) for topic, partitions in topics.items() for index in partitions))


def _offsets(value: str) -> Offsets:
    if value.lower() in ("earliest", "latest"):
        return EARLIEST if value.lower() == "earliest" else LATEST
    topics = _json_object(value, OFFSETS_EXAMPLE)
    try:
        found = {TopicPartition(topic, int(index)): offset for topic, offsets in topics.items() for index, offset in offsets.items()}
    except (AttributeError, ValueError):
        raise _expected(OFFSETS_EXAMPLE, value) from None
    if not all(_is_integer(offset) and offset >= EARLIEST for offset in found.values()):
        raise _expected(OFFSETS_EXAMPLE, value)
    return found


def _json_object(value: str, example: str) -> dict[str, Any]:
    try:
        parsed = json.loads(value)
    except ValueError:
        raise _expected(example, value) from None
    if not isinstance(parsed, dict):
        raise _expected(example, value)
    return parsed


def _is_integer(value: object) -> bool:
    return type(value) is int


def _expected(example: str, value: str) -> ValueError:
    return ValueError(f"Expected e.g. {example}, got {value}")


def _client_config(given: _Given) -> ClientConfig:
    default = ClientConfig(())
    protocol = given.text("kafka.security.protocol", "PLAINTEXT")
    if protocol.upper() != "PLAINTEXT":
        raise ValueError(f"Kafka option 'security.protocol' is not supported yet with the value {protocol}")
    retries = given.integer("fetchOffset.numRetries", 3)
    return ClientConfig(
        bootstrap_servers=_bootstrap_servers(given),
        client_id=given.text("kafka.client.id", default.client_id),
        isolation_level=_isolation_level(given.text("kafka.isolation.level", "read_uncommitted")),
        check_crcs=given.boolean("kafka.check.crcs", default.check_crcs),
        request_timeout_ms=given.integer("kafka.request.timeout.ms", default.request_timeout_ms, 1),
        poll_timeout_ms=given.integer("kafkaConsumer.pollTimeoutMs", default.poll_timeout_ms),
        unknown_topic_timeout_ms=max(retries - 1, 0) * given.integer("fetchOffset.retryIntervalMs", 1000),
        fetch_max_wait_ms=given.integer("kafka.fetch.max.wait.ms", default.fetch_max_wait_ms),
        fetch_max_bytes=given.integer("kafka.fetch.max.bytes", default.fetch_max_bytes),
        max_partition_fetch_bytes=given.integer("kafka.max.partition.fetch.bytes", default.max_partition_fetch_bytes),
    )


def _isolation_level(value: str) -> int:
    if value not in ISOLATION_LEVELS:
        names = ", ".join(sorted(ISOLATION_LEVELS))
        raise ValueError(f"Invalid value {value} for configuration isolation.level: String must be one of: {names}")
    return ISOLATION_LEVELS[value]


def _bootstrap_servers(given: _Given) -> tuple[Address, ...]:
    if "kafka.bootstrap.servers" not in given:
        raise ValueError("Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer")
    servers = [server.strip() for server in given.text("kafka.bootstrap.servers", "").split(",")]
    if not any(servers):
        raise ValueError("No resolvable bootstrap urls given in bootstrap.servers")
    return tuple(_address(server) for server in servers if server)


def _address(server: str) -> Address:
    host, colon, port = server.rpartition(":")
    if not colon or not host or not port.isdecimal():
        raise ValueError(f"Invalid url in bootstrap.servers: {server}")
    return host.removeprefix("[").removesuffix("]"), int(port)
