"""Compacts logs in the background (Kafka's LogCleaner).

A timer starts a pass at the interval log.cleaner.backoff.ms. A pass looks at every partition of the topics whose cleanup.policy includes
"compact", and rewrites the logs that are dirty enough according to `storage/compaction_schedule.py`. Rewriting one log takes two scans:

1. The dirty part is read for the last offset of each key (`compaction.LastOffsets`).
2. All batches up to the end of the dirty part are rewritten without the superseded records (`compaction.Compactor`). The new batches
   replace the old ones in one step at the end, so that readers see either the old log or the compacted one.

Both scans run in slices of a few hundred records, between which clients are served. A batch is not divided. All inputs are taken when the
scans begin: the end of the dirty part, the aborted transactions below it, the last record of each producer, and the time. Appends in the
meantime do not matter, because they are written after the dirty part. If the log has been deleted, truncated or compacted meanwhile
(`_CleanedState` differs), the work on it is discarded and the next pass starts over. The remaining bytes are copied in slices too.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Iterable, Iterator
from math import inf
from typing import TYPE_CHECKING, NamedTuple

from ...storage.compaction_schedule import CompactionLimits, Dirty, closed_segments, dirty_part, next_due_ms
from ...storage.virtual_segments import VirtualSegments
from ..scheduling.slices import Slices
from ..scheduling.timers import Check, Timers
from ..scheduling.waiting import NEXT_TURN, Background, Wait
from ..settings.values import BrokerConfig
from .names import INTERNAL_TOPICS
from .partition import Partition, Topic
from .retention import Tell, segment_bytes, tell_compacted

if TYPE_CHECKING:
    from ...protocol.batches.records import Buffer
    from ...storage.segments import Segment

log = logging.getLogger("kafka.log.LogCleaner")

COPIED_BYTES = 10 * 1024
"""The bytes whose copy counts as much as a record in a slice."""
INTERNAL_SEGMENT_BYTES = 64 * 1024
"""The largest size of a segment of an internal topic that is not compacted."""


class _CleanedState(NamedTuple):
    """Identifies the contents of a log except for appends: a truncation renews `virtual_segments`, other changes move an offset."""

    start_offset: int
    virtual_segments: VirtualSegments
    cleaned_until: int

    @classmethod
    def of(cls, partition: Partition) -> _CleanedState:
        return cls(partition.log.start_offset, partition.virtual_segments, partition.cleaned_until)


class _DirtyState(NamedTuple):
    """Everything that decides when a log is compacted."""

    log: _CleanedState
    end_offset: int
    stable_end: int
    limits: CompactionLimits


class LogCleaner:
    """The compaction of all logs of a cluster. `topics` is a live view of them; `background` runs a generator slice by slice.

    `tell` adds an event for each partition that has lost records.
    """

    def __init__(
        self, topics: Iterable[Topic], timers: Timers, config: BrokerConfig, background: Callable[[Background], None], tell: Tell
    ) -> None:
        self._topics = topics
        self._tell = tell
        self._timers = timers
        self._background = background
        self._running = False
        # The interval is at least 1 ms, because a timer that sets itself again with a delay of 0 would fire endlessly at the same time.
        self.check = Check(self.start_pass, lambda: max(1, config.integers["log.cleaner.backoff.ms"]), self._next_due_ms)
        if config.booleans["log.cleaner.enable"]:
            timers.set("log cleaner", config.integers["log.cleaner.backoff.ms"], self.check)

    def start_pass(self) -> None:
        self._timers.set("log cleaner", self.check.interval_ms(), self.check)
        if not self._running:
            self._running = True
            work = self._scheduled_pass()
            # The first slice runs at once, so that a pass of one slice is complete when the timer's callback returns.
            if next(work, None) is not None:
                self._background(work)

    def _next_due_ms(self) -> float:
        """Returns the time from which a pass would compact a log. A running pass is not started again."""
        now_ms = self._timers.now_ms
        return inf if self._running else min((_next_due_ms(each, limits, now_ms) for each, limits in self._candidates()), default=inf)

    def _candidates(self) -> Iterator[tuple[Partition, CompactionLimits]]:
        """Yields the partitions of topics whose cleanup.policy includes "compact" that may be dirty, with their limits."""
        for topic in list(self._topics):
            if "compact" in topic.config.lists["cleanup.policy"]:
                limits = compaction_limits(topic)
                yield from ((each, limits) for each in topic.partitions if each.log.end_offset != each.settled_end)

    def _scheduled_pass(self) -> Background:
        try:
            yield from self._pass(now=False)
        finally:
            self._running = False

    def compact(self, *, now: bool = False) -> None:
        """Runs a pass without interruption. With `now`, all logs that have dirty records are compacted, however few they have."""
        for _ in self._pass(now=now):
            pass

    def _pass(self, *, now: bool) -> Background:
        slices = Slices()
        for partition, limits in self._candidates():
            yield from self._compact(partition, limits, slices, now=now)
            if slices.full():
                yield NEXT_TURN

    def _compact(self, partition: Partition, limits: CompactionLimits, slices: Slices, *, now: bool) -> Background:
        if _is_settled(partition, limits):
            return
        now_ms, stable_end = self._timers.now_ms, partition.last_stable_offset
        dirty = dirty_part(partition.log, partition.virtual_segments, limits, partition.cleaned_until, stable_end, now_ms)
        if dirty and (dirty.due or now):
            before = partition.log.size
            if (yield from _rewrite(partition, dirty, now_ms, slices)):
                log.info("compacted %r up to offset %d: %d of %d bytes", partition, dirty.end_offset, partition.log.size, before)
                tell_compacted(self._tell, partition, dirty.end_offset, before)


def _next_due_ms(partition: Partition, limits: CompactionLimits, now_ms: int) -> float:
    """Returns the time from which a partition is dirty enough, which is computed again when the log has changed."""
    state = _DirtyState(_CleanedState.of(partition), partition.log.end_offset, partition.last_stable_offset, limits)
    known = partition.compaction_due
    if known is None or known[0] != state:
        if _is_settled(partition, limits):
            return inf
        log, segments, until = partition.log, partition.virtual_segments, partition.cleaned_until
        known = partition.compaction_due = state, next_due_ms(log, segments, limits, until, state.stable_end, now_ms)
    return known[1]


def _is_settled(partition: Partition, limits: CompactionLimits) -> bool:
    """Returns whether there is nothing to compact before the next append, and notes that in the partition."""
    if closed_segments(partition.log, partition.virtual_segments, limits, partition.cleaned_until):
        return False
    partition.settled_end = partition.log.end_offset
    return True


def _rewrite(partition: Partition, dirty: Dirty, now_ms: int, slices: Slices) -> Generator[Wait, None, bool]:
    """Compacts a log up to the end of its dirty part. Returns False, and leaves the log as it is, if `_CleanedState` has changed."""
    from ...protocol.batches.records import RecordBatch
    from .compaction import Aborted, Compactor, LastOffsets

    state = _CleanedState.of(partition)
    aborted = Aborted(partition.producers.aborted(partition.log.start_offset, dirty.end_offset))
    producers, delete_retention_ms = partition.producers.last_records(), partition.topic.config.integers["delete.retention.ms"]
    latest = LastOffsets(aborted)
    for batch in map(RecordBatch, partition.log.batches(dirty.start_offset, dirty.end_offset)):
        latest.add(batch)
        if slices.full(1 + batch.header.records_count):
            yield NEXT_TURN
            if _CleanedState.of(partition) != state:
                return False
    compactor = Compactor(latest.offsets, aborted, dirty.end_offset - 1, producers, now_ms, delete_retention_ms)
    remaining: list[Buffer] = []
    changed = False
    for batch in map(RecordBatch, partition.log.batches(partition.log.start_offset, dirty.end_offset)):
        rewritten = compactor.rewrite(batch)
        changed |= rewritten is not batch.view
        if rewritten is not None:
            remaining.append(rewritten)
        if slices.full(1 + batch.header.records_count):
            yield NEXT_TURN
            if _CleanedState.of(partition) != state:
                return False
    if changed:
        replacing: list[Segment] = []
        for segment in partition.log.packed(remaining):
            replacing.append(segment)
            if slices.full(segment.end // COPIED_BYTES):
                yield NEXT_TURN
                if _CleanedState.of(partition) != state:
                    return False
        partition.log.replace_by_segments(dirty.end_offset, replacing)
    partition.producers.forget_ended(compactor.empty_markers)
    partition.cleaned_until = dirty.end_offset
    return True


def compaction_limits(topic: Topic) -> CompactionLimits:
    """Returns the limits that a topic's configs set.

    Segments end after max.compaction.lag.ms at the latest, because the records of the active segment are never compacted. In internal
    topics, segments end after INTERNAL_SEGMENT_BYTES, so that memory is in proportion to the groups and transactional ids that exist: Kafka
    keeps up to 100 MiB for each of their partitions, but on disk.
    """
    config = topic.config
    max_lag_ms = config.integers["max.compaction.lag.ms"]
    max_bytes = segment_bytes(config)
    return CompactionLimits(
        config.doubles["min.cleanable.dirty.ratio"],
        config.integers["min.compaction.lag.ms"],
        max_lag_ms,
        min(max_bytes, INTERNAL_SEGMENT_BYTES) if topic.name in INTERNAL_TOPICS else max_bytes,
        min(config.integers["segment.ms"], max_lag_ms),
    )
