"""Which offsets of which partitions a query reads, and which of them one task reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from .client import KafkaClient, TopicPartition
from .conditions import partitions_do_not_match, start_after_end
from .offset_options import Offsets
from .options import Assign, ReadOptions, Subscribe, Subscription

SMALL_TASK = 10_000
"""Offsets. A task costs Spark some 20 to 100 ms, in which one reads far more records: ranges of fewer share a task."""


class OffsetRange(NamedTuple):
    """The offsets of one partition from `start` to `end`, which is not included."""

    partition: TopicPartition
    start: int
    end: int

    @property
    def size(self) -> int:
        """How many offsets; at most so many records."""
        return self.end - self.start


def assigned_partitions(client: KafkaClient, subscription: Subscription) -> list[TopicPartition]:
    """Those that exist now, sorted. Raises KafkaError UNKNOWN_TOPIC_OR_PARTITION for a topic that is named and does not."""
    if isinstance(subscription, Subscribe):
        return client.partitions(subscription.topics)
    if isinstance(subscription, Assign):
        existing = client.partitions({partition.topic for partition in subscription.partitions}) if subscription.partitions else []
        return [partition for partition in existing if partition in subscription.partitions]
    topics = [topic for topic in client.topics() if re.search(subscription.pattern, topic)]
    return client.partitions(topics) if topics else []


def plan_batch(client: KafkaClient, options: ReadOptions) -> list[OffsetRange]:
    """One range for each partition; earliest and latest are those of now. Raises KafkaCondition, KafkaError, OSError."""
    partitions = assigned_partitions(client, options.subscription)
    starts = _resolve(client, partitions, options.starting_offsets)
    ends = _resolve(client, partitions, options.ending_offsets)
    for partition in partitions:
        if starts[partition] > ends[partition]:
            raise start_after_end(partition, starts[partition], ends[partition], resolved=True)
    return [OffsetRange(partition, starts[partition], ends[partition]) for partition in partitions]


def _resolve(client: KafkaClient, partitions: list[TopicPartition], offsets: Offsets) -> dict[TopicPartition, int]:
    specified = offsets if isinstance(offsets, dict) else dict.fromkeys(partitions, offsets)
    if specified.keys() != set(partitions):
        raise partitions_do_not_match(specified, partitions)
    unresolved = {partition: offset for partition, offset in specified.items() if offset < 0}
    return specified | client.list_offsets(unresolved)


def shared_tasks(ranges: Iterable[OffsetRange]) -> list[list[OffsetRange]]:
    """The ranges of each task, in order and without empty ones; at least one task, so that Spark has something to plan."""
    tasks: list[list[OffsetRange]] = [[]]
    for wanted in ranges:
        if not wanted.size:
            continue
        if tasks[-1] and sum(shared.size for shared in tasks[-1]) + wanted.size > SMALL_TASK:
            tasks.append([])
        tasks[-1].append(wanted)
    return tasks
