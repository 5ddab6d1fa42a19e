"""The logs in Kafka's log directories, for a read without brokers: partitions and offsets, as `KafkaClient` returns them, and splits.

An instance shows the files as they were when it was created or when it first needed them. It stays in the driver: tasks read the files
themselves (`stored_ranges`).
"""

from __future__ import annotations

import math
import sys
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property, partial
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from ..protocol.batches.records import RecordBatch
from ..protocol.client.connection import TopicPartition
from ..protocol.errors import ErrorCode, KafkaError
from ..protocol.stored.metadata_records import PartitionRecord
from ..storage.directories.log_loading import load_log
from ..storage.directories.names import PartitionName
from ..storage.directories.stored_cluster import StoredCluster, committed_end
from ..storage.log import Log
from ..storage.producers import Producers
from .client import EARLIEST, LATEST, READ_COMMITTED, broker_error
from .error_conditions import could_not_read
from .offset_ranges import OffsetRange
from .stored_ranges import StoredRange

INTERNAL_TOPICS = frozenset({"__consumer_offsets", "__transaction_state", "__share_group_state"})
"""The topics that no pattern matches, as with brokers, which mark them in their metadata (Kafka's Topic.isInternal)."""
TASK_BYTES = 256 << 20
"""The size of the batches of a task. Spark needs up to 100 ms for a task, so smaller ones would cost more than they share out."""


class StoredPartition(NamedTuple):
    """The log of a partition. `end` is the offset at which consumers of the isolation level stop."""

    folder: Path
    log: Log
    producers: Producers
    end: int


class StoredLogs:
    """The logs of a cluster in its log directories. Raises WrongDirectory, DamagedFile, OSError."""

    def __init__(self, directories: Iterable[str], isolation_level: int) -> None:
        self._isolation_level = isolation_level
        self._stored = StoredCluster(map(Path, directories))
        self._loaded: dict[TopicPartition, StoredPartition] = {}

    @cached_property
    def _partitions(self) -> dict[TopicPartition, PartitionRecord | None]:
        """All partitions, with what the metadata says about them; None in directories of ZooKeeper's time."""
        image = self._stored.image
        if image is None:
            return {TopicPartition(*name): None for name in self._stored.copies}
        return {TopicPartition(topic.name, index): record for topic in image.topics.values() for index, record in topic.partitions.items()}

    def partitions(self, topics: Iterable[str]) -> list[TopicPartition]:
        """Returns the partitions of topics. Raises KafkaError with UNKNOWN_TOPIC_OR_PARTITION for a topic that does not exist."""
        names, existing = set(topics), {partition.topic for partition in self._partitions}
        if unknown := sorted(names - existing):
            raise broker_error(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, unknown[0])
        return sorted(partition for partition in self._partitions if partition.topic in names)

    def partitions_where(self, matches: Callable[[str], object]) -> list[TopicPartition]:
        """Returns the partitions of the topics whose names match, except for Kafka's internal topics."""
        return sorted(each for each in self._partitions if each.topic not in INTERNAL_TOPICS and matches(each.topic))

    def list_offsets(self, wanted: Mapping[TopicPartition, int]) -> dict[TopicPartition, int]:
        """Returns the offset of each partition at EARLIEST, LATEST or the first record of a time (ms) or later, -1 without such a record.

        Raises KafkaError for a partition that the directories do not contain, DamagedFile, OSError.
        """
        return {partition: self._offset_at(self.partition(partition), time) for partition, time in wanted.items()}

    def _offset_at(self, stored: StoredPartition, time: int) -> int:
        if time == EARLIEST:
            return stored.log.start_offset
        return stored.end if time == LATEST else _first_at(stored, time)

    def partition(self, partition: TopicPartition) -> StoredPartition:
        """Returns a partition, which is loaded on first use. Raises KafkaError if the directories do not have it, DamagedFile, OSError."""
        if partition not in self._loaded:
            self._loaded[partition] = self._load(partition)
        return self._loaded[partition]

    def _load(self, partition: TopicPartition) -> StoredPartition:
        name, record = PartitionName(*partition), self._partitions.get(partition)
        copy = self._stored.best_copy(name, record)
        if copy is None:
            replicas = "" if record is None else f"; the nodes with a replica are {', '.join(map(str, record.replicas))}"
            raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE, f"no log directory has the partition {partition}{replicas}")
        log, producers = Log(), Producers(sys.maxsize)
        load_log(log, producers, copy.directory.read_log(name), 0)
        committed = committed_end(copy, name, record)
        end = log.end_offset if committed is None else max(min(committed, log.end_offset), log.start_offset)
        if self._isolation_level == READ_COMMITTED:
            undecided = producers.first_undecided_before(end)
            end = end if undecided is None else undecided
        return StoredPartition(copy.directory.partitions[name], log, producers, end)

    def stored_part(self, wanted: OffsetRange, *, fail_on_data_loss: bool) -> OffsetRange:
        """Returns the part of a range that is in the log. Raises KafkaCondition if that is not the whole and `fail_on_data_loss` is set."""
        partition, start, end = wanted
        stored = self.partition(partition)
        first, last = max(start, stored.log.start_offset), min(end, stored.end)
        if fail_on_data_loss and (first, last) != (start, end):
            raise could_not_read(partition, start if first > start or last < start else last, end)
        return OffsetRange(partition, first, max(first, last))

    def split(self, wanted: OffsetRange) -> Iterator[OffsetRange]:
        """Yields pieces of a range with about TASK_BYTES each. All but the first begin with a batch."""
        partition, start, end = wanted
        log = self.partition(partition).log
        size, size_up_to = log.available(start, end), partial(log.available, start)
        pieces = math.ceil(size / TASK_BYTES)
        bounds = {start, end}
        for piece in range(1, pieces):
            middle = start + bisect_left(range(start, end), size * piece // pieces, key=size_up_to)
            bounds.add(max(start, log.batch_start(middle)))
        for bound, following in pairwise(sorted(bounds)):
            yield OffsetRange(partition, bound, following)

    def located(self, wanted: OffsetRange) -> StoredRange:
        """Returns a range with what a task needs to read it."""
        stored = self.partition(wanted.partition)
        aborted = stored.producers.aborted(wanted.start, wanted.end) if self._isolation_level == READ_COMMITTED else []
        return StoredRange(*wanted, stored.folder, aborted)


def _first_at(stored: StoredPartition, time: int) -> int:
    """Returns the offset of the first record of a time or later, -1 if there is none."""
    log = stored.log
    view = log.find_timestamp(time, log.start_offset)
    while view is not None:
        batch = RecordBatch(view)
        for record in batch.records():
            if record.timestamp >= time and record.offset >= log.start_offset:
                return record.offset if record.offset < stored.end else -1
        view = log.find_timestamp(time, batch.header.last_offset + 1)
    return -1
