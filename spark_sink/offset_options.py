"""The options that say where a read starts and ends: by time before by offset, and what is not used is not looked at."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TypeAlias

from .client import EARLIEST, LATEST, TopicPartition
from .offset_json import from_json
from .user_options import INT64_MAX, UserOptions, expected, is_integer

Offsets: TypeAlias = int | dict[TopicPartition, int]
"""EARLIEST or LATEST for all partitions, or for each one an offset or one of these."""

OFFSETS_EXAMPLE = '{"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}'
TIMES_EXAMPLE = '{"topicA": {"0": 123456789, "1": 123456789}, "topicB": {"0": 123456789}}'
STRATEGY = "startingOffsetsByTimestampStrategy"


@dataclass(frozen=True)
class Times:
    """The first offsets whose records are of these times (ms) or later; where there are none, the end, or an error."""

    times: int | dict[TopicPartition, int]
    or_latest: bool


Bound: TypeAlias = Offsets | Times


def starting(given: UserOptions, default: str) -> Bound:
    """Where a read starts. Raises ValueError."""
    times = _times(given, "startingTimestamp", "startingOffsetsByTimestamp")
    return _offsets(given, "startingOffsets", default) if times is None else Times(times, _or_latest(given))


def ending(given: UserOptions) -> Bound:
    """Where a batch ends; what is there is not read any more. Raises ValueError."""
    times = _times(given, "endingTimestamp", "endingOffsetsByTimestamp")
    return _offsets(given, "endingOffsets", "latest") if times is None else Times(times, or_latest=True)


def _offsets(given: UserOptions, name: str, default: str) -> Offsets:
    value = given.text(name, default)
    if value.lower() in ("earliest", "latest"):
        return EARLIEST if value.lower() == "earliest" else LATEST
    found = _by_partition(given, name, OFFSETS_EXAMPLE)
    if not all(offset >= EARLIEST for offset in found.values()):
        raise expected(OFFSETS_EXAMPLE, value, name)
    return found


def _times(given: UserOptions, for_all: str, by_partition: str) -> int | dict[TopicPartition, int] | None:
    if for_all in given:
        value = given.text(for_all, "")
        if not re.fullmatch(r"\d+", value) or int(value) > INT64_MAX:
            raise ValueError(f"Expected a single long value, got {value} (option {for_all!r})")
        return int(value)
    return _by_partition(given, by_partition, TIMES_EXAMPLE) if by_partition in given else None


def _or_latest(given: UserOptions) -> bool:
    strategy = given.text(STRATEGY, "error").lower()
    if strategy not in ("error", "latest"):
        raise ValueError(f"No value found for '{strategy.upper()}' (option {STRATEGY!r}; there are: error, latest)")
    return strategy == "latest"


def _by_partition(given: UserOptions, name: str, example: str) -> dict[TopicPartition, int]:
    topics = given.json_object(name, example)
    try:
        found = from_json(topics)
    except (AttributeError, ValueError):
        raise expected(example, given.text(name, ""), name) from None
    if not all(is_integer(number) for number in found.values()):
        raise expected(example, given.text(name, ""), name)
    return found
