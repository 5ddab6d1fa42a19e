"""Resolves a subscription and its starting and ending offsets to ranges of offsets, as the brokers or the log directories have them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

from ..protocol.client.connection import TopicPartition
from .client import LATEST
from .error_conditions import partitions_do_not_match, start_after_end, times_do_not_match
from .offset_options import Bound, Offsets, Times
from .source_options import Assign, ReadOptions, Subscribe, Subscription


class OffsetRange(NamedTuple):
    """The offsets of one partition from `start` to `end`, which is not included."""

    partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        """Number of offsets, which is an upper limit for the number of records."""
        return self.end - self.start


class Logs(Protocol):
    """Where planning looks for partitions and offsets: a `KafkaClient`, or `StoredLogs` of directories."""

    def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Returns the partitions of topics. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION for a missing topic."""

    def partitions_where(self, matches: Callable[[str], object]) -> list[TopicPartition]:
        """Returns the partitions of the topics whose names match, except for Kafka's internal topics."""

    def list_offsets(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Returns the offset of each partition at EARLIEST, LATEST or the first record of a time (ms), -1 without such a record."""


def assigned_partitions(logs: Logs, subscription: Subscription) -> list[TopicPartition]:
    """Returns the existing partitions of a subscription, sorted. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION for a missing topic."""
    if isinstance(subscription, Subscribe):
        return logs.partitions(subscription.topics)
    if isinstance(subscription, Assign):
        existing = logs.partitions({partition.topic for partition in subscription.partitions}) if subscription.partitions else []
        return [partition for partition in existing if partition in subscription.partitions]
    return logs.partitions_where(re.compile(subscription.pattern).search)


def plan_batch(logs: Logs, options: ReadOptions) -> list[OffsetRange]:
    """Returns one range for each partition; earliest and latest are the present ones.

    Raises KafkaCondition, KafkaError, OSError, ValueError.
    """
    partitions = assigned_partitions(logs, options.subscription)
    starts = resolve(logs, partitions, options.starting)
    ends = resolve(logs, partitions, options.ending)
    for partition in partitions:
        if starts[partition] > ends[partition]:
            raise start_after_end(partition, starts[partition], ends[partition], resolved=True)
    return [OffsetRange(partition, starts[partition], ends[partition]) for partition in partitions]


def resolve(logs: Logs, partitions: Iterable[TopicPartition], bound: Bound) -> dict[TopicPartition, int]:
    """Returns the offset of each partition at which a read starts or ends. Raises KafkaCondition, KafkaError, OSError, ValueError."""
    if isinstance(bound, Times):
        return _at_times(logs, partitions, bound)
    specified = _for_each(partitions, bound)
    if specified.keys() != set(partitions):
        raise partitions_do_not_match(specified, partitions)
    unresolved = {partition: offset for partition, offset in specified.items() if offset < 0}
    return specified | logs.list_offsets(unresolved)


def _at_times(logs: Logs, partitions: Iterable[TopicPartition], bound: Times) -> dict[TopicPartition, int]:
    times = _for_each(partitions, bound.times)
    if times.keys() != set(partitions):
        raise times_do_not_match(times, partitions)
    found = logs.list_offsets(times)
    without = [partition for partition, offset in sorted(found.items()) if offset < 0]
    if without and not bound.or_latest:
        partition = without[0]
        raise ValueError(f"No offset matched from request of topic-partition {partition} and timestamp {times[partition]}.")
    return found | logs.list_offsets(dict.fromkeys(without, LATEST))


def _for_each(partitions: Iterable[TopicPartition], numbers: Offsets) -> dict[TopicPartition, int]:
    return numbers if isinstance(numbers, dict) else dict.fromkeys(partitions, numbers)
