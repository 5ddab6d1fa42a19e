"""Topics and their partitions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from ...protocol.coordinator_records import CoordinatorRecord
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.record_builder import build_batch, build_marker
from ...protocol.records import Record
from ...storage.memory import LogMemory
from ...storage.producers import Producers
from ...storage.retention import UntimedAppends
from ...storage.virtual_segments import VirtualSegments
from ..settings.values import TopicConfig
from ..transactions.transaction import Marker, Producer
from .replication import ReplicatedLog

MAX_NAME_LENGTH = 249
CONSUMER_OFFSETS = "__consumer_offsets"
TRANSACTION_STATE = "__transaction_state"
INTERNAL_TOPICS = frozenset({CONSUMER_OFFSETS, TRANSACTION_STATE, "__share_group_state"})
_LEGAL_NAME = re.compile(r"[a-zA-Z0-9._-]+")


class Partition(ReplicatedLog):
    """One partition: a log with its replicas, and what is known of the records in it."""

    __slots__ = ("cleaned_until", "index", "producers", "topic", "untimed", "virtual_segments")

    def __init__(self, topic: Topic, index: int, replicas: Sequence[int], isr: Iterable[int]) -> None:
        super().__init__(replicas, isr, topic.memory)
        self.topic = topic
        self.index = index
        self.virtual_segments, self.untimed = VirtualSegments(), UntimedAppends()
        self.cleaned_until = 0  # the offset up to which the log is compacted
        self.producers = Producers(topic.config.broker.integers["producer.id.expiration.ms"])
        self.hold_high_watermark()

    def __repr__(self) -> str:
        return f"{self.topic.name}-{self.index}"

    @property
    def last_stable_offset(self) -> int:
        """Where the first open transaction begins, the high watermark if none is: how far read_committed reads."""
        first_open_offset = self.producers.first_open_offset
        if first_open_offset is None:
            return self.high_watermark
        return min(max(first_open_offset, self.log.start_offset), self.high_watermark)

    @property
    def min_isr(self) -> int:
        """How many in-sync replicas acks=all demands (Kafka's `Partition.effectiveMinIsr`)."""
        return min(self.topic.config.integers["min.insync.replicas"], len(self.replicas))

    @property
    def allows_unclean_election(self) -> bool:
        """Whether the topic's config lets a replica lead that lacks records."""
        return self.topic.config.booleans["unclean.leader.election.enable"]

    def append_records(self, records: Iterable[CoordinatorRecord], now_ms: int, producer: Producer | None) -> None:
        """Appends what a coordinator has to say, as one batch. With a producer it is part of its transaction.

        A coordinator knows no sequence numbers: each of its batches begins at 0 (Kafka's AppendOrigin.COORDINATOR).
        Raises StaleProducerEpoch.
        """
        rows = [Record(offset, now_ms, record.key, record.value, []) for offset, record in enumerate(records)]
        if producer is None:
            self.log.append(memoryview(build_batch(rows)), self.leader_epoch, owned=True)
            return
        self.producers.check_epoch(*producer)
        batch = build_batch(rows, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0, is_transactional=True)
        base_offset, last = self.log.append(memoryview(batch), self.leader_epoch, owned=True), len(rows) - 1
        self.producers.record(*producer, 0, last, base_offset, base_offset + last, now_ms, now_ms, transactional=True)

    def append_marker(self, marker: Marker, now_ms: int) -> None:
        """Ends a producer's transaction here. Raises StaleProducerEpoch and StaleCoordinatorEpoch for a marker that comes too late."""
        id_and_epochs = (*marker.producer, marker.coordinator_epoch)
        self.producers.check_marker(*id_and_epochs, raises_epoch=marker.raises_epoch)
        batch = build_marker(*id_and_epochs, now_ms, committed=marker.committed)
        offset = self.log.append(memoryview(batch), self.leader_epoch, owned=False)
        self.producers.end_transaction(*id_and_epochs, offset, now_ms, committed=marker.committed)

    def delete_before(self, offset: int) -> None:
        """Moves the log's start up to `offset`; transactions that ended before it are forgotten."""
        self.log.delete_before(offset)
        self.producers.delete_before(self.log.start_offset)
        self.untimed.delete_before(self.log.start_offset)

    def truncate_to(self, offset: int) -> None:
        """Drops what is at and behind `offset`, because the new leader does not have it."""
        self.log.truncate_to(offset)
        self.producers.truncate_to(offset)
        self.virtual_segments, self.cleaned_until = VirtualSegments(), min(self.cleaned_until, offset)


class Topic:
    """A topic: its id (16 bytes), configs and partitions. `memory` counts what their logs take, where that is limited."""

    def __init__(self, name: str, topic_id: bytes, config: TopicConfig, memory: LogMemory | None = None) -> None:
        self.name = name
        self.id = topic_id
        self.config = config
        self.memory = memory
        self.partitions: list[Partition] = []

    @property
    def is_internal(self) -> bool:
        """Whether Kafka made it for itself."""
        return self.name in INTERNAL_TOPICS

    def partition(self, index: int) -> Partition | None:
        """The partition of that index, if there is one."""
        return self.partitions[index] if 0 <= index < len(self.partitions) else None

    def add_partitions(self, assignments: Iterable[Sequence[int]], running: Iterable[int]) -> None:
        """Adds a partition for each list of replicas; those on running nodes are in sync."""
        for replicas in assignments:
            self.partitions.append(Partition(self, len(self.partitions), replicas, [node for node in replicas if node in running]))


def illegal_name(name: str) -> str | None:
    """What is wrong with a topic's name, if anything (Kafka's `Topic.validate`)."""
    if not name:
        return "the empty string is not allowed"
    if name in (".", ".."):
        return f"'{name}' is not allowed"
    if len(name) > MAX_NAME_LENGTH:
        return f"the length of '{name}' is longer than the max allowed length {MAX_NAME_LENGTH}"
    if not _LEGAL_NAME.fullmatch(name):
        return f"'{name}' contains one or more characters other than ASCII alphanumerics, '.', '_' and '-'"
    return None


def metric_name(name: str) -> str:
    """The name under which Kafka's metrics show a topic: they do not tell '.' from '_'."""
    return name.replace(".", "_")


def check_name(name: str, existing: Mapping[str, str]) -> None:
    """Raises INVALID_TOPIC_EXCEPTION for an illegal name, or one that Kafka's metrics could not tell from another.

    `existing` maps the metric names of the topics that exist to their names, so that the check costs one look-up.
    """
    if reason := illegal_name(name):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic name is invalid: {reason}")
    if other := existing.get(metric_name(name)):
        raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION, f"Topic '{name}' collides with existing topic: {other}")
