"""Carries out the decisions of the transaction coordinator: producer ids, its records in `__transaction_state`, and transaction markers.

In Kafka, ProducerIdManager generates the ids, TransactionStateManager writes the records, and TransactionMarkerChannelManager sends the
markers to other brokers. Idle producers expire as in Kafka's ProducerStateManager.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from ...storage.producers import StaleCoordinatorEpoch, StaleProducerEpoch
from ..scheduling.timers import Check, Timers
from ..settings.values import BrokerConfig
from ..topics.names import CONSUMER_OFFSETS, TRANSACTION_STATE
from ..topics.partition import Partition
from ..topics.replication import NO_LEADER
from ..topics.topics import Topics
from .coordinator_log import CoordinatorLog
from .features import TRANSACTION_VERSION, Features

if TYPE_CHECKING:
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ..groups.coordinator import Groups
    from ..transactions.transaction import Marker, Producer, TopicPartition

_TIMER = "producer expiration"


class ProducerIds:
    """Generates producer ids, and removes expired producer state from `partitions`. The timer runs while any partition has such state."""

    def __init__(self, timers: Timers, config: BrokerConfig, partitions: Callable[[], Iterable[Partition]]) -> None:
        self._timers, self._partitions = timers, partitions
        self.next_id = 0
        self.check = Check(self.expire, lambda: config.integers["producer.id.expiration.check.interval.ms"], self._next_due_ms)

    def generate(self) -> int:
        """Returns a producer id that was never used before."""
        if _TIMER not in self._timers:
            self._set_timer()
        self.next_id += 1
        return self.next_id - 1

    def continue_from(self, former: ProducerIds) -> None:
        """Leaves out the ids that the cluster before has generated."""
        self.next_id = max(self.next_id, former.next_id)

    def _set_timer(self) -> None:
        self._timers.set(_TIMER, self.check.interval_ms(), self.check)

    def _next_due_ms(self) -> float:
        """Returns when a state expires, 0 if none is left, so that the timer ends."""
        used = [partition.producers for partition in self._partitions() if len(partition.producers)]
        return min((producers.next_expiry_ms() for producers in used), default=0)

    def expire(self) -> None:
        for partition in self._partitions():
            partition.producers.expire(self._timers.now_ms)
        if any(len(partition.producers) for partition in self._partitions()):
            self._set_timer()


class TransactionLog:
    """Implements the protocol `transactions.cluster_view.ClusterView` for the transaction coordinator."""

    def __init__(
        self,
        timers: Timers,
        topics: Topics,
        coordinator_log: CoordinatorLog,
        features: Features,
        producer_ids: ProducerIds,
        groups: Callable[[], Groups],
        wake: Callable[[Partition], None],
    ) -> None:
        self._timers, self._topics, self._features, self._producer_ids = timers, topics, features, producer_ids
        self._coordinator_log, self._groups, self._wake = coordinator_log, groups, wake
        self.uncommitted: dict[tuple[TopicPartition, Producer], int] = {}
        """The markers that were above the high watermark when they were written, with the end of the log after them."""

    @property
    def transaction_version(self) -> int:
        """The finalized level of the feature transaction.version."""
        return self._features.level(TRANSACTION_VERSION)

    def next_producer_id(self) -> int:
        """Returns a producer id that was never used before."""
        return self._producer_ids.generate()

    def coordinator_epoch(self, transactional_id: str) -> int | None:
        """Returns the leader epoch of the partition that coordinates a transactional id; None while it has no leader."""
        partition = self._coordinator_log.partition(transactional_id, TRANSACTION_STATE)
        return None if partition is None or partition.leader == NO_LEADER else partition.leader_epoch

    def write_transaction(self, transactional_id: str, record: CoordinatorRecord) -> None:
        """Appends a record to the transactional id's partition of `__transaction_state`."""
        self._coordinator_log.append(transactional_id, TRANSACTION_STATE, [record])

    def write_marker(self, partition: TopicPartition, marker: Marker) -> bool:
        """Ends a transaction in one partition. Returns False if that is not complete, so that this must be called again later.

        It is not complete while the partition has no leader, and while the marker is above the high watermark, because an election may
        still drop it. A partition that has been deleted, or that has accepted a newer epoch, needs no marker.
        """
        found = self._topics.find_partition(partition.topic, partition.partition)
        if found is not None and found.leader == NO_LEADER:
            return False
        key = (partition, marker.producer)
        written = self.uncommitted.pop(key, None)
        if found is None:
            return True
        if written is None or not _has_marker(found, marker, written):
            try:
                self.end_transaction(found, marker)
            except (StaleProducerEpoch, StaleCoordinatorEpoch):
                return True
            written = found.log.end_offset
        if found.high_watermark < written:
            self.uncommitted[key] = written
            return False
        return True

    def end_transaction(self, partition: Partition, marker: Marker) -> None:
        """Appends a marker to a partition that has a leader.

        A marker in `__consumer_offsets` also commits or drops the offsets that groups wrote in the transaction. Raises
        StaleProducerEpoch or StaleCoordinatorEpoch if the partition has already accepted a newer epoch.
        """
        partition.append_marker(marker, self._timers.now_ms)
        self._wake(partition)
        if partition.topic.name == CONSUMER_OFFSETS:
            offsets = self._groups().offsets
            for group_id in offsets.groups_in_transaction(marker.producer.id):
                if self._coordinator_log.partition(group_id, CONSUMER_OFFSETS) is partition:
                    offsets.end_transaction(group_id, marker.producer.id, committed=marker.committed)


def _has_marker(partition: Partition, marker: Marker, end_offset: int) -> bool:
    """Returns whether a marker still ends at an offset, because an election may have truncated it, also with the whole transaction."""
    from ...protocol.batches.records import read_header

    log = partition.log
    if not log.start_offset < end_offset <= log.end_offset:
        return end_offset <= log.start_offset
    batch = next(log.batches(end_offset - 1, log.end_offset), None)
    header = None if batch is None else read_header(batch)
    return header is not None and header.is_control and header.producer_id == marker.producer.id
