"""Fetch: reads record batches, also in incremental sessions and, from v11 on, from followers.

An answer waits until `min_bytes` are there, an error is, or `max_wait_ms` is over; a produce wakes it at once.
"""

from __future__ import annotations

from collections.abc import Generator, Hashable, Iterable, Sequence
from typing import NamedTuple, cast

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import (
    FETCH,
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    FetchTopic,
    PartitionData,
)
from ...storage.segments import end_offset_of
from ..cluster.fetch_sessions import FINAL_EPOCH, INITIAL_EPOCH, FetchSession, next_epoch
from ..context import Context
from ..lookup import current_leader, find_led_partition, find_topic, node_endpoints
from ..registry import handles
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition
from ..topics.topic import Topic

ISOLATION_LEVELS = (0, 1)
READ_COMMITTED = 1
UNDEFINED_EPOCH = -1
NO_FOLLOWER = -1
TOPIC_IDS_SINCE, FOLLOWERS_SINCE = 13, 11
LEADERS_SINCE = 16  # though the field is there before
# What the metadata does not know, or the client may not read, is refused at the end of the answer, ids first, and is nothing that a
# fetch would not wait with.
_UNKNOWN = {ErrorCode.UNKNOWN_TOPIC_ID: 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 1, ErrorCode.TOPIC_AUTHORIZATION_FAILED: 1}


@handles(FETCH)
def fetch(request: FetchRequest, context: Context) -> FetchResponse | Generator[Wait, None, FetchResponse]:
    """Answers at once where it can, and else waits."""
    session = None
    if request.isolation_level not in ISOLATION_LEVELS:
        return _failed(request, context)
    if request.session_epoch in (FINAL_EPOCH, INITIAL_EPOCH):
        if request.session_id:
            context.broker.fetch_sessions.close(request.session_id)
    else:
        try:
            session = _resume(request, context)
        except KafkaError as error:
            return FetchResponse(error_code=error.code, responses=[])
    read = Read(request, context, request.topics) if session is None else _read(request, context, session)
    return _response(read, session) if read.complete or request.max_wait_ms <= 0 else _wait(read, session)


def _failed(request: FetchRequest, context: Context) -> FetchResponse:
    """Kafka's answer to what it fails on: up to v12 it names the partitions."""
    code, named = ErrorCode.UNKNOWN_SERVER_ERROR, request.topics if context.version < TOPIC_IDS_SINCE else []
    topics = [
        FetchableTopicResponse(
            topic=topic.topic,
            partitions=[
                PartitionData(partition_index=each.partition, error_code=code, high_watermark=-1, aborted_transactions=[], records=b"")
                for each in topic.partitions
            ],
        )
        for topic in named
    ]
    return FetchResponse(error_code=code, responses=topics)


def _read(request: FetchRequest, context: Context, session: FetchSession | None) -> Read:
    if session is None:
        return Read(request, context, request.topics)
    also_quiet = context.broker.rack_aware and bool(request.rack_id)  # the nearest replica may be another one now
    topics, quiet = session.wanted(context.cluster.topic_name, also_quiet=also_quiet)
    return Read(request, context, topics, quiet)


def _wait(read: Read, session: FetchSession | None) -> Generator[Wait, None, FetchResponse]:
    """Reads what changed again, until there is enough, one of the partitions is gone, or the time is up."""
    request, context, wanted = read.request, read.context, len(read.partitions)
    deadline_ms = context.now_ms + request.max_wait_ms
    wait = Wait(read.partitions, deadline_ms, [])
    while not read.complete and context.now_ms < deadline_ms and len(read.partitions) == wanted:
        yield wait
        woken = wait.woken or []
        if read.update(woken):
            woken.clear()
        else:
            read = _read(request, context, session)
            wait = Wait(read.partitions, deadline_ms, [])
    return _response(read, session)


def _resume(request: FetchRequest, context: Context) -> FetchSession | None:
    """The session of an incremental fetch, brought up to date; None when nothing is left in it. Raises KafkaError with 70, 71 or 106."""
    sessions = context.broker.fetch_sessions
    session = sessions.resume(request.session_id, request.session_epoch, topic_ids=context.version >= TOPIC_IDS_SINCE)
    session.update(request.topics, request.forgotten_topics_data, context.cluster.topic_name)
    if not len(session):
        sessions.close(session.id)
        return None
    sessions.touch(session, context.now_ms)
    return session


def _response(read: Read, session: FetchSession | None) -> FetchResponse:
    """What was read; in a session, what is new of it. A session that went on while its request waited is an error."""
    request, context, topics, session_id = read.request, read.context, read.topics, 0
    if session is not None:
        if session.epoch != next_epoch(request.session_epoch):
            return FetchResponse(error_code=ErrorCode.INVALID_FETCH_SESSION_EPOCH, session_id=session.id, responses=[])
        topics, session_id = session.changes(topics, context.cluster.find_partition), session.id
    elif request.session_epoch == INITIAL_EPOCH:
        session_id = context.broker.fetch_sessions.open(
            request.topics,
            topics,
            context.cluster.topic_name,
            topic_ids=context.version >= TOPIC_IDS_SINCE,
            now_ms=context.now_ms,
        )
    endpoints = node_endpoints(context, read.leaders) if read.leaders else []
    return FetchResponse(session_id=session_id, responses=topics, node_endpoints=endpoints)


class Reading(NamedTuple):
    """What was read of one partition, and as what it was asked for."""

    named: FetchTopic
    wanted: FetchPartition
    data: PartitionData


class Read:
    """One pass over the partitions of `topics`; those of `quiet` are known to have nothing.

    `partitions` are those that may be waited for. `update` reads single ones again, unless what one gets depends on what others got.
    """

    __slots__ = (
        *("_depends", "_follower", "_limit", "_or_followed", "_rack", "_unknown", "bytes", "context", "failed", "leaders"),
        *("partitions", "request", "topics"),
    )

    def __init__(self, request: FetchRequest, context: Context, topics: Sequence[FetchTopic], quiet: Sequence[Partition] = ()) -> None:
        self.request = request
        self.context = context
        self.topics: list[FetchableTopicResponse] = []
        self.partitions: dict[Partition, Reading | None] = dict.fromkeys(quiet)
        self.leaders: list[int] = []
        self._depends = False
        self.bytes = 0
        self.failed = False
        broker = context.broker
        self._follower = request.replica_id if request.replica_state is None else request.replica_state.replica_id
        self._or_followed = context.version >= FOLLOWERS_SINCE
        self._rack = request.rack_id if broker.rack_aware and self._or_followed else ""
        self._unknown: list[tuple[FetchTopic, PartitionData]] = []
        self._limit = min(request.max_bytes, broker.config.integers["fetch.max.bytes"])
        for topic in topics:
            found = [data for wanted in topic.partitions if (data := self._partition(topic, wanted)) is not None]
            if found:
                self.topics.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=found))
        if self._unknown:
            self._append_unknown()

    @property
    def complete(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.failed or not self.partitions or self.bytes >= self.request.min_bytes or self.bytes >= self._limit

    def update(self, partitions: Iterable[Hashable]) -> bool:
        """Reads some of the partitions again, in place; False if everything has to be read anew."""
        for partition in dict.fromkeys(partitions):
            reading = self.partitions.get(cast(Partition, partition))
            if reading is None or self._depends or self._rack:
                return False
            del self.partitions[cast(Partition, partition)]
            self.bytes -= _size(reading.data)
            data = self._partition(reading.named, reading.wanted)
            if data is None or self.failed or self._depends:
                return False
            vars(reading.data).update(vars(data))
            self.partitions[cast(Partition, partition)] = reading
        return True

    def _append_unknown(self) -> None:
        for topic, data in sorted(self._unknown, key=lambda one: _UNKNOWN[ErrorCode(one[1].error_code)]):
            last = self.topics[-1] if self.topics else None
            if last and last.topic == topic.topic and last.topic_id == topic.topic_id:
                last.partitions.append(data)
            else:
                self.topics.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=[data]))

    def _partition(self, named: FetchTopic, wanted: FetchPartition) -> PartitionData | None:
        """None for what is unknown and comes later."""
        topic, broker = None, self.context.broker
        try:
            if self._follower == NO_FOLLOWER:
                topic = find_topic(self.context, Operation.READ, named.topic, named.topic_id)
            else:
                topic = self._find_followed(named, wanted.partition)
            epoch = wanted.current_leader_epoch if wanted.current_leader_epoch >= 0 else -1  # here any negative one is none
            partition = find_led_partition(broker, topic, wanted.partition, epoch, or_followed=self._or_followed)
            return self._read(partition, named, wanted)
        except KafkaError as error:
            code = error.code
            if code == ErrorCode.UNKNOWN_TOPIC_ID and named.topic:
                # A session knows the name of its topic's id: deleted is unknown by name, made anew inconsistent.
                anew = named.topic in broker.cluster.topics
                code = ErrorCode.INCONSISTENT_TOPIC_ID if anew else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refusal = self._refusal(topic, wanted.partition, code)
        if refusal.error_code in _UNKNOWN:
            self._unknown.append((named, refusal))
            return None
        self.failed = True
        return refusal

    def _find_followed(self, named: FetchTopic, index: int) -> Topic:
        """The topic, for a client that says it is a broker with a replica of the partition; what it fetches changes nothing."""
        if not self.context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = find_topic(self.context, None, named.topic, named.topic_id)
        partition = topic.partition(index)
        if partition is not None and self._follower not in partition.replicas:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return topic

    def _read(self, partition: Partition, named: FetchTopic, wanted: FetchPartition) -> PartitionData:
        log = partition.log
        read_committed = self.request.isolation_level == READ_COMMITTED
        high_watermark, last_stable_offset = partition.high_watermark, partition.last_stable_offset
        end_offset = last_stable_offset if read_committed else high_watermark
        data = PartitionData(
            partition_index=partition.index,
            high_watermark=high_watermark,
            last_stable_offset=last_stable_offset,
            log_start_offset=log.start_offset,
            aborted_transactions=[] if read_committed else None,
            records=b"",
        )
        if self._rack and (preferred := self._near_replica(partition, wanted.fetch_offset)) is not None:
            self.failed = True
            data.preferred_read_replica = preferred
            return data
        if wanted.last_fetched_epoch >= 0 and (diverging := _divergence(partition, wanted)):
            self.failed = True
            data.diverging_epoch, data.aborted_transactions = diverging, None
            return data
        if not log.start_offset <= wanted.fetch_offset <= log.end_offset:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        self._depends |= partition in self.partitions  # it is named twice
        self.partitions[partition] = Reading(named, wanted, data)
        # The first batch of the first partition that has one comes whatever its size, so that nobody is stuck (KIP-74).
        left = self._limit - self.bytes
        room = wanted.partition_max_bytes if wanted.partition_max_bytes < left else left
        if room < 0:
            negative = self._limit < 0 or wanted.partition_max_bytes < 0
            self._limit = max(self._limit, 0)
            if negative:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # as Kafka, which fails on it
            room = 0
        records = log.read(wanted.fetch_offset, room, end_offset, at_least_one=not self.bytes)
        size = sum(map(len, records))
        # What was read before decides about more than was asked for, which only the first may have, and about less than there is.
        self._depends |= size > room
        if room < wanted.partition_max_bytes or not records:
            self._depends |= size < log.available(wanted.fetch_offset, end_offset)
        if records:
            self.bytes += size
            data.records = records
            if read_committed:
                data.aborted_transactions = _aborted(partition, wanted.fetch_offset, records[-1], end_offset)
        return data

    def _near_replica(self, partition: Partition, offset: int) -> int | None:
        """Where a client should read instead: an in-sync replica in its own rack, if the leader is elsewhere (KIP-392)."""
        broker, rack = self.context.broker, self._rack
        if (
            partition.leader != broker.node_id
            or broker.rack == rack
            or not partition.log.start_offset <= offset <= partition.log.end_offset
        ):
            return None
        brokers = broker.cluster.brokers
        return next((node for node in partition.isr if brokers[node].running and brokers[node].rack == rack), None)

    def _refusal(self, topic: Topic | None, index: int, code: ErrorCode) -> PartitionData:
        moved = self.context.version >= LEADERS_SINCE and code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
        leader = current_leader(topic.partition(index)) if topic and moved else None
        if leader:
            self.leaders.append(leader.leader_id)
        return PartitionData(
            partition_index=index,
            error_code=code,
            high_watermark=-1,
            current_leader=leader,
            aborted_transactions=[] if code in _UNKNOWN else None,
            records=b"",
        )


def _size(data: PartitionData) -> int:
    return sum(map(len, cast("list[memoryview]", data.records)))


def _aborted(partition: Partition, fetch_offset: int, last: memoryview, end_offset: int) -> list[AbortedTransaction]:
    """The aborted transactions that the client has to skip records of; only where there are any is the end of what was read looked for."""
    if not partition.producers.aborted(fetch_offset, end_offset):
        return []
    aborted = partition.producers.aborted(fetch_offset, end_offset_of(last))
    return [AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in aborted]


def _divergence(partition: Partition, wanted: FetchPartition) -> EpochEndOffset | None:
    """Where the reader's log and ours part, if what it fetched last is not what we have (KIP-595)."""
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch == UNDEFINED_EPOCH:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None
