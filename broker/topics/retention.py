"""Deletes records beyond retention.ms and retention.bytes at intervals (Kafka's LogManager.cleanupLogs), and tells of removed records.

`storage/retention.py` decides which records of one log may be deleted; this module applies that to all topics.

Records that expired, or were deleted or compacted, are events for the record of exchanges. A topic is one event each time, however many of
its partitions have lost records, so that a topic with thousands of partitions does not displace the exchanges that the record contains.
Internal topics are left out, because no client of a user reads them.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from typing import NamedTuple

from ...storage.retention import Retention, deletable_before, next_deletion_ms
from ...storage.virtual_segments import VirtualSegments
from ..scheduling.timers import Check, Timers
from ..settings.values import BrokerConfig, TopicConfig
from .partition import Partition, Topic

Tell = Callable[..., None]
"""Adds an event to the record: its kind, its text, and named values (`ClusterState.tell`)."""


class Removed(NamedTuple):
    """A partition and the offset at which it began before its first records were removed."""

    partition: Partition
    former_start: int


def tell_removed(tell: Tell, kind: str, removed: Sequence[Removed], reason: str) -> None:
    """Adds the event that partitions of one topic begin at later offsets, for a reason. Adds none if no partition has lost records."""
    if not removed or removed[0].partition.topic.is_internal:
        return
    first, former_start = removed[0]
    start = first.log.start_offset
    more = f" (and {len(removed) - 1} more)" if len(removed) > 1 else ""
    tell(
        kind,
        f"{first!r}{more} begins at offset {start} instead of {former_start}: {reason}",
        topic=first.topic.name,
        partition=first.index,
        start_offset=start,
        partitions=len(removed),
        records=sum(each.partition.log.start_offset - each.former_start for each in removed),
    )


def tell_compacted(tell: Tell, partition: Partition, end_offset: int, former_bytes: int) -> None:
    """Adds the event that superseded records below an offset were removed. Adds none if all of them have remained."""
    remaining = partition.log.size
    if remaining < former_bytes and not partition.topic.is_internal:
        text = f"{partition!r} is compacted up to offset {end_offset}: {remaining} of {former_bytes} bytes remain"
        tell("compacted", text, topic=partition.topic.name, partition=partition.index, end_offset=end_offset)


log = logging.getLogger("kafka.log.LogManager")


class _RetainedState(NamedTuple):
    """Everything that decides when records of a log may be deleted. A truncation renews `virtual_segments`, compaction changes the size."""

    start_offset: int
    end_offset: int
    size: int
    high_watermark: int
    virtual_segments: VirtualSegments
    limits: Retention

    @classmethod
    def of(cls, partition: Partition, limits: Retention) -> _RetainedState:
        log = partition.log
        return cls(log.start_offset, log.end_offset, log.size, partition.high_watermark, partition.virtual_segments, limits)


class LogRetention:
    """The retention of all logs of a cluster.

    `topics` is a live view of the topics. `wake` is called with each partition whose log start has moved, and `tell` adds an event for
    each topic of such partitions.
    """

    def __init__(
        self, topics: Iterable[Topic], timers: Timers, config: BrokerConfig, wake: Callable[[Partition], None], tell: Tell
    ) -> None:
        self._topics = topics
        self._wake = wake
        self._tell = tell
        self._timers = timers
        self.check = Check(self.run, lambda: config.integers["log.retention.check.interval.ms"], self._next_due_ms)
        self._schedule(config.integers["log.initial.task.delay.ms"])

    def _schedule(self, delay_ms: int) -> None:
        self._timers.set("log retention", delay_ms, self.check)

    def run(self) -> None:
        self._schedule(self.check.interval_ms())
        self.delete_expired()

    def _next_due_ms(self) -> float:
        limited = (each for topic in self._topics for each in self._limited_partitions(topic))
        return min((_next_deletion_ms(partition, limits) for partition, limits in limited), default=inf)

    def delete_expired(self) -> None:
        """Deletes the records beyond retention in topics whose cleanup.policy includes "delete"."""
        for topic in self._topics:
            found = [self._delete_expired(partition, limits) for partition, limits in self._limited_partitions(topic)]
            removed = [each for each in found if each is not None]
            tell_removed(self._tell, "expired", removed, "older records are beyond retention.ms or retention.bytes")

    def _limited_partitions(self, topic: Topic) -> Iterator[tuple[Partition, Retention]]:
        """Yields the partitions with records of a topic whose cleanup.policy includes "delete", with their limits."""
        if "delete" in topic.config.lists["cleanup.policy"]:
            limits = retention_limits(topic.config)
            yield from ((partition, limits) for partition in topic.partitions if partition.log.size)

    def _delete_expired(self, partition: Partition, limits: Retention) -> Removed | None:
        """Deletes the records of a partition that are beyond retention. Returns what was removed, None for nothing."""
        known = partition.deletion_due
        if known is not None and known[1] > self._timers.now_ms and known[0] == _RetainedState.of(partition, limits):
            return None
        offset = deletable_before(
            partition.log, partition.virtual_segments, limits, partition.untimed, partition.high_watermark, self._timers.now_ms
        )
        removed = Removed(partition, partition.log.start_offset)
        if offset <= removed.former_start:
            return None
        partition.delete_before(offset)
        self._wake(partition)
        log.info("[UnifiedLog partition=%r] the log starts at %d: older records are beyond retention", partition, offset)
        return removed


def _next_deletion_ms(partition: Partition, limits: Retention) -> float:
    """Returns the time from which records of a partition may be deleted, which is computed again when the log has changed."""
    state, known = _RetainedState.of(partition, limits), partition.deletion_due
    if known is None or known[0] != state:
        due_ms = next_deletion_ms(partition.log, partition.virtual_segments, limits, partition.untimed, state.high_watermark)
        known = partition.deletion_due = state, due_ms
    return known[1]


def retention_limits(config: TopicConfig) -> Retention:
    """Returns the limits that a topic's configs set."""
    integers = config.integers
    return Retention(integers["retention.ms"], integers["retention.bytes"], segment_bytes(config), integers["segment.ms"])


def segment_bytes(config: TopicConfig) -> int:
    """Returns the size at which a segment of the topic ends.

    internal.segment.bytes takes precedence, because Kafka uses it where segments must be smaller than segment.bytes allows.
    """
    return config.integers.get("internal.segment.bytes", config.integers["segment.bytes"])
