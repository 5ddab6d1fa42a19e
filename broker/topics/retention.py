"""Deletes records beyond retention.ms and retention.bytes at intervals (Kafka's LogManager.cleanupLogs).

`storage/retention.py` decides which records of one log may be deleted; this module applies that to all topics.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable

from ...storage.retention import Retention, deletable_before
from ..scheduling.timers import Timers
from ..settings.values import BrokerConfig, TopicConfig
from .partition import Partition
from .removed_records import Removed, Tell, tell_removed
from .topic import Topic

log = logging.getLogger("kafka.log.LogManager")


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
        self._config = config
        self._schedule(config.integers["log.initial.task.delay.ms"])

    def _schedule(self, delay_ms: int) -> None:
        self._timers.set("log retention", delay_ms, self.run)

    def run(self) -> None:
        self._schedule(self._config.integers["log.retention.check.interval.ms"])
        self.delete_expired()

    def delete_expired(self) -> None:
        """Deletes the records beyond retention in topics whose cleanup.policy includes "delete"."""
        for topic in self._topics:
            if "delete" in topic.config.lists["cleanup.policy"]:
                limits = retention_limits(topic.config)
                found = [self._delete_expired(partition, limits) for partition in topic.partitions if partition.log.size]
                removed = [each for each in found if each is not None]
                tell_removed(self._tell, "expired", removed, "older records are beyond retention.ms or retention.bytes")

    def _delete_expired(self, partition: Partition, limits: Retention) -> Removed | None:
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


def retention_limits(config: TopicConfig) -> Retention:
    """Returns the limits that a topic's configs set."""
    integers = config.integers
    return Retention(integers["retention.ms"], integers["retention.bytes"], segment_bytes(config), integers["segment.ms"])


def segment_bytes(config: TopicConfig) -> int:
    """Returns the size at which a segment of the topic ends.

    internal.segment.bytes takes precedence, because Kafka uses it where segments must be smaller than segment.bytes allows.
    """
    return config.integers.get("internal.segment.bytes", config.integers["segment.bytes"])
