"""Incremental fetch sessions (KIP-227; Kafka's FetchSession): a client sends its list of partitions once, and then only changes to it.

A session stores the partitions that a client reads and the last response for each, so that a response contains only what has changed.

Epochs: each request of a session has the epoch of the previous one plus 1. Epoch 0 opens a session, -1 closes it.

Order: the partitions are served in the order in which the client added them. A partition that returns records moves to the end, so that a
partition with many records does not keep others from being read.

Quiet partitions: a reader at the end of a partition has received everything, until one of the values in `_state` changes. As long as they
are the same, the partition is not read at all, so that the cost of a fetch depends on the partitions that have changed.

Eviction: a broker has at most `slots` sessions. A new session takes the slot of the least recently used one if that was unused for
EVICTION_MS, and otherwise the slot of a smaller session that is older than EVICTION_MS. Kafka divides its slots among eight shards; this
module does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from random import Random

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import FetchableTopicResponse, FetchPartition, FetchTopic, ForgottenTopic, PartitionData
from ..topics.partition import Partition

NO_SESSION = 0
FINAL_EPOCH, INITIAL_EPOCH, MAX_EPOCH = -1, 0, 2**31 - 1
EVICTION_MS = 120_000
"""The age from which a session may be evicted by a larger one, and the idle time after which any session may evict it."""

Key = tuple[str, bytes, int]
"""(topic name, topic id, partition index). The name is "" from v13 on, the id is zero up to v12."""


def next_epoch(epoch: int) -> int:
    """Returns the epoch of the following request. It wraps to 1, because 0 and -1 open and close sessions."""
    return 1 if epoch == MAX_EPOCH else epoch + 1


class CachedPartition:
    """A partition of a session: the client's entry for it, and the last response. `name` is the topic's, also from v13 on."""

    __slots__ = ("_partition", "_state", "high_watermark", "log_start_offset", "name", "topic_id", "wanted")

    def __init__(self, wanted: FetchPartition, name: str, topic_id: bytes) -> None:
        self.wanted = wanted
        self.name = name
        self.topic_id = topic_id
        self.high_watermark = self.log_start_offset = -1
        self._partition: Partition | None = None  # set while its reader has received everything
        self._state: tuple[int, ...] = ()  # of `_partition` at that time

    @property
    def quiet(self) -> Partition | None:
        """The partition, if reading it again would return nothing new, otherwise None."""
        partition = self._partition
        return partition if partition is not None and _state(partition) == self._state else None

    def want(self, wanted: FetchPartition) -> None:
        """Replaces the client's entry."""
        self.wanted, self._partition = wanted, None

    def settle(self, partition: Partition | None) -> None:
        """Marks the partition as quiet if the client reads at its end."""
        if partition is not None and self.wanted.fetch_offset == partition.log.end_offset:
            self._partition, self._state = partition, _state(partition)

    def differs(self, data: PartitionData) -> bool:
        """Returns whether `data` has to be sent, because it contains records or an error, or has changed since the last response."""
        return (
            data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or bool(data.records)
            or bool(data.error_code)
            or data.preferred_read_replica >= 0
            or data.diverging_epoch is not None
        )

    def respond(self, data: PartitionData) -> bool:
        """Stores `data` as the last response.

        Returns whether it has to be sent, because it contains records or an error, or has changed.
        """
        changed = self.differs(data)
        self.high_watermark = -1 if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return changed


def _state(partition: Partition) -> tuple[int, ...]:
    """Returns all values on which the response to a reader at the end of a partition depends."""
    log = partition.log
    leader = (partition.leader, partition.leader_epoch)
    return *leader, partition.high_watermark, partition.last_stable_offset, log.start_offset, log.end_offset


class FetchSession:
    """The partitions of one client in the order in which they are served. `epoch` is the epoch of the next request."""

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.created_ms = self.used_ms = now_ms
        self.old = False  # whether it was used after EVICTION_MS, so that larger sessions may evict it
        self._partitions: dict[Key, CachedPartition] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def cached_partitions(self) -> Iterable[CachedPartition]:
        """Returns the partitions in order."""
        return self._partitions.values()

    def update(self, topics: Sequence[FetchTopic], forgotten: Sequence[ForgottenTopic], name_of: Callable[[bytes], str]) -> None:
        """Applies the partitions that a request adds, changes and removes. `name_of` returns the name of a topic id, or ""."""
        for topic in topics:
            for wanted in topic.partitions:
                cached = self._partitions.get((topic.topic, topic.topic_id, wanted.partition))
                if cached is None:
                    self._add(topic, wanted, name_of)
                else:
                    cached.want(wanted)
        for gone in forgotten:
            for index in gone.partitions:
                self._partitions.pop((gone.topic, gone.topic_id, index), None)

    def _add(self, topic: FetchTopic, wanted: FetchPartition, name_of: Callable[[bytes], str]) -> None:
        name = name_of(topic.topic_id) if self.uses_topic_ids else topic.topic
        self._partitions[topic.topic, topic.topic_id, wanted.partition] = CachedPartition(wanted, name, topic.topic_id)

    def select_partitions(self, name_of: Callable[[bytes], str], *, also_quiet: bool) -> tuple[list[FetchTopic], list[Partition]]:
        """Returns (the partitions to read, in order and grouped by topic; the quiet partitions)."""
        changed, quiet = [], []
        for cached in self._partitions.values():
            if not also_quiet and (partition := cached.quiet) is not None:
                quiet.append(partition)
            else:
                cached.name = cached.name or name_of(cached.topic_id)
                changed.append(cached)
        groups = groupby(changed, key=lambda cached: (cached.name, cached.topic_id))
        return [FetchTopic(topic=name, topic_id=id_, partitions=[one.wanted for one in group]) for (name, id_), group in groups], quiet

    def changes(
        self, topics: Sequence[FetchableTopicResponse], find: Callable[[str, int], Partition | None]
    ) -> list[FetchableTopicResponse]:
        """Returns the part of a response that has changed. Partitions with records move to the end of the session's order.

        `find` returns the partition of a topic name and index.
        """
        changed: list[FetchableTopicResponse] = []
        for topic in topics:
            kept = [data for data in topic.partitions if self._tell(topic, data, find)]
            if kept and changed and changed[-1].topic == topic.topic and changed[-1].topic_id == topic.topic_id:
                changed[-1].partitions += kept
            elif kept:
                topic.partitions = kept
                changed.append(topic)
        return changed

    def preview(self, topics: Sequence[FetchableTopicResponse]) -> list[FetchableTopicResponse]:
        """Returns the part of a response that has changed, as `changes` does, but keeps the session as it is."""
        changed = []
        for topic in topics:
            kept = [data for data in topic.partitions if self._partitions[self._key(topic, data)].differs(data)]
            if kept:
                changed.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=kept))
        return changed

    def note(self, topic: FetchableTopicResponse, data: PartitionData) -> None:
        """Stores a response that is sent whether or not it has changed, and moves the partition to the end of the order."""
        key = self._key(topic, data)
        cached = self._partitions[key] = self._partitions.pop(key)
        cached.respond(data)

    def _tell(self, topic: FetchableTopicResponse, data: PartitionData, find: Callable[[str, int], Partition | None]) -> bool:
        key = self._key(topic, data)
        cached = self._partitions[key]
        if not cached.respond(data):
            cached.settle(find(cached.name, data.partition_index))
            return False
        if data.records:
            self._partitions[key] = self._partitions.pop(key)
        return True

    def _key(self, topic: FetchableTopicResponse, data: PartitionData) -> Key:
        return "" if self.uses_topic_ids else topic.topic, topic.topic_id, data.partition_index


class FetchSessions:
    """The sessions of one broker, at most `slots` of them."""

    def __init__(self, slots: int, random: Random) -> None:
        self._slots = slots
        self._random = random
        self._sessions: dict[int, FetchSession] = {}  # the least recently used one first

    def __len__(self) -> int:
        return len(self._sessions)

    def clear(self) -> None:
        """Removes all sessions. It is called when the broker stops, because sessions do not survive a restart."""
        self._sessions.clear()

    def close(self, session_id: int) -> None:
        """Removes a session if it exists."""
        self._sessions.pop(session_id, None)

    def partitions(self, session_id: int) -> list[tuple[str, int]]:
        """Returns the topic names and indexes of the partitions of a session, an empty list if there is no such session."""
        session = self._sessions.get(session_id)
        return [] if session is None else [(cached.name, cached.wanted.partition) for cached in session.cached_partitions()]

    def resume(self, session_id: int, epoch: int, *, topic_ids: bool) -> FetchSession:
        """Returns the session of an incremental request.

        Raises KafkaError with FETCH_SESSION_ID_NOT_FOUND, INVALID_FETCH_SESSION_EPOCH or FETCH_SESSION_TOPIC_ID_ERROR.
        """
        session = self._sessions.get(session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return session

    def touch(self, session: FetchSession, now_ms: int) -> None:
        """Advances the epoch of a session that was used and makes it the most recently used one."""
        session.epoch = next_epoch(session.epoch)
        session.used_ms = now_ms
        session.old = now_ms - session.created_ms > EVICTION_MS
        self._sessions[session.id] = self._sessions.pop(session.id)

    def open(
        self,
        topics: Sequence[FetchTopic],
        answers: Sequence[FetchableTopicResponse],
        name_of: Callable[[bytes], str],
        *,
        topic_ids: bool,
        now_ms: int,
    ) -> int:
        """Returns the id of a new session for these partitions and their first response, or NO_SESSION if there is no free slot."""
        if len(self._sessions) >= self._slots and not self._evict(sum(len(topic.partitions) for topic in topics), now_ms):
            return NO_SESSION
        session = FetchSession(self._new_id(), topic_ids, now_ms)
        session.update(topics, (), name_of)
        for topic in answers:
            for data in topic.partitions:
                session.note(topic, data)
        self._sessions[session.id] = session
        return session.id

    def _evict(self, size: int, now_ms: int) -> bool:
        """Removes one session for a new one of `size` partitions. Returns False if none may be evicted."""
        oldest = next(iter(self._sessions.values()), None)
        if oldest is None:
            return False
        if now_ms - oldest.used_ms <= EVICTION_MS:
            oldest = min((session for session in self._sessions.values() if session.old), key=lambda one: (len(one), one.id), default=None)
            if oldest is None or len(oldest) >= size:
                return False
        del self._sessions[oldest.id]
        return True

    def _new_id(self) -> int:
        while (session_id := self._random.randrange(1, 1 << 31)) in self._sessions:
            pass
        return session_id
