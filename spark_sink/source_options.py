"""Parses the options of reads, with the names, defaults and error texts of Spark's own Kafka source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from ..protocol.client.connection import TopicPartition
from .client import EARLIEST, LATEST, ClientConfig
from .client_options import BOOTSTRAP_SERVERS, client_config
from .error_conditions import start_after_end
from .offset_options import Bound, ending, starting
from .schema_registry import CA_OPTION, URL_OPTION, RegistryConfig
from .trigger_options import TriggerOptions, trigger_options
from .user_options import INT64_MAX, UserOptions, is_integer, unexpected_value

if TYPE_CHECKING:
    from .avro_values import AvroColumn

ASSIGN_EXAMPLE = '{"topicA":[0,1],"topicB":[0,1]}'
STRATEGIES = ("subscribe", "subscribePattern", "assign")

_DESERIALIZED = "is not supported as {} are deserialized as byte arrays with ByteArrayDeserializer. Columns can be cast."
REFUSED = {
    "auto.offset.reset": "is not supported. Instead set the source option 'startingOffsets' to 'earliest' or 'latest'.",
    "key.deserializer": _DESERIALIZED.format("keys"),
    "value.deserializer": _DESERIALIZED.format("values"),
    "enable.auto.commit": "is not supported",
    "interceptor.classes": "is not supported",
}


@dataclass(frozen=True)
class Subscribe:
    """Subscription to all partitions of the named topics."""

    topics: tuple[str, ...]


@dataclass(frozen=True)
class SubscribePattern:
    """Subscription to all partitions of the topics whose names contain a match of the regular expression."""

    pattern: str


@dataclass(frozen=True)
class Assign:
    """Subscription to the named partitions, as far as they exist."""

    partitions: tuple[TopicPartition, ...]


Subscription: TypeAlias = Subscribe | SubscribePattern | Assign


@dataclass(frozen=True)
class ReadOptions:
    """The parsed options of a read. `directories` are the log directories to read instead of brokers; the client then has no servers."""

    client: ClientConfig
    subscription: Subscription
    starting: Bound
    ending: Bound
    include_headers: bool
    fail_on_data_loss: bool
    min_partitions: int | None
    max_records_per_partition: int | None
    directories: tuple[str, ...] = ()
    registry: RegistryConfig | None = None
    """The schema registry by which values are decoded, None if they stay bytes."""
    column: AvroColumn | None = None
    """The decoded values of the rows that are read, None for bytes."""

    @property
    def topic(self) -> str:
        """The topic of a read that decodes values."""
        return _topics(self.subscription)[0]


def read_options(options: Mapping[str, str]) -> ReadOptions:
    """Parses the options that batches and streams share. Raises ValueError in the words of Spark's own source."""
    return _read_options(UserOptions(options), "earliest")


def batch_options(options: Mapping[str, str]) -> ReadOptions:
    """Parses the options of a batch. Raises ValueError, also for values that only a batch rejects, and KafkaCondition."""
    found = _read_options(UserOptions(options), "earliest")
    _refuse_sentinel("starting offset", "startingOffsets", found.starting, LATEST)
    _refuse_sentinel("ending offset", "ending offset", found.ending, EARLIEST)
    if isinstance(found.starting, dict) and isinstance(found.ending, dict):
        for partition, start in found.starting.items():
            end = found.ending.get(partition, LATEST)
            if start > end >= 0:
                raise start_after_end(partition, start, end, resolved=False)
    return found


def stream_options(options: Mapping[str, str]) -> tuple[ReadOptions, TriggerOptions]:
    """Parses the options of a stream. Raises ValueError, also for options that only a stream rejects."""
    user_options = UserOptions(options)
    for name, kind in (("endingOffsets", "offset"), ("endingOffsetsByTimestamp", "timestamp")):
        if name in user_options:
            raise ValueError(f"ending {kind} not valid in streaming queries")
    found = _read_options(user_options, "latest")
    if found.directories:
        raise ValueError(f"Log directories cannot be read as a stream: use spark.read, or '{BOOTSTRAP_SERVERS}' instead of a path")
    return found, trigger_options(user_options)


def _read_options(options: UserOptions, start: str) -> ReadOptions:
    options.refuse(REFUSED)
    directories = _directories(options)
    return ReadOptions(
        subscription=_subscription(options),
        starting=starting(options, start),
        ending=ending(options),
        include_headers=options.boolean("includeHeaders", False),
        fail_on_data_loss=options.boolean("failOnDataLoss", True),
        min_partitions=_positive(options, "minPartitions"),
        max_records_per_partition=_positive(options, "maxRecordsPerPartition"),
        client=client_config(options, reads_directories=bool(directories)),
        directories=directories,
        registry=_registry(options),
    )


def _registry(options: UserOptions) -> RegistryConfig | None:
    """Returns the schema registry of the option schema.registry.url. Raises ValueError if it is invalid, or if there are several topics."""
    if URL_OPTION not in options:
        return None
    if len(_topics(_subscription(options))) != 1:
        raise ValueError(f"Option {URL_OPTION!r} needs one topic in 'subscribe' or 'assign', whose values have the columns of one schema")
    config = RegistryConfig(options.text(URL_OPTION, ""), options.text(CA_OPTION, ""))
    config.check()
    return config


def _topics(subscription: Subscription) -> list[str]:
    """Returns the topics that a subscription names."""
    if isinstance(subscription, SubscribePattern):
        return []
    named = subscription.topics if isinstance(subscription, Subscribe) else [each.topic for each in subscription.partitions]
    return list(dict.fromkeys(named))


def _directories(options: UserOptions) -> tuple[str, ...]:
    """Returns the log directories to read: that of the option `path`, or those of `load([...])`, which Spark passes as JSON in `paths`."""
    chosen = [name for name in ("path", "paths", BOOTSTRAP_SERVERS) if name in options]
    if BOOTSTRAP_SERVERS in chosen[:1] or not chosen:
        return ()
    if len(chosen) > 1:
        raise ValueError(f"Only one of the following options can be specified: {', '.join(chosen)}.")
    paths = options.json_strings("paths") if chosen == ["paths"] else [options.text("path", "")]
    if not all(paths):
        raise ValueError("Option 'path' is empty: give one of the log.dirs of a broker")
    return tuple(path.removeprefix("file://").removeprefix("file:") for path in paths)


def _positive(options: UserOptions, name: str) -> int | None:
    if name not in options:
        return None
    value = options.integer(name, 0, -INT64_MAX, INT64_MAX)
    if value <= 0:
        raise ValueError(f"{name} must be positive")
    return value


def _refuse_sentinel(name: str, name_of_one: str, bound: Bound, refused: int) -> None:
    """Raises ValueError when a bound is EARLIEST or LATEST (`refused`), for all partitions or for one."""
    where = f"can't be {'latest' if refused == LATEST else 'earliest'} for batch queries on Kafka"
    if bound == refused:
        raise ValueError(f"{name} {where}")
    if isinstance(bound, dict):
        for partition, offset in bound.items():
            if offset == refused:
                raise ValueError(f"{name_of_one} for {partition} {where}")


def _subscription(options: UserOptions) -> Subscription:
    chosen = [name for name in STRATEGIES if name in options]
    if len(chosen) != 1:
        beginning = "Only one of the following options can" if chosen else "One of the following options must"
        raise ValueError(f"{beginning} be specified for Kafka source: {', '.join(STRATEGIES)}. See the docs for more details.")
    (name,) = chosen
    return {"subscribe": _subscribe, "subscribePattern": _subscribe_pattern, "assign": _assign}[name](options)


def _subscribe(options: UserOptions) -> Subscription:
    value = options.text("subscribe", "")
    topics = tuple(dict.fromkeys(topic.strip() for topic in value.split(",") if topic.strip()))
    if not topics:
        raise ValueError(f"No topics to subscribe to as specified value for option 'subscribe' is '{value}'")
    return Subscribe(topics)


def _subscribe_pattern(options: UserOptions) -> Subscription:
    value = options.text("subscribePattern", "")
    if not value:
        raise ValueError(f"Pattern to subscribe is empty as specified value for option 'subscribePattern' is '{value}'")
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"option 'subscribePattern': {error} in {value!r}") from error
    return SubscribePattern(value)


def _assign(options: UserOptions) -> Subscription:
    value = options.text("assign", "")
    if not value.startswith("{"):
        raise ValueError(f"No topicpartitions to assign as specified value for option 'assign' is '{value}'")
    topics = options.json_object("assign", ASSIGN_EXAMPLE)
    if not all(isinstance(partitions, list) and all(is_integer(index) for index in partitions) for partitions in topics.values()):
        raise unexpected_value(ASSIGN_EXAMPLE, value, "assign")
    return Assign(tuple(TopicPartition(topic, index) for topic, partitions in topics.items() for index in partitions))
