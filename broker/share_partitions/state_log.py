"""The log of the share coordinator, `__share_group_state`. The leader of one of its partitions coordinates a share partition."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.stored.coordinator_records import CoordinatorRecord
from ..topics.names import SHARE_GROUP_STATE
from ..topics.replication import NO_LEADER

if TYPE_CHECKING:
    from ..cluster.coordinator_log import CoordinatorLog
    from ..topics.topics import Topics


class ShareStateLog:
    """Implements the protocol `cluster_view.StateLog`."""

    def __init__(self, topics: Topics, coordinator_log: CoordinatorLog) -> None:
        self._topics, self._coordinator_log = topics, coordinator_log

    def append(self, key: str, records: Sequence[CoordinatorRecord]) -> tuple[int, int]:
        """Appends records to the partition that belongs to the key, and returns its index and the offset of the first record.

        Raises KafkaError with COORDINATOR_NOT_AVAILABLE if the partition has no leader.
        """
        self._topics.ensure_internal(SHARE_GROUP_STATE)
        partition = self._coordinator_log.partition(key, SHARE_GROUP_STATE)
        if partition is None or partition.leader == NO_LEADER:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        offset = partition.log.end_offset
        self._coordinator_log.append(key, SHARE_GROUP_STATE, records)
        return partition.index, offset

    def records(self) -> Iterator[tuple[int, int, CoordinatorRecord]]:
        """Yields (partition index, offset, record) for all records of the log. The log may not exist yet."""
        from ...protocol.batches.records import RecordBatch

        topic = self._topics.get(SHARE_GROUP_STATE)
        for partition in topic.partitions if topic else ():
            for batch in partition.log.batches(partition.log.start_offset, partition.log.end_offset):
                for record in RecordBatch(batch).records():
                    if record.key is not None and record.offset >= partition.log.start_offset:
                        yield partition.index, record.offset, CoordinatorRecord(record.key, record.value)

    def delete_before(self, partition: int, offset: int) -> None:
        """Deletes the records of a partition of the log before an offset."""
        found = self._topics.find_partition(SHARE_GROUP_STATE, partition)
        if found is not None and offset > found.log.start_offset:
            found.delete_before(offset)
            self._coordinator_log.wake(found)
