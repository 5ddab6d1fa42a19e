"""The log of the share coordinator, `__share_group_state`. The leader of one of its partitions coordinates a share partition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.stored.coordinator_records import CoordinatorRecord
from ..topics.names import SHARE_GROUP_STATE
from ..topics.replication import NO_LEADER
from ..topics.topic import Topic

if TYPE_CHECKING:
    from ..cluster.state import ClusterState
    from ..scheduling.timers import Timers
    from ..settings.values import BrokerConfig


class ShareStateLog:
    """Implements the protocol `cluster_view.StateLog`."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster

    @property
    def timers(self) -> Timers:
        """The timers of the cluster, with its clock."""
        return self._cluster.timers

    @property
    def config(self) -> BrokerConfig:
        """The broker settings."""
        return self._cluster.config

    @property
    def topics_by_id(self) -> Mapping[bytes, Topic]:
        """Topics by topic id (16 bytes)."""
        return self._cluster.topics_by_id

    def append(self, key: str, records: Sequence[CoordinatorRecord]) -> tuple[int, int]:
        """Appends records to the partition that belongs to the key, and returns its index and the offset of the first record.

        Raises KafkaError with COORDINATOR_NOT_AVAILABLE if the partition has no leader.
        """
        self._cluster.ensure_internal(SHARE_GROUP_STATE)
        partition = self._cluster.coordinator(key, SHARE_GROUP_STATE)
        if partition is None or partition.leader == NO_LEADER:
            raise KafkaError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
        offset = partition.log.end_offset
        self._cluster.coordinator_log.append(key, SHARE_GROUP_STATE, records)
        return partition.index, offset

    def records(self) -> Iterator[tuple[int, int, CoordinatorRecord]]:
        """Yields (partition index, offset, record) for all records of the log. The log may not exist yet."""
        from ...protocol.batches.records import RecordBatch

        topic = self._cluster.topics.get(SHARE_GROUP_STATE)
        for partition in topic.partitions if topic else ():
            for batch in partition.log.batches(partition.log.start_offset, partition.log.end_offset):
                for record in RecordBatch(batch).records():
                    if record.key is not None and record.offset >= partition.log.start_offset:
                        yield partition.index, record.offset, CoordinatorRecord(record.key, record.value)

    def delete_before(self, partition: int, offset: int) -> None:
        """Deletes the records of a partition of the log before an offset."""
        found = self._cluster.find_partition(SHARE_GROUP_STATE, partition)
        if found is not None and offset > found.log.start_offset:
            found.delete_before(offset)
            self._cluster.wake(found)
