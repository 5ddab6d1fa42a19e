"""The partitions of group and transaction coordinators: their records, and coordinators that fail and move.

A group or transactional id belongs to the partition of `__consumer_offsets` or `__transaction_state` that the hash of its id selects, and
the leader of that partition coordinates it.

All nodes share the state of the groups, so a coordinator that moves loads nothing. Its groups are treated as in Kafka nevertheless. While
the coordinator has failed, no session ends, because it is the coordinator that ends sessions. A new coordinator starts all sessions anew,
and the former one answers the requests that wait with NOT_COORDINATOR (GroupMetadataManager.onLoaded and onUnloaded).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..kafka_quirks.java_hash import abs_java_hash
from ..scheduling.slices import chunks
from ..scheduling.timers import Timers
from ..scheduling.waiting import NEXT_TURN, Background
from ..topics.names import CONSUMER_OFFSETS
from ..topics.partition import Partition, Topic
from ..topics.replication import NO_LEADER
from ..topics.topics import Topics

if TYPE_CHECKING:
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ..groups.coordinator import Groups
    from ..transactions.transaction import Producer
    from .controller import Brokers


class CoordinatorLog:
    """Finds the partitions of coordinators and appends to them. `topics` is a live view; `wake` is called with a partition that grew."""

    def __init__(self, topics: Mapping[str, Topic], timers: Timers, wake: Callable[[Partition], None]) -> None:
        self._topics = topics
        self._timers = timers
        self.wake = wake
        # The latest hashes are kept, because every request of a group's members needs the same one.
        self._hash = lru_cache(maxsize=256)(abs_java_hash)

    def partition(self, key: str, topic_name: str) -> Partition | None:
        """Returns the partition of a group or transactional id; None if the internal topic does not exist yet."""
        topic = self._topics.get(topic_name)
        return topic.partitions[self._hash(key) % len(topic.partitions)] if topic else None

    def coordinator(self, key: str, topic_name: str = CONSUMER_OFFSETS) -> int:
        """Returns the id of the node that coordinates a group or transactional id, NO_LEADER if there is none."""
        partition = self.partition(key, topic_name)
        return partition.leader if partition else NO_LEADER

    def append(self, key: str, topic_name: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends records as one batch; with a producer, as part of its transaction. They are dropped if the partition has no leader.

        Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
        partition = self.partition(key, topic_name)
        if partition is not None and partition.leader != NO_LEADER:
            partition.append_records(records, self._timers.now_ms, producer)
            self.wake(partition)


class CoordinatorMoves:
    """Follows the leaders of `__consumer_offsets`. `failed` are the partitions whose leader has failed, until they have another one."""

    def __init__(
        self,
        topics: Topics,
        brokers: Brokers,
        coordinator_log: CoordinatorLog,
        groups: Callable[[], Groups],
        background: Callable[[Background], None],
    ) -> None:
        self._topics, self._brokers = topics, brokers
        self._coordinator_log = coordinator_log
        self._groups = groups
        self._background = background
        self.epochs: dict[Partition, int] = {}
        """The leader epochs of partitions that have had another one than `Topics.first_leader_epoch`."""
        self.untreated: dict[Partition, bool] = {}
        """The partitions whose groups are treated in the next turn, and whether they have another leader."""
        self.failed: set[Partition] = set()

    def node_failed(self, node_id: int) -> None:
        """Ends the session timers of the groups that a node coordinates."""
        topic = self._topics.get(CONSUMER_OFFSETS)
        failed = {partition for partition in topic.partitions if partition.leader == node_id} if topic else set()
        self.failed |= failed
        for group in self._groups() if failed else ():
            if self._coordinator_log.partition(group.group_id, CONSUMER_OFFSETS) in failed:
                group.suspend_sessions()

    def changed(self, partition: Partition) -> None:
        """Treats the groups of a partition of `__consumer_offsets` from the next turn on, if its leader is another one or has returned."""
        if partition.topic.name != CONSUMER_OFFSETS or partition.leader in (NO_LEADER, *self._brokers.silent):
            return
        moved = partition.leader_epoch != self.epochs.get(partition, self._topics.first_leader_epoch)
        self.epochs[partition] = partition.leader_epoch
        if moved or partition in self.failed:
            self.failed.discard(partition)
            if not self.untreated:
                self._background(self.treat_groups())
            self.untreated[partition] = moved or self.untreated.get(partition, False)

    def forget_epochs(self) -> None:
        """Notes that all partitions are in the first leader epoch, and that none has another leader."""
        self.epochs.clear()

    def deleted(self, partition: Partition) -> None:
        """Forgets a partition."""
        self.epochs.pop(partition, None)
        self.failed.discard(partition)

    def treat_groups(self) -> Background:
        """Renews the sessions of the groups whose coordinator has returned, and tells groups whose coordinator has moved."""
        all_groups, untreated = self._groups(), self.untreated
        self.untreated = {}
        for groups in chunks(list(all_groups)):
            for group in groups:
                partition = self._coordinator_log.partition(group.group_id, CONSUMER_OFFSETS)
                if partition in untreated and all_groups.get(group.group_id) is group:  # it may have been deleted meanwhile
                    (group.coordinator_moved if untreated[partition] else group.renew_sessions)()
            yield NEXT_TURN
