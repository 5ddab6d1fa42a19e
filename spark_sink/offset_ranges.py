"""Resolves a subscription and its starting and ending offsets to ranges of offsets, with requests to the brokers."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from ..protocol.client.connection import TopicPartition
from .client import LATEST, KafkaClient
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


def assigned_partitions(client: KafkaClient, subscription: Subscription) -> list[TopicPartition]:
    """Returns the existing partitions of a subscription, sorted. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION for a missing topic."""
    if isinstance(subscription, Subscribe):
        return client.partitions(subscription.topics)
    if isinstance(subscription, Assign):
        existing = client.partitions({partition.topic for partition in subscription.partitions}) if subscription.partitions else []
        return [partition for partition in existing if partition in subscription.partitions]
    return client.partitions_where(re.compile(subscription.pattern).search)


def plan_batch(client: KafkaClient, options: ReadOptions) -> list[OffsetRange]:
    """Returns one range for each partition; earliest and latest are the present ones.

    Raises KafkaCondition, KafkaError, OSError, ValueError.
    """
    partitions = assigned_partitions(client, options.subscription)
    starts = resolve(client, partitions, options.starting)
    ends = resolve(client, partitions, options.ending)
    for partition in partitions:
        if starts[partition] > ends[partition]:
            raise start_after_end(partition, starts[partition], ends[partition], resolved=True)
    return [OffsetRange(partition, starts[partition], ends[partition]) for partition in partitions]


def resolve(client: KafkaClient, partitions: Iterable[TopicPartition], bound: Bound) -> dict[TopicPartition, int]:
    """Returns the offset of each partition at which a read starts or ends. Raises KafkaCondition, KafkaError, OSError, ValueError."""
    if isinstance(bound, Times):
        return _at_times(client, partitions, bound)
    specified = _for_each(partitions, bound)
    if specified.keys() != set(partitions):
        raise partitions_do_not_match(specified, partitions)
    unresolved = {partition: offset for partition, offset in specified.items() if offset < 0}
    return specified | client.list_offsets(unresolved)


def _at_times(client: KafkaClient, partitions: Iterable[TopicPartition], bound: Times) -> dict[TopicPartition, int]:
    times = _for_each(partitions, bound.times)
    if times.keys() != set(partitions):
        raise times_do_not_match(times, partitions)
    found = client.list_offsets(times)
    without = [partition for partition, offset in sorted(found.items()) if offset < 0]
    if without and not bound.or_latest:
        partition = without[0]
        raise ValueError(f"No offset matched from request of topic-partition {partition} and timestamp {times[partition]}.")
    return found | client.list_offsets(dict.fromkeys(without, LATEST))


def _for_each(partitions: Iterable[TopicPartition], numbers: Offsets) -> dict[TopicPartition, int]:
    return numbers if isinstance(numbers, dict) else dict.fromkeys(partitions, numbers)
