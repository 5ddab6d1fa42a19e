"""The topic `_schemas`, in which a registry keeps everything: reading what is new in it, and appending to it.

The topic is an ordinary one, so that snapshots, saved states and other registries have the same schemas. Its records are applied to the
index before each request. If the log is another one than before, because a state was restored, or was truncated by an election, the index
is built anew.

Changes are collected while a request is served, and appended as one batch when nothing can be refused any more.
"""

from __future__ import annotations

import logging
from collections.abc import Callable

from ...protocol.batches.record_builder import build_batch
from ...protocol.batches.records import Record, RecordBatch
from ...protocol.errors import KafkaError
from ...protocol.messages.produce import PRODUCE
from ...storage.log import Log
from ..api.context import Client, Context
from ..appending.append import ALL_REPLICAS, append
from ..appending.error_codes import APPEND_REFUSALS, partition_error_of
from ..cluster.state import ClusterState
from ..topics.partition import Partition
from .errors import RegistryError, schema_too_large, store_error
from .index import SchemaIndex
from .records import SchemaTopicRecord
from .stored_records import InvalidRecord

log = logging.getLogger("odradek.schema_registry")

MAX_REPLICAS = 3
"""The replicas that Confluent's registry asks for (kafkastore.topic.replication.factor); there are fewer if there are fewer nodes."""
_NO_LOG = Log()


class SchemaTopic:
    """The topic of a registry, whose name is `name`, and the index of its records."""

    def __init__(self, cluster: Callable[[], ClusterState], name: str) -> None:
        self._cluster = cluster
        self.name = name
        self.index = SchemaIndex()
        self._log = _NO_LOG
        self._position = 0
        self._epoch = -1
        self._unwritten: list[SchemaTopicRecord] = []

    @property
    def now_ms(self) -> int:
        """The cluster's time."""
        return self._cluster().timers.now_ms

    @property
    def cluster_id(self) -> str:
        """The id of the cluster."""
        return self._cluster().cluster_id

    def random_bits(self, count: int) -> int:
        """Returns a random number of `count` bits, reproducible in a cluster with a seed."""
        return self._cluster().random.getrandbits(count)

    def catch_up(self) -> None:
        """Applies the records that were appended since the last call, and forgets the changes that were not appended."""
        self._unwritten.clear()
        topic = self._cluster().topics.get(self.name)
        present = _NO_LOG if topic is None else topic.partitions[0].log
        if present is not self._log or self._is_truncated(present):
            self.index, self._log, self._position = SchemaIndex(), present, 0
        if self._position < present.end_offset:
            for batch in present.batches(max(self._position, present.start_offset), present.end_offset):
                self._apply(RecordBatch(batch))
            self._position = present.end_offset
            self._epoch = present.epoch_at(present.end_offset - 1)

    def _is_truncated(self, present: Log) -> bool:
        end = present.end_offset_for_epoch(self._epoch)[1] if self._position else 0
        return 0 <= end < self._position

    def _apply(self, batch: RecordBatch) -> None:
        if batch.header.is_control:
            return
        for record in batch.records():
            if record.offset >= self._position:
                try:
                    self.index.apply(record.key, record.value, record.timestamp)
                except InvalidRecord as error:
                    log.warning("ignoring the record at offset %d of %s: %s", record.offset, self.name, error)

    @property
    def has_changes(self) -> bool:
        """Whether there are records to append."""
        return bool(self._unwritten)

    def write(self, *records: SchemaTopicRecord) -> None:
        """Adds records to those that `commit` appends."""
        self._unwritten += records

    def commit(self) -> None:
        """Appends the records that were written. Creates the topic if it does not exist.

        Raises RegistryError, and appends nothing, if the cluster refuses them.
        """
        records, self._unwritten = self._unwritten, []
        if not records:
            return
        partition = self._partition()
        leader = self._cluster().brokers.get(partition.leader)
        if leader is None:
            raise store_error(f"Error while writing to the Kafka store: {partition} has no leader")
        now_ms = self.now_ms
        batch = build_batch(Record(number, now_ms, record.key, record.value, []) for number, record in enumerate(records))
        context = Context(max(PRODUCE.versions), Client("", "schema-registry", 0), self._cluster(), leader, memoryview(batch), True, None)
        try:
            append(partition, memoryview(batch), ALL_REPLICAS, None, context)
        except APPEND_REFUSALS as error:
            raise _refusal(error) from None

    def _partition(self) -> Partition:
        cluster = self._cluster()
        if self.name not in cluster.topics:
            replicas = min(MAX_REPLICAS, sum(broker.running for broker in cluster.brokers.values()))
            try:
                cluster.topics.create(self.name, 1, replicas, configs={"cleanup.policy": "compact"})
            except KafkaError as error:
                raise store_error(f"Error while creating the topic {self.name}: {error.message or error.code.name}") from None
        return cluster.topics[self.name].partitions[0]


def _refusal(error: Exception) -> RegistryError:
    refused = partition_error_of(error)
    if refused.code.name in ("MESSAGE_TOO_LARGE", "RECORD_LIST_TOO_LARGE"):
        return schema_too_large()
    return store_error(f"Register schema operation failed while writing to the Kafka store: {refused.code.name}")
