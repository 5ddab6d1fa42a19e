"""Plans the batches of one streaming query: where it starts, where each batch ends, and which changes of the logs are losses of data.

This module does not need Spark. The state of a query consists of the offsets that Spark passes back from its checkpoint, and of two values
that must not be fetched twice: where the query began, and where it ends with Trigger.AvailableNow.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable
from typing import TypeAlias

from ..protocol.client.connection import TopicPartition
from .client import BACKOFF_MS, EARLIEST, LATEST, KafkaClient, RetryTimer, client_for
from .error_conditions import (
    KafkaCondition,
    added_partition_starts_late,
    initial_offsets_not_found,
    offset_changed,
    partitions_deleted,
    set_of,
)
from .offset_ranges import OffsetRange, assigned_partitions, resolve
from .source_options import ReadOptions
from .trigger_options import TriggerOptions, limit_ends

Ends: TypeAlias = dict[TopicPartition, int]
logger = logging.getLogger("odradek.spark_sink")


class StreamOffsets:
    """The offsets of one streaming query. Spark pickles it to the workers with its reader, so it holds no connection."""

    def __init__(self, options: ReadOptions, trigger: TriggerOptions, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` returns seconds."""
        self._options, self._trigger, self._clock = options, trigger, clock
        self._initial: Ends | None = None
        self._target: Ends | None = None
        self._last_batch_at: float | None = None
        self.latest_seen: Ends | None = None

    def initial(self) -> Ends:
        """Returns where a new query starts, the same on every call. Raises AssertionError, KafkaError, OSError, ValueError."""
        if self._initial is None:
            bound, partitions = self._options.starting, self._partitions()
            if isinstance(bound, dict) and bound.keys() != set(partitions):
                raise AssertionError(
                    "assertion failed: If startingOffsets contains specific offsets, you must specify all TopicPartitions. "
                    f"Use -1 for latest, -2 for earliest, if you don't care. Specified: {set_of(bound)} Assigned: {set_of(partitions)}"
                )
            self._initial = resolve(self._client(), partitions, bound)
        return self._initial

    def stop_at_present_end(self) -> None:
        """Makes the present ends of the logs the end of the query."""
        self._target = self._ends({})

    def next_end(self, start: Ends | None, *, everything: bool) -> Ends:
        """Returns the end of the batch that begins at `start`; `start` itself means that no batch is run now.

        The limits do not apply when `start` is unknown (None) or `everything` is set. Raises KafkaError, OSError.
        """
        ends = self._target if self._target is not None else self._ends(start or {})
        self.latest_seen = ends
        if start is None or everything:
            return ends
        starts = start | self._earliest(ends.keys() - start.keys())
        if self._target is None and self._too_few(starts, ends):
            return start
        return ends if self._trigger.max_offsets is None else limit_ends(starts, ends, self._trigger.max_offsets)

    def _ends(self, known: Ends) -> Ends:
        """Returns the ends of all assigned logs.

        An end before a `known` offset is fetched again until the settling time is over, because a broker that has just become leader may
        not report its whole log yet.
        """
        client, retry_timer = self._client(), RetryTimer(self._options.client.settling_ms)
        while True:
            ends = client.list_offsets(dict.fromkeys(self._partitions(), LATEST))
            if retry_timer.over or all(ends.get(partition, -1) >= offset for partition, offset in known.items()):
                return ends
            client.forget_leaders()
            time.sleep(BACKOFF_MS / 1000)

    def _too_few(self, starts: Ends, ends: Ends) -> bool:
        """Returns whether to wait for minOffsetsPerTrigger: never before the first batch, and at most for maxTriggerDelay."""
        now, least = self._clock(), self._trigger.min_offsets
        if least is None:
            return False
        waiting = self._last_batch_at is not None and (now - self._last_batch_at) * 1000 < self._trigger.max_delay_ms
        if waiting and sum(max(end - starts[partition], 0) for partition, end in ends.items()) < least:
            return True
        self._last_batch_at = now
        return False

    def ranges(self, start: Ends, end: Ends) -> list[OffsetRange]:
        """Returns the ranges that a batch reads. Raises KafkaCondition for a loss of data with failOnDataLoss, KafkaError, OSError."""
        starts = start | self._starts_of_new(end.keys() - start.keys())
        if gone := start.keys() - end.keys():
            self._report_loss(partitions_deleted(gone))
        ranges = [OffsetRange(partition, starts[partition], end[partition]) for partition in sorted(end) if partition in starts]
        for one in ranges:
            if one.size < 0:
                self._report_loss(offset_changed(*one))
        return [one for one in ranges if one.size > 0]

    def _starts_of_new(self, partitions: Iterable[TopicPartition]) -> Ends:
        """Returns the first offsets of partitions that the previous batch did not have."""
        new = set(partitions)
        if not new:
            return {}
        found = self._earliest(new.intersection(self._partitions()))
        if missing := new - found.keys():
            self._report_loss(initial_offsets_not_found(missing))
        for partition, offset in sorted(found.items()):
            if offset:
                self._report_loss(added_partition_starts_late(partition, offset))
        return found

    def _report_loss(self, loss: KafkaCondition) -> None:
        if self._options.fail_on_data_loss:
            raise loss
        logger.warning("%s", loss)

    def _earliest(self, partitions: Iterable[TopicPartition]) -> Ends:
        return self._client().list_offsets(dict.fromkeys(partitions, EARLIEST))

    def _partitions(self) -> list[TopicPartition]:
        return assigned_partitions(self._client(), self._options.subscription)

    def _client(self) -> KafkaClient:
        return client_for(self._options.client)
