"""Incremental fetch sessions (KIP-227; Kafka's FetchSession): what a client asked for once it need not name again.

A session remembers the partitions a client reads and what it was told of each, so that an answer holds only what changed. Pure:
the time and the randomness come from the caller. Partitions of which there is nothing new are not even read, so that a session of many
costs little. Not done: the eight shards among which Kafka divides the slots.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from random import Random

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import FetchableTopicResponse, FetchPartition, FetchTopic, ForgottenTopic, PartitionData
from ..topics.partition import Partition

NO_SESSION = 0
FINAL_EPOCH, INITIAL_EPOCH, MAX_EPOCH = -1, 0, 2**31 - 1
EVICTION_MS = 120_000
"""A session is safe from others for this long after it began, and gives way to any once it was unused for as long."""

Key = tuple[str, bytes, int]
"""Topic name (v13 and later: ""), topic id (earlier: zeros) and the partition's index."""


def next_epoch(epoch: int) -> int:
    """The epoch of the request that follows; 0 and -1 are never reached, as they open and close sessions."""
    return 1 if epoch == MAX_EPOCH else epoch + 1


class CachedPartition:
    """What a client wants of a partition, and what it was told last. `name` is the topic's also where the client knows its id only."""

    __slots__ = ("_partition", "_state", "high_watermark", "log_start_offset", "name", "topic_id", "wanted")

    def __init__(self, wanted: FetchPartition, name: str, topic_id: bytes) -> None:
        self.wanted = wanted
        self.name = name
        self.topic_id = topic_id
        self.high_watermark = self.log_start_offset = -1
        self._partition: Partition | None = None  # when its reader stood at the end and had been told all, and how it was then
        self._state: tuple[int, ...] = ()

    @property
    def quiet(self) -> Partition | None:
        """The partition, if reading it again would find nothing new."""
        partition = self._partition
        return partition if partition is not None and _state(partition) == self._state else None

    def want(self, wanted: FetchPartition) -> None:
        """The client wants something else of it."""
        self.wanted, self._partition = wanted, None

    def settle(self, partition: Partition | None) -> None:
        """Takes note that the client has been told all there is of `partition`, unless there are records that it got no room for."""
        if partition is not None and self.wanted.fetch_offset == partition.log.end_offset:
            self._partition, self._state = partition, _state(partition)

    def tell(self, data: PartitionData) -> bool:
        """Whether the client must be told `data`; if so, it is taken for told. An error is told until it is over, and so is its end."""
        changed = (
            data.high_watermark != self.high_watermark
            or data.log_start_offset != self.log_start_offset
            or bool(data.records)
            or bool(data.error_code)
            or data.preferred_read_replica >= 0
            or data.diverging_epoch is not None
        )
        self.high_watermark = -1 if data.error_code else data.high_watermark
        self.log_start_offset = data.log_start_offset
        return changed


def _state(partition: Partition) -> tuple[int, ...]:
    """All that may change what a reader at the end of a partition is told."""
    log = partition.log
    leader = (partition.leader, partition.leader_epoch)
    return *leader, partition.high_watermark, partition.last_stable_offset, log.start_offset, log.end_offset


class FetchSession:
    """One client's partitions in the order in which they are served. `epoch` is that of the request that comes next."""

    def __init__(self, session_id: int, uses_topic_ids: bool, now_ms: int) -> None:
        self.id = session_id
        self.uses_topic_ids = uses_topic_ids
        self.epoch = next_epoch(INITIAL_EPOCH)
        self.created_ms = self.used_ms = now_ms
        self.old = False  # whether it was used when it was no longer safe from larger ones
        self._partitions: dict[Key, CachedPartition] = {}

    def __len__(self) -> int:
        return len(self._partitions)

    def update(self, topics: Sequence[FetchTopic], forgotten: Sequence[ForgottenTopic], name_of: Callable[[bytes], str]) -> None:
        """Takes in what a request adds and changes, then what it no longer wants; `name_of` is a topic id's name, "" if there is none."""
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

    def wanted(self, name_of: Callable[[bytes], str], *, also_quiet: bool) -> tuple[list[FetchTopic], list[Partition]]:
        """(what is to be read in order, neighbours of one topic together; the partitions that need not be)."""
        stirred, quiet = [], []
        for cached in self._partitions.values():
            if not also_quiet and (partition := cached.quiet) is not None:
                quiet.append(partition)
            else:
                cached.name = cached.name or name_of(cached.topic_id)
                stirred.append(cached)
        groups = groupby(stirred, key=lambda cached: (cached.name, cached.topic_id))
        return [FetchTopic(topic=name, topic_id=id_, partitions=[one.wanted for one in group]) for (name, id_), group in groups], quiet

    def changes(
        self, topics: Sequence[FetchableTopicResponse], find: Callable[[str, int], Partition | None]
    ) -> list[FetchableTopicResponse]:
        """Those of the answers that the client must be told; `find` is for the others. Who got records is served last the next time."""
        changed: list[FetchableTopicResponse] = []
        for topic in topics:
            kept = [data for data in topic.partitions if self._tell(topic, data, find)]
            if kept and changed and changed[-1].topic == topic.topic and changed[-1].topic_id == topic.topic_id:
                changed[-1].partitions += kept
            elif kept:
                topic.partitions = kept
                changed.append(topic)
        return changed

    def note(self, topic: FetchableTopicResponse, data: PartitionData) -> None:
        """The client is told `data` in any case; the order of this first answer is the one in which partitions are served."""
        key = self._key(topic, data)
        cached = self._partitions[key] = self._partitions.pop(key)
        cached.tell(data)

    def _tell(self, topic: FetchableTopicResponse, data: PartitionData, find: Callable[[str, int], Partition | None]) -> bool:
        key = self._key(topic, data)
        cached = self._partitions[key]
        if not cached.tell(data):
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
        self._sessions: dict[int, FetchSession] = {}  # the one that was unused for longest first

    def __len__(self) -> int:
        return len(self._sessions)

    def clear(self) -> None:
        """Forgets all of them, as a broker that starts again has."""
        self._sessions.clear()

    def close(self, session_id: int) -> None:
        """Ends a session; an unknown one is no error."""
        self._sessions.pop(session_id, None)

    def resume(self, session_id: int, epoch: int, *, topic_ids: bool) -> FetchSession:
        """The session that a request goes on with. Raises KafkaError with 70, 71 or 106."""
        session = self._sessions.get(session_id)
        if session is None:
            raise KafkaError(ErrorCode.FETCH_SESSION_ID_NOT_FOUND)
        if session.epoch != epoch:
            raise KafkaError(ErrorCode.INVALID_FETCH_SESSION_EPOCH)
        if session.uses_topic_ids != topic_ids:
            raise KafkaError(ErrorCode.FETCH_SESSION_TOPIC_ID_ERROR)
        return session

    def touch(self, session: FetchSession, now_ms: int) -> None:
        """A session was used: its next request has the next epoch."""
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
        """The id of a new session of these partitions, whose answers the client is about to get; 0 if no slot is to be had."""
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
        """Makes room for a session of `size` partitions: an unused one goes, else an old one that is smaller."""
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
