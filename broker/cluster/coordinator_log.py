"""The records of group and transaction coordinators, in `__consumer_offsets` and `__transaction_state`.

A group or transactional id belongs to the partition that the hash of its id selects, and the leader of that partition coordinates it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from ..kafka_quirks.java_hash import abs_java_hash
from ..scheduling.timers import Timers
from ..topics.partition import Partition, Topic
from ..topics.replication import NO_LEADER

if TYPE_CHECKING:
    from ...protocol.stored.coordinator_records import CoordinatorRecord
    from ..transactions.transaction import Producer


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

    def append(self, key: str, topic_name: str, records: Sequence[CoordinatorRecord], producer: Producer | None = None) -> None:
        """Appends records as one batch; with a producer, as part of its transaction. They are dropped if the partition has no leader.

        Raises StaleProducerEpoch if a newer epoch of the producer has written.
        """
        partition = self.partition(key, topic_name)
        if partition is not None and partition.leader != NO_LEADER:
            partition.append_records(records, self._timers.now_ms, producer)
            self.wake(partition)
