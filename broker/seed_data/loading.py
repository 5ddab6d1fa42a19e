"""Writes seed data into a cluster, before it accepts connections."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import count
from pathlib import Path

from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import Record
from ...protocol.errors import KafkaError
from ...protocol.messages.produce import PRODUCE
from ..api.context import Client, Context
from ..appending.append import append
from ..appending.error_codes import APPEND_REFUSALS, partition_error_of
from ..cluster.startup_topics import check_topics
from ..cluster.state import ClusterState
from ..kafka_quirks.java_hash import partition_of
from ..settings.cluster_config import TopicSpec
from ..settings.properties import InvalidConfig
from ..topics.partition import Partition
from ..transactions.transaction import Marker, Producer
from .entries import SeedRecord, SeedTopic
from .reading import read_entries

BATCH_RECORDS, BATCH_BYTES = 500, 256 * 1024
Entry = tuple[str, SeedTopic | SeedRecord]


def load_files(cluster: ClusterState, files: Iterable[Path], on_bytes: Callable[[int], object] | None = None) -> None:
    """Loads the entries of files. `on_bytes` is called with the numbers of bytes that have been read. Raises InvalidConfig."""
    load(cluster, read_entries(files, on_bytes))


def load(cluster: ClusterState, entries: Iterable[Entry]) -> None:
    """Creates the topics and writes the records of seed data in order. A topic without an entry is created with the defaults.

    Consecutive records of one partition are written as one batch, and those of a transaction with its marker. Raises InvalidConfig, which
    names the place of the entry, if the cluster would refuse it from a client.
    """
    writer = _Writer(cluster)
    for place, entry in entries:
        if isinstance(entry, SeedTopic):
            writer.create(place, entry)
        else:
            writer.write(place, entry)
    writer.flush()


class _Writer:
    """Collects the records of each partition and writes them in batches."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._turns = count()
        self._waiting: dict[Partition, list[SeedRecord]] = {}
        self._bytes = 0
        self._place = ""

    def create(self, place: str, topic: SeedTopic) -> None:
        if topic.name in self._cluster.topics:
            return
        try:
            spec = TopicSpec(topic.name, topic.partitions, topic.replication_factor, topic.configs)
            check_topics([spec], len(self._cluster.brokers))
            self._cluster.topics.create(topic.name, topic.partitions, topic.replication_factor, configs=topic.configs)
        except InvalidConfig as error:
            raise InvalidConfig(f"{place}: {error}") from None
        except KafkaError as error:
            raise InvalidConfig(f"{place}: topic {topic.name}: {error.message or error.code.name}") from None

    def write(self, place: str, record: SeedRecord) -> None:
        self.create(place, SeedTopic(record.topic, -1, -1, {}))
        self._place = place
        partition = self._partition(place, record)
        waiting = self._waiting.setdefault(partition, [])
        if waiting and waiting[0].transaction != record.transaction:
            self._append(partition)
            waiting = self._waiting.setdefault(partition, [])
        waiting.append(record)
        self._bytes += len(record.key or b"") + len(record.value or b"")
        if len(waiting) == BATCH_RECORDS or self._bytes >= BATCH_BYTES:
            self.flush()

    def flush(self) -> None:
        """Writes all records that were collected."""
        for partition in list(self._waiting):
            self._append(partition)
        self._bytes = 0

    def _partition(self, place: str, record: SeedRecord) -> Partition:
        partitions = self._cluster.topics[record.topic].partitions
        index = record.partition
        if index is None:
            index = next(self._turns) % len(partitions) if record.key is None else partition_of(record.key, len(partitions))
        if not 0 <= index < len(partitions):
            raise InvalidConfig(f"{place}: partition: {record.topic} has the partitions 0 to {len(partitions) - 1}, not {index}")
        return partitions[index]

    def _append(self, partition: Partition) -> None:
        records = self._waiting.pop(partition)
        now_ms = self._cluster.timers.now_ms
        rows = [
            Record(number, now_ms if each.timestamp is None else each.timestamp, each.key, each.value, list(each.headers))
            for number, each in enumerate(records)
        ]
        if (state := records[0].transaction) is not None:
            self._append_transaction(partition, rows, state)
            return
        leader = self._cluster.brokers[partition.leader]
        batch = memoryview(build_batch(rows))
        context = Context(max(PRODUCE.versions), Client("", "seed data", 0), self._cluster, leader, batch, True, None)
        try:
            append(partition, batch, 1, None, context)
        except APPEND_REFUSALS as error:
            refusal = partition_error_of(error)
            raise InvalidConfig(f"{self._place}: {partition} refused the records: {refusal.message or refusal.code.name}") from None

    def _append_transaction(self, partition: Partition, rows: list[Record], state: str) -> None:
        """Appends a transaction of a producer of its own, and the marker unless it is open."""
        now_ms = self._cluster.timers.now_ms
        producer = Producer(self._cluster.producer_ids.generate(), 0)
        last = len(rows) - 1
        batch = build_batch(rows, producer_id=producer.id, producer_epoch=producer.epoch, base_sequence=0, is_transactional=True)
        base_offset = partition.log.append(memoryview(batch), partition.leader_epoch, owned=True)
        partition.producers.record(*producer, 0, last, base_offset, base_offset + last, rows[-1].timestamp, now_ms, transactional=True)
        if state != "open":
            partition.append_marker(Marker(producer, 0, state == "committed", raises_epoch=False), now_ms)
