"""A topic with its id, configs and partitions, and a partition: a replicated log with its producers, transactions and compaction state."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, NamedTuple

from ...storage.log import Log
from ...storage.producers import Producers
from ...storage.retention import UntimedAppends
from ...storage.virtual_segments import VirtualSegments
from ..settings.values import TopicConfig
from .names import INTERNAL_TOPICS
from .replication import ReplicatedLog

if TYPE_CHECKING:
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ..transactions.transaction import Marker, Producer


Due = tuple[object, float] | None
"""From when on (ms) retention or compaction has something to do, as long as the log is in a state; None if that is not known."""


class ReplicaOffsets(NamedTuple):
    """The offsets of one replica of a partition."""

    end_offset: int
    high_watermark: int
    last_stable_offset: int


class ThrottledCopy(NamedTuple):
    """The copy of `size` bytes of a partition to throttled replicas. `end_ms` is None while the rate of the throttle is 0."""

    size: int
    start_ms: int
    end_ms: int | None

    def bytes_left(self, now_ms: int) -> int:
        """Returns the number of bytes that have not been copied yet."""
        if self.end_ms is None or now_ms <= self.start_ms:
            return self.size
        return self.size * max(0, self.end_ms - now_ms) // max(1, self.end_ms - self.start_ms)


@cache
def _record_builder() -> ModuleType:
    """Returns `protocol.batches.record_builder`."""
    from ...protocol.batches import record_builder

    return record_builder


class Partition(ReplicatedLog):
    """One partition of a topic. `replicas` are all nodes of the partition, `isr` those that are in sync at the start."""

    __slots__ = (
        "cleaned_until",
        "compaction_due",
        "copy",
        "deletion_due",
        "index",
        "producers",
        "settled_end",
        "topic",
        "untimed",
        "virtual_segments",
    )

    def __init__(self, topic: Topic, index: int, replicas: Sequence[int], isr: Iterable[int], leader_epoch: int = 0) -> None:
        self.topic = topic
        super().__init__(replicas, isr, topic.new_log(), leader_epoch)
        self.index = index
        self.copy: ThrottledCopy | None = None
        """The copy to replicas that a reassignment adds, if it is throttled."""
        self.virtual_segments, self.untimed = VirtualSegments(), UntimedAppends()
        self.cleaned_until = 0  # the offset up to which the log is compacted
        self.settled_end = -1  # the end offset at which no closed segment was dirty, so that the log cleaner need not look again
        self.deletion_due: Due = None
        self.compaction_due: Due = None
        self.producers = Producers(topic.config.broker.integers["producer.id.expiration.ms"])
        self.update_held_offset()

    def __repr__(self) -> str:
        return f"{self.topic.name}-{self.index}"

    @property
    def last_stable_offset(self) -> int:
        """The end of the records that read_committed returns: the start of the first open transaction, else the high watermark."""
        if self.held_offset is not None:
            return self.last_stable_offset_before(self.high_watermark)
        open_since = self.producers.open
        return max(next(iter(open_since.values())), self.log.start_offset) if open_since else self.log.end_offset

    def last_stable_offset_before(self, high_watermark: int) -> int:
        """Returns the last stable offset for a high watermark before the end of the log, or for the older one that a follower knows.

        A transaction whose marker is beyond the high watermark is not stable (ProducerStateManager.firstUnstableOffset).
        """
        first_open_offset = self.producers.first_undecided_before(high_watermark)
        return high_watermark if first_open_offset is None else min(max(first_open_offset, self.log.start_offset), high_watermark)

    def offsets_of(self, node_id: int) -> ReplicaOffsets:
        """Returns the offsets that one replica knows. A follower that lags knows older ones than the leader (KIP-392)."""
        if node_id == self.leader or (self.held_offset is None and node_id not in self.lagging):
            return ReplicaOffsets(self.log.end_offset, self.high_watermark, self.last_stable_offset)
        known = self.known_high_watermark(node_id)
        return ReplicaOffsets(self.position(node_id), known, self.last_stable_offset_before(known))

    @property
    def min_isr(self) -> int:
        """The number of in-sync replicas that acks=all requires (Kafka's `Partition.effectiveMinIsr`)."""
        return min(self.topic.config.integers["min.insync.replicas"], len(self.replicas))

    @property
    def allows_unclean_election(self) -> bool:
        """Whether the topic's configs allow a replica that lacks records to become leader."""
        return self.topic.config.booleans["unclean.leader.election.enable"]

    def append_records(self, records: Iterable[CoordinatorRecord], now_ms: int, producer: Producer | None) -> None:
        """Appends a coordinator's records as one batch, which is part of the producer's transaction if there is a producer.

        Coordinators do not count sequence numbers, so each of their batches starts at 0 (Kafka's AppendOrigin.COORDINATOR).
        Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
        builder = _record_builder()
        rows = [builder.Record(offset, now_ms, record.key, record.value, []) for offset, record in enumerate(records)]
        if producer is None:
            self.log.append(memoryview(builder.build_batch(rows)), self.leader_epoch, owned=True)
            return
        self.producers.check_epoch(*producer)
        batch = builder.build_batch(rows, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0, is_transactional=True)
        base_offset, last = self.log.append(memoryview(batch), self.leader_epoch, owned=True), len(rows) - 1
        self.producers.record(*producer, 0, last, base_offset, base_offset + last, now_ms, now_ms, transactional=True)

    def append_marker(self, marker: Marker, now_ms: int) -> None:
        """Ends a producer's transaction in this partition.

        Raises StaleProducerEpoch or StaleCoordinatorEpoch if the partition has already accepted a newer epoch.
        """
        id_and_epochs = (*marker.producer, marker.coordinator_epoch)
        self.producers.check_marker(*id_and_epochs, raises_epoch=marker.raises_epoch)
        batch = _record_builder().build_marker(*id_and_epochs, now_ms, committed=marker.committed)
        offset = self.log.append(memoryview(batch), self.leader_epoch, owned=False)
        self.producers.end_transaction(*id_and_epochs, offset, now_ms, committed=marker.committed)

    def delete_before(self, offset: int) -> None:
        """Moves the start of the log to `offset`, and drops the transactions that ended before it."""
        self.log.delete_before(offset)
        self.producers.delete_before(self.log.start_offset)
        self.untimed.delete_before(self.log.start_offset)

    @property
    def silent_nodes(self) -> Collection[int]:
        """The nodes that do not fetch, because they are stopped, paused or isolated."""
        return self.topic.silent_nodes

    def elect(self, leader: int) -> None:
        """Makes a node the leader, and tells the cluster."""
        super().elect(leader)
        self.topic.on_leader_change(self)

    def discard_descriptions(self) -> None:
        """Discards the encoded descriptions of the topic."""
        self.topic.changed()

    def truncate_to(self, offset: int) -> None:
        """Drops the records from `offset` on, because the new leader does not have them."""
        self.log.truncate_to(offset)
        self.producers.truncate_to(offset)
        self.virtual_segments, self.cleaned_until = VirtualSegments(), min(self.cleaned_until, offset)
        self.settled_end = -1


class Topic:
    """A topic. `topic_id` has 16 bytes; `new_log` makes the logs of the partitions.

    `silent_nodes` is a live view of the nodes that do not fetch, because they are stopped, paused or isolated.
    """

    def __init__(
        self,
        name: str,
        topic_id: bytes,
        config: TopicConfig,
        new_log: Callable[[], Log] = Log,
        silent_nodes: Collection[int] = frozenset(),
    ) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.new_log = new_log
        self.silent_nodes = silent_nodes
        self.partitions: list[Partition] = []
        self.on_leader_change: Callable[[Partition], None] = lambda _: None
        """Called after each change of the leader of a partition."""
        self.on_change: Callable[[Topic], None] = lambda _: None
        """Called after each change of the partitions, their replicas and leaders, and the settings."""
        self.descriptions: dict[Hashable, tuple[bytes, ...]] = {}
        """The encoded topic for Metadata (`topic_descriptions.py`). Each change of what Metadata contains replaces the dictionary."""

    @property
    def is_internal(self) -> bool:
        """Whether Kafka stores its own state in the topic."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """Returns the partition with this index; None if the topic has fewer partitions or the index is negative."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def add_partitions(self, partitions: Sequence[Partition]) -> None:
        """Adds the partitions that follow the present ones."""
        self.partitions += partitions
        self.changed()

    def changed(self) -> None:
        """Discards the encoded descriptions, and tells the cluster."""
        self.descriptions = {}
        self.on_change(self)
