"""What a broker does to its logs in the background: deletes what is too old or too much, and compacts (LogManager, LogCleaner).

Both run by timers, at the intervals of the settings, or when they are called. They run in one piece, so a large log that is
compacted holds up the clients meanwhile.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ...storage.compaction import CompactionLimits, Dirty, dirty_part
from ...storage.retention import Retention, deletable_before
from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig, TopicConfig
from .compaction import Aborted, Compactor, last_offsets
from .topic import Partition, Topic

log = logging.getLogger("kafka.log.LogManager")
cleaner_log = logging.getLogger("kafka.log.LogCleaner")


class Upkeep:
    """The upkeep of all logs of a cluster. `topics` is the live view of them; `wake` is called with a partition whose log begins later."""

    def __init__(self, topics: Iterable[Topic], timers: Timers, config: BrokerConfig, wake: Callable[[Partition], None]) -> None:
        self._topics = topics
        self._wake = wake
        self._timers = timers
        self._config = config
        timers.set("log retention", config.integers["log.initial.task.delay.ms"], self._retention_is_due)
        if config.booleans["log.cleaner.enable"]:
            timers.set("log cleaner", config.integers["log.cleaner.backoff.ms"], self._cleaning_is_due)

    def _retention_is_due(self) -> None:
        self._timers.set("log retention", self._config.integers["log.retention.check.interval.ms"], self._retention_is_due)
        self.delete_old()

    def _cleaning_is_due(self) -> None:
        # A backoff of 0 would come up again and again within one moment.
        self._timers.set("log cleaner", max(1, self._config.integers["log.cleaner.backoff.ms"]), self._cleaning_is_due)
        self.compact()

    def delete_old(self) -> None:
        """Deletes what retention.ms and retention.bytes no longer keep, in topics whose policy is to delete."""
        for topic in self._topics:
            if "delete" in topic.config.lists["cleanup.policy"]:
                limits = retention_of(topic.config)
                for partition in topic.partitions:
                    if partition.log.size:
                        self._delete_old(partition, limits)

    def _delete_old(self, partition: Partition, limits: Retention) -> None:
        offset = deletable_before(
            partition.log, partition.virtual_segments, limits, partition.untimed, partition.high_watermark, self._timers.now_ms
        )
        if offset > partition.log.start_offset:
            partition.delete_before(offset)
            self._wake(partition)
            log.info("[UnifiedLog partition=%r] the log starts at %d: older records are beyond retention", partition, offset)

    def compact(self, *, now: bool = False) -> None:
        """Compacts the logs that are dirty enough, in topics whose policy is to compact; with `now` all that have dirty records."""
        for topic in self._topics:
            if "compact" in topic.config.lists["cleanup.policy"]:
                limits = compaction_of(topic.config)
                for partition in topic.partitions:
                    if partition.log.size:
                        self._compact(partition, limits, now)

    def _compact(self, partition: Partition, limits: CompactionLimits, now: bool) -> None:
        stable_end, cleaned_until = partition.last_stable_offset, partition.cleaned_until
        dirty = dirty_part(partition.log, partition.virtual_segments, limits, cleaned_until, stable_end, self._timers.now_ms)
        if dirty and (dirty.due or now):
            before = partition.log.size
            self._rewrite(partition, dirty)
            partition.cleaned_until = dirty.end_offset
            cleaner_log.info("compacted %r up to offset %d: %d of %d bytes", partition, dirty.end_offset, partition.log.size, before)

    def _rewrite(self, partition: Partition, dirty: Dirty) -> None:
        aborted = Aborted(partition.producers.aborted(partition.log.start_offset, dirty.end_offset))
        latest = last_offsets(partition.log.batches(dirty.start_offset, dirty.end_offset), aborted)
        producers, delete_retention_ms = partition.producers.last_records(), partition.topic.config.integers["delete.retention.ms"]
        compactor = Compactor(latest, aborted, dirty.end_offset - 1, producers, self._timers.now_ms, delete_retention_ms)
        views = list(partition.log.batches(partition.log.start_offset, dirty.end_offset))
        left = [compactor.rewrite(view) for view in views]
        if any(one is not view for one, view in zip(left, views, strict=True)):
            partition.log.replace_before(dirty.end_offset, [one for one in left if one is not None])
        partition.producers.forget_ended(compactor.empty_markers)


def retention_of(config: TopicConfig) -> Retention:
    """What a topic keeps."""
    integers = config.integers
    return Retention(integers["retention.ms"], integers["retention.bytes"], segment_bytes(config), integers["segment.ms"])


def compaction_of(config: TopicConfig) -> CompactionLimits:
    """When a topic is compacted. A file ends early enough for what it holds to be compacted in time."""
    max_lag_ms = config.integers["max.compaction.lag.ms"]
    return CompactionLimits(
        config.doubles["min.cleanable.dirty.ratio"],
        config.integers["min.compaction.lag.ms"],
        max_lag_ms,
        segment_bytes(config),
        min(config.integers["segment.ms"], max_lag_ms),
    )


def segment_bytes(config: TopicConfig) -> int:
    """The largest file; tests of Kafka's own use the internal setting, which has no lower bound."""
    return config.integers.get("internal.segment.bytes", config.integers["segment.bytes"])
