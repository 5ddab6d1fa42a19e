"""The options of the source, by the names, defaults and refusals of Spark's own Kafka source."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from .client import EARLIEST, LATEST, ClientConfig, TopicPartition
from .client_options import client_config
from .conditions import start_after_end
from .given import Given, expected, is_integer
from .offset_options import Offsets, offsets

ASSIGN_EXAMPLE = '{"topicA":[0,1],"topicB":[0,1]}'
STRATEGIES = ("subscribe", "subscribepattern", "assign")

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
    given = Given(options)
    given.refuse(REFUSED)
    return ReadOptions(
        subscription=_subscription(given),
        starting_offsets=offsets(given, "startingOffsets", "earliest"),
        ending_offsets=offsets(given, "endingOffsets", "latest"),
        include_headers=given.boolean("includeHeaders", False),
        fail_on_data_loss=given.boolean("failOnDataLoss", True),
        client=client_config(given),
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


def _subscription(given: Given) -> Subscription:
    chosen = [name for name in STRATEGIES if name in given]
    if len(chosen) != 1:
        beginning = "Only one of the following options can" if chosen else "One of the following options must"
        raise ValueError(f"{beginning} be specified for Kafka source: {', '.join(STRATEGIES)}. See the docs for more details.")
    (name,) = chosen
    return {"subscribe": _subscribe, "subscribepattern": _subscribe_pattern, "assign": _assign}[name](given)


def _subscribe(given: Given) -> Subscription:
    value = given.text("subscribe", "")
    topics = tuple(dict.fromkeys(topic.strip() for topic in value.split(",") if topic.strip()))
    if not topics:
        raise ValueError(f"No topics to subscribe to as specified value for option 'subscribe' is '{value}'")
    return Subscribe(topics)


def _subscribe_pattern(given: Given) -> Subscription:
    value = given.text("subscribePattern", "")
    if not value:
        raise ValueError(f"Pattern to subscribe is empty as specified value for option 'subscribePattern' is '{value}'")
    try:
        re.compile(value)
    except re.error as error:
        raise ValueError(f"option 'subscribePattern': {error} in {value!r}") from error
    return SubscribePattern(value)


def _assign(given: Given) -> Subscription:
    value = given.text("assign", "")
    if not value.startswith("{"):
        raise ValueError(f"No topicpartitions to assign as specified value for option 'assign' is '{value}'")
    topics = given.json_object("assign", ASSIGN_EXAMPLE)
    if not all(isinstance(partitions, list) and all(is_integer(index) for index in partitions) for partitions in topics.values()):
        raise expected(ASSIGN_EXAMPLE, value, "assign")
    return Assign(tuple(TopicPartition(topic, index) for topic, partitions in topics.items() for index in partitions))
