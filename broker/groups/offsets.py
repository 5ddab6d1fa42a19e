"""The committed offsets of one group, and those that wait for a transaction to end (KIP-447).

`CommittedOffsetIndex` covers the offsets of all groups, so that deleting a topic or ending a transaction visits only the groups concerned.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from ...protocol.schema import ZERO_UUID
from ...protocol.stored.coordinator_records import CoordinatorRecord, OffsetCommitKey, OffsetCommitValue, RecordType, write_key, write_value

if TYPE_CHECKING:
    from ..releases.release import Release


class CommittedOffset(NamedTuple):
    """One commit. Times are milliseconds since the Unix epoch."""

    offset: int
    leader_epoch: int
    """Leader epoch of the last consumed record; -1 if the client did not send it."""
    metadata: str
    commit_timestamp_ms: int
    expire_timestamp_ms: int | None = None
    """When the commit expires (OffsetCommit v2 to v4); None if `offset_requests` decides by the state of the group."""


def offset_record(
    group_id: str,
    topic: str,
    partition: int,
    committed: CommittedOffset | None,
    topic_id: bytes = ZERO_UUID,
    release: Release | None = None,
) -> CoordinatorRecord:
    """Returns the record of a commit as a release writes it, None for 4.3, or a tombstone if `committed` is None."""
    key = write_key(RecordType.OFFSET_COMMIT, OffsetCommitKey(group=group_id, topic=topic, partition=partition))
    if committed is None:
        return CoordinatorRecord(key, None)
    value = OffsetCommitValue(
        offset=committed.offset,
        leader_epoch=committed.leader_epoch,
        metadata=committed.metadata,
        commit_timestamp=committed.commit_timestamp_ms,
        expire_timestamp=-1 if committed.expire_timestamp_ms is None else committed.expire_timestamp_ms,
        topic_id=topic_id,
    )
    version = 4 if release is None else release.offset_commit_version
    return CoordinatorRecord(key, write_value(version if committed.expire_timestamp_ms is None else 1, value))


class PendingOffset(NamedTuple):
    """A commit of an open transaction, and its position in the order of all such commits of the group."""

    committed: CommittedOffset
    number: int


class PendingOffsets:
    """The commits of open transactions: producer id -> (topic, partition) -> commit.

    A commit is None once a later commit of the same partition has taken effect; from then on, its transaction no longer changes the
    partition.
    """

    def __init__(self) -> None:
        self._producers: dict[int, dict[tuple[str, int], PendingOffset | None]] = {}
        self._waiting: dict[str, dict[int, set[int]]] = {}
        """Topic -> partition -> ids of the producers that have a commit for it."""
        self._next_number = 0

    def __contains__(self, producer_id: int) -> bool:
        return producer_id in self._producers

    def __len__(self) -> int:
        return sum(map(len, self._producers.values()))

    def on(self, topic: str, partition: int) -> bool:
        """Returns whether an open transaction has a commit for the partition."""
        return partition in self._waiting.get(topic, ())

    def concerns(self, topic: str) -> bool:
        """Returns whether an open transaction has a commit for any partition of the topic."""
        return topic in self._waiting

    def add(self, producer_id: int, topic: str, partition: int, committed: CommittedOffset) -> None:
        self._producers.setdefault(producer_id, {})[topic, partition] = PendingOffset(committed, self._next_number)
        self._next_number += 1
        self._waiting.setdefault(topic, {}).setdefault(partition, set()).add(producer_id)

    def of(self, producer_id: int) -> Collection[tuple[str, int]]:
        """Returns the partitions for which the producer's transaction has commits."""
        return self._producers.get(producer_id, {})

    def topics(self) -> Collection[str]:
        return self._waiting

    def pop(self, producer_id: int) -> list[tuple[str, int, PendingOffset]]:
        """Removes the commits of a producer and returns (topic, partition, commit) for those that no later commit has replaced."""
        waiting = self._producers.pop(producer_id, {})
        for topic, partition in waiting:
            partitions = self._waiting[topic]
            partitions[partition].discard(producer_id)
            if not partitions[partition]:
                del partitions[partition]
            if not partitions:
                del self._waiting[topic]
        return [(topic, partition, pending) for (topic, partition), pending in waiting.items() if pending is not None]

    def replace(self, topic: str, partition: int, before: int | None = None) -> None:
        """Sets to None all commits of a partition that are older than one that takes effect now.

        `before` is the number of the commit that takes effect; None if it is not transactional, and so later than all others.
        """
        for producer_id in self._waiting.get(topic, {}).get(partition, ()):
            offsets = self._producers[producer_id]
            pending = offsets[topic, partition]
            if pending is not None and (before is None or pending.number < before):
                offsets[topic, partition] = None

    def delete(self, topic: str, partition: int | None = None) -> None:
        """Removes the commits of a partition, or of all partitions of a topic."""
        partitions = self._waiting.get(topic, {})
        for index in list(partitions) if partition is None else [partition]:
            for producer_id in partitions.pop(index, ()):
                offsets = self._producers[producer_id]
                del offsets[topic, index]
                if not offsets:
                    del self._producers[producer_id]
        if not partitions:
            self._waiting.pop(topic, None)


class CommittedOffsets:
    """The commits of a group: topic -> partition -> commit.

    Topics are identified by name, so the offsets of a deleted topic must be removed. `pending` are the commits of open transactions.
    """

    __slots__ = ("_topics", "pending")

    def __init__(self) -> None:
        self._topics: dict[str, dict[int, CommittedOffset]] = {}
        self.pending = PendingOffsets()

    def __len__(self) -> int:
        return sum(map(len, self._topics.values()))

    def __bool__(self) -> bool:
        """Returns whether there are any commits, including those of open transactions."""
        return bool(self._topics) or bool(self.pending)

    def __iter__(self) -> Iterator[tuple[str, dict[int, CommittedOffset]]]:
        """Iterates over (topic, partition -> commit) in the order in which topics were first committed."""
        return iter(self._topics.items())

    def get(self, topic: str, partition: int) -> CommittedOffset | None:
        return self._topics.get(topic, {}).get(partition)

    def commit(self, topic: str, partition: int, committed: CommittedOffset) -> None:
        """Replaces the commit of a partition. The new offset may be smaller than the old one."""
        self._topics.setdefault(topic, {})[partition] = committed
        self.pending.replace(topic, partition)

    def end_transaction(self, producer_id: int, *, committed: bool) -> Iterable[str]:
        """Applies or discards the commits of a producer's transaction, and returns their topics.

        A commit that was made later than one of the transaction is kept.
        """
        topics = dict.fromkeys(topic for topic, _ in self.pending.of(producer_id))
        for topic, partition, offset in self.pending.pop(producer_id):
            if committed:
                self._topics.setdefault(topic, {})[partition] = offset.committed
                self.pending.replace(topic, partition, offset.number)
        return topics

    def topics(self) -> list[str]:
        """Returns the topics of all commits, including those of open transactions."""
        return list(dict.fromkeys([*self._topics, *self.pending.topics()]))

    def concerns(self, topic: str) -> bool:
        """Returns whether there is a commit for any partition of the topic, including those of open transactions."""
        return topic in self._topics or self.pending.concerns(topic)

    def partitions(self, topic: str) -> list[int]:
        """Returns the partitions of a topic that have a commit, without those of open transactions."""
        return list(self._topics.get(topic, ()))

    def delete(self, topic: str, partition: int) -> bool:
        """Removes the commits of a partition. Returns False if all of them belonged to open transactions or if there was none."""
        self.pending.delete(topic, partition)
        partitions = self._topics.get(topic, {})
        found = partitions.pop(partition, None) is not None
        if not partitions:
            self._topics.pop(topic, None)
        return found

    def expired_partitions(self, has_expired: Callable[[str, CommittedOffset], bool]) -> list[tuple[str, int]]:
        """Returns the partitions whose commit has expired. Partitions with a commit in an open transaction are left out."""
        return [
            (topic, partition)
            for topic, partitions in self._topics.items()
            for partition, committed in partitions.items()
            if not self.pending.on(topic, partition) and has_expired(topic, committed)
        ]


K = TypeVar("K", str, int)


class CommittedOffsetIndex:
    """Topic -> groups that may have offsets of it, and producer id -> groups that may have offsets in its open transaction."""

    def __init__(self) -> None:
        self._topics: dict[str, dict[str, None]] = {}
        self._producers: dict[int, dict[str, None]] = {}

    def add(self, group_id: str, topic: str, producer_id: int | None = None) -> None:
        """Adds an offset of a group. With a producer id, the offset is part of the producer's open transaction."""
        self._topics.setdefault(topic, {})[group_id] = None
        if producer_id is not None:
            self._producers.setdefault(producer_id, {})[group_id] = None

    def with_offsets_of(self, topic: str) -> list[str]:
        """Returns the ids of the groups that may have offsets of a topic."""
        return list(self._topics.get(topic, ()))

    def in_transaction_of(self, producer_id: int) -> list[str]:
        """Returns the ids of the groups that may have offsets in a producer's open transaction."""
        return list(self._producers.get(producer_id, ()))

    def remove_topic(self, group_id: str, topic: str) -> None:
        _discard(self._topics, topic, group_id)

    def remove_producer(self, group_id: str, producer_id: int) -> None:
        _discard(self._producers, producer_id, group_id)


def _discard(index: dict[K, dict[str, None]], key: K, group_id: str) -> None:
    groups = index.get(key, {})
    groups.pop(group_id, None)
    if not groups:
        index.pop(key, None)
