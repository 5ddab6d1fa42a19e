"""Converts offsets to and from the JSON form of Spark's own Kafka source in options and checkpoints: `{"topic":{"0":123}}`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ..protocol.client.connection import TopicPartition
from .client import EARLIEST, LATEST
from .user_options import INT64_MAX, UserOptions, is_integer, unexpected_value

OffsetJson: TypeAlias = dict[str, dict[str, int]]


def to_json(offsets: Mapping[TopicPartition, int]) -> OffsetJson:
    """Converts offsets in the order of topics and partitions, so that equal offsets have equal JSON texts."""
    topics: OffsetJson = {}
    for (topic, index), offset in sorted(offsets.items()):
        topics.setdefault(topic, {})[str(index)] = offset
    return topics


def from_json(topics: Mapping[str, Mapping[str, int]]) -> dict[TopicPartition, int]:
    """Parses offsets. Raises AttributeError or ValueError for JSON of another form; the types of offsets are not checked."""
    return {TopicPartition(topic, int(index)): offset for topic, offsets in topics.items() for index, offset in offsets.items()}


Offsets: TypeAlias = int | dict[TopicPartition, int]
"""EARLIEST or LATEST for all partitions, or a number for each: an offset, EARLIEST or LATEST."""

OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMES_EXAMPLE = '{"topicA": {"0": 123456789, "1": 123456789}, "topicB": {"0": 123456789}}'
STRATEGY = "startingOffsetsByTimestampStrategy"


@dataclass(frozen=True)
class Times:
    """The first offsets whose records have these timestamps (ms) or later.

    For a partition without such a record, the end of the log is used when `or_latest` is set; otherwise `resolve` raises ValueError.
    """

    times: int | dict[TopicPartition, int]
    or_latest: bool


Bound: TypeAlias = Offsets | Times


def starting(options: UserOptions, default: str) -> Bound:
    """Parses where a read starts; `default` is `earliest` or `latest`. Raises ValueError."""
    times = _times(options, "startingTimestamp", "startingOffsetsByTimestamp")
    return _offsets(options, "startingOffsets", default) if times is None else Times(times, _or_latest(options))


def ending(options: UserOptions) -> Bound:
    """Parses where a batch ends, exclusively. Raises ValueError."""
    times = _times(options, "endingTimestamp", "endingOffsetsByTimestamp")
    return _offsets(options, "endingOffsets", "latest") if times is None else Times(times, or_latest=True)


def _offsets(options: UserOptions, name: str, default: str) -> Offsets:
    value = options.text(name, default)
    if value.lower() in ("earliest", "latest"):
        return EARLIEST if value.lower() == "earliest" else LATEST
    found = _by_partition(options, name, OFFSETS_EXAMPLE)
    if not all(offset >= EARLIEST for offset in found.values()):
        raise unexpected_value(OFFSETS_EXAMPLE, value, name)
    return found


def _times(options: UserOptions, for_all: str, by_partition: str) -> int | dict[TopicPartition, int] | None:
    if for_all in options:
        value = options.text(for_all, "")
        if not re.fullmatch(r"\d+", value) or int(value) > INT64_MAX:
            raise ValueError(f"Expected a single long value, got {value} (option {for_all!r})")
        return int(value)
    return _by_partition(options, by_partition, TIMES_EXAMPLE) if by_partition in options else None


def _or_latest(options: UserOptions) -> bool:
    strategy = options.text(STRATEGY, "error").lower()
    if strategy not in ("error", "latest"):
        raise ValueError(f"No value found for '{strategy.upper()}' (option {STRATEGY!r}; there are: error, latest)")
    return strategy == "latest"


def _by_partition(options: UserOptions, name: str, example: str) -> dict[TopicPartition, int]:
    topics = options.json_object(name, example)
    try:
        found = from_json(topics)
    except (AttributeError, ValueError):
        raise unexpected_value(example, options.text(name, ""), name) from None
    if not all(is_integer(number) for number in found.values()):
        raise unexpected_value(example, options.text(name, ""), name)
    return found
