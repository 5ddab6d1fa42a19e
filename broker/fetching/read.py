"""One pass over the partitions of a Fetch request: the data or the error of each, and whether the response is complete.

Limits. `max_bytes` of the request and `fetch.max.bytes` of the broker limit the response, and `partition_max_bytes` limits a partition.
The first batch of the first partition that has records is returned whatever its size, so that a consumer always makes progress (KIP-74).
Therefore the data of a partition may depend on the data of the partitions before it.

Waiting. A response that is not complete is kept until one of `partitions` is woken. Then `update` reads only the woken partitions again
and replaces their data in place. That is wrong if a partition's data depends on others (`_depends`): when a limit was reached, when the
first batch was larger than its limit. `update` then returns False and the handler starts a new pass.

Errors. Kafka places the partitions that it cannot find, or that the client may not read, after all others (`_unknown`), and continues to
wait if there are such errors. Any other error completes the response at once (`failed`).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, cast

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import (
    AbortedTransaction,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchTopic,
    PartitionData,
)
from ...protocol.schema import ZERO_UUID
from ...storage.segments import end_offset_of
from ..api.context import Context, current_leader, find_led_partition, find_topic
from ..scheduling.slices import ITEMS, Slices, chunks
from ..scheduling.waiting import NEXT_TURN, Background
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition, Topic

READ_COMMITTED = 1
UNDEFINED_EPOCH = -1
NO_FOLLOWER = -1
WHOLE_SINCE = 3  # KIP-74: until then, a batch that does not fit is returned in part, so that the client enlarges its limit
FOLLOWERS_SINCE = 11  # KIP-392: consumers may read from any replica
TOPIC_IDS_SINCE = 13  # KIP-516
LEADERS_SINCE = 16  # KIP-951: the field exists from v12 on, but Kafka fills it from v16 on
# The errors whose partitions come last in the response, with their order.
_UNKNOWN = {ErrorCode.UNKNOWN_TOPIC_ID: 0, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: 1, ErrorCode.TOPIC_AUTHORIZATION_FAILED: 1}


def distinct(topics: list[FetchTopic]) -> list[FetchTopic]:
    """Returns the entries of a request with each partition once.

    A partition that is named again stays at its first place and is read as its last entry says (Kafka's FetchRequest.fetchData).
    """
    if len(topics) == 1 == len(topics[0].partitions):
        return topics
    last = {(topic.topic, topic.topic_id, wanted.partition): wanted for topic in topics for wanted in topic.partitions}
    if len(last) == sum(len(topic.partitions) for topic in topics):
        return topics
    groups = groupby(last, key=itemgetter(0, 1))
    return [FetchTopic(topic=name, topic_id=id_, partitions=[last[key] for key in keys]) for (name, id_), keys in groups]


class PartitionRead(NamedTuple):
    """The data that was read from a partition, with its topic and its entry in the request."""

    topic: FetchTopic
    wanted: FetchPartition
    data: PartitionData


class FetchRead:
    """One pass over the partitions of `topics`, and its result after `run` or `run_in_slices`.

    `quiet` are the partitions of a session that have no new data; they are not read, but the request may wait for them. `topics` is the
    response, `partitions` are all partitions that the request may wait for, and `leaders` are the leaders that the response contains.
    """

    __slots__ = (
        *("_by_id", "_cuts", "_depends", "_follower", "_limit", "_or_followed", "_rack", "_unknown", "_wanted", "_was_interrupted"),
        *("bytes", "context", "failed", "leaders", "partitions", "request", "topics"),
    )

    def __init__(self, request: FetchRequest, context: Context, topics: Sequence[FetchTopic], quiet: Sequence[Partition] = ()) -> None:
        self.request = request
        self.context = context
        self.topics: list[FetchableTopicResponse] = []
        self.partitions: dict[Partition, PartitionRead | None] = dict.fromkeys(quiet)
        self.leaders: list[int] = []
        self._depends = False
        self.bytes = 0
        self.failed = False
        broker = context.broker
        self._follower = request.replica_id if request.replica_state is None else request.replica_state.replica_id
        self._or_followed = context.version >= FOLLOWERS_SINCE
        self._by_id = context.version >= TOPIC_IDS_SINCE
        self._cuts = context.version < WHOLE_SINCE
        self._rack = request.rack_id if broker.rack_aware and self._or_followed else ""
        self._unknown: list[tuple[FetchTopic, PartitionData]] = []
        self._limit = min(request.max_bytes, broker.config.integers["fetch.max.bytes"])
        self._wanted = topics
        self._was_interrupted = False

    @property
    def is_large(self) -> bool:
        """Whether the partitions are read in slices."""
        return sum([len(topic.partitions) for topic in self._wanted]) > ITEMS

    def run(self) -> None:
        """Reads all partitions at once."""
        for topic in self._wanted:
            found = [data for wanted in topic.partitions if (data := self._partition(topic, wanted)) is not None]
            if found:
                self._append(topic, found)
        if self._unknown:
            self._append_unknown()

    def run_in_slices(self) -> Background:
        """Reads all partitions in slices."""
        slices = Slices()
        for topic in self._wanted:
            found: list[PartitionData] = []
            for some in chunks(topic.partitions):
                found += [data for wanted in some if (data := self._partition(topic, wanted)) is not None]
                if slices.full(1 + len(some)):
                    self._was_interrupted = True
                    yield NEXT_TURN
            if found:
                self._append(topic, found)
        if self._unknown:
            self._append_unknown()

    def missed_partitions(self) -> list[Partition]:
        """Returns the partitions that have changed after they were read, while others were read in later turns."""
        interrupted, self._was_interrupted = self._was_interrupted, False
        if not interrupted:
            return []
        return [each for each, read in self.partitions.items() if read and read.data.high_watermark != self._high_watermark(each)]

    def _high_watermark(self, partition: Partition) -> int:
        node_id = self.context.broker.node_id
        return partition.high_watermark if partition.leader == node_id else partition.offsets_of(node_id)[1]

    @property
    def complete(self) -> bool:
        """Whether the response can be sent without waiting: it has enough bytes or an error, or there is no partition to wait for."""
        return self.failed or not self.partitions or self.bytes >= self.request.min_bytes or self.bytes >= self._limit

    @property
    def only_partition(self) -> Partition | None:
        """The partition, if the request is for one only and there is no error."""
        if not self.failed and 1 == len(self.partitions) == len(self.request.topics) == len(self.request.topics[0].partitions):
            return next(iter(self.partitions))
        return None

    def update(self, partitions: Iterable[Hashable]) -> bool:
        """Reads these partitions again and replaces their data. Returns False if a new pass is needed instead."""
        node_id = self.context.broker.node_id
        for partition in cast("Iterable[Partition]", dict.fromkeys(partitions)):
            earlier = self.partitions.get(partition)
            if earlier is None or self._depends or self._rack:
                return False
            _, wanted, data = earlier
            log, epoch = partition.log, wanted.current_leader_epoch
            if (
                partition.leader != node_id
                or (epoch >= 0 and epoch != partition.leader_epoch)
                or wanted.last_fetched_epoch >= 0
                or not log.start_offset <= wanted.fetch_offset <= log.end_offset
            ):
                return False
            self.bytes -= _size(data)
            data.high_watermark, data.last_stable_offset = partition.high_watermark, partition.last_stable_offset
            data.log_start_offset, data.records = log.start_offset, b""
            if data.aborted_transactions:
                data.aborted_transactions = []
            self._read_records(data, partition, wanted)
        return not self._depends

    def _append_unknown(self) -> None:
        for topic, data in sorted(self._unknown, key=lambda pair: _UNKNOWN[ErrorCode(pair[1].error_code)]):
            self._append(topic, [data])

    def _append(self, topic: FetchTopic, found: list[PartitionData]) -> None:
        """Adds partitions to the response. As in Kafka, adjacent entries of one topic are one entry."""
        last = self.topics[-1] if self.topics else None
        if last and last.topic == topic.topic and last.topic_id == topic.topic_id:
            last.partitions += found
        else:
            self.topics.append(FetchableTopicResponse(topic=topic.topic, topic_id=topic.topic_id, partitions=found))

    def _partition(self, named: FetchTopic, wanted: FetchPartition) -> PartitionData | None:
        """Returns the response for a partition, or None for an error that comes last and was added to `_unknown`."""
        topic, broker = None, self.context.broker
        try:
            if self._by_id and named.topic_id == ZERO_UUID:
                raise KafkaError(ErrorCode.UNKNOWN_TOPIC_ID)
            if self._follower == NO_FOLLOWER:
                topic = find_topic(self.context, Operation.READ, named.topic, named.topic_id)
            else:
                topic = self._find_followed(named, wanted.partition)
            epoch = wanted.current_leader_epoch if wanted.current_leader_epoch >= 0 else -1  # in Fetch, every negative epoch means none
            partition = find_led_partition(broker, topic, wanted.partition, epoch, or_followed=self._or_followed)
            return self._read(partition, named, wanted)
        except KafkaError as error:
            code = error.code
            if code == ErrorCode.UNKNOWN_TOPIC_ID and named.topic:
                # A session stores the name of each topic id. A deleted topic is unknown; a topic that was created again has another id.
                anew = named.topic in self.context.cluster.topics
                code = ErrorCode.INCONSISTENT_TOPIC_ID if anew else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
            refusal = self._refusal(topic, wanted.partition, code)
        if refusal.error_code in _UNKNOWN:
            self._unknown.append((named, refusal))
            return None
        self.failed = True
        return refusal

    def _find_followed(self, named: FetchTopic, index: int) -> Topic:
        """Returns the topic for a client that sends the id of a replica. Its fetches do not change the state of that replica."""
        if not self.context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER):
            raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        topic = find_topic(self.context, None, named.topic, named.topic_id)
        partition = topic.partition(index)
        if partition is not None and self._follower not in partition.replicas:
            raise KafkaError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return topic

    def _read(self, partition: Partition, named: FetchTopic, wanted: FetchPartition) -> PartitionData:
        log, node_id = partition.log, self.context.broker.node_id
        if partition.leader == node_id:
            log_end, last_stable_offset = log.end_offset, partition.last_stable_offset
            high_watermark = log_end if partition.held_offset is None else partition.high_watermark
        else:
            log_end, high_watermark, last_stable_offset = partition.offsets_of(node_id)
        data = PartitionData(
            partition_index=partition.index,
            high_watermark=high_watermark,
            last_stable_offset=last_stable_offset,
            log_start_offset=log.start_offset,
            aborted_transactions=[] if self.request.isolation_level == READ_COMMITTED else None,
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
        if not log.start_offset <= wanted.fetch_offset <= log_end:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        self.partitions[partition] = PartitionRead(named, wanted, data)
        self._read_records(data, partition, wanted)
        return data

    def _read_records(self, data: PartitionData, partition: Partition, wanted: FetchPartition) -> None:
        """Adds the records from `wanted.fetch_offset` on to `data`, which contains the offsets of the partition and no records."""
        log, offset = partition.log, wanted.fetch_offset
        read_committed = self.request.isolation_level == READ_COMMITTED
        end_offset = data.last_stable_offset if read_committed else data.high_watermark
        if offset > end_offset:
            self.failed = True  # Kafka's DelayedFetch takes this for a truncation, so the response does not wait
        left = self._limit - self.bytes
        room = wanted.partition_max_bytes if wanted.partition_max_bytes < left else left
        if room < 0:
            negative = self._limit < 0 or wanted.partition_max_bytes < 0
            self._limit = max(self._limit, 0)
            if negative:
                raise KafkaError(ErrorCode.UNKNOWN_SERVER_ERROR)  # Kafka fails on a negative limit too
            room = 0
        if offset >= end_offset:
            return
        records = log.read(offset, room, end_offset, at_least_one=self._cuts or not self.bytes)
        size = sum(map(len, records))
        if self._cuts and size > room:
            records, size = [records[0][:room]], room
        # Only the first partition with records may exceed its limit, and only if nothing was read before it.
        self._depends |= size > room
        if room < wanted.partition_max_bytes or not records:
            self._depends |= size < log.available(offset, end_offset)
        if records:
            self.bytes += size
            data.records = records
            if read_committed:
                data.aborted_transactions = _aborted_transactions(partition, offset, records[-1], end_offset)

    def _near_replica(self, partition: Partition, offset: int) -> int | None:
        """Returns an in-sync replica in the client's rack that has the offset, the one with the most records (KIP-392).

        Returns None if this broker follows the partition or is in that rack.
        """
        broker, rack = self.context.broker, self._rack
        if (
            partition.leader != broker.node_id
            or broker.rack == rack
            or not partition.log.start_offset <= offset <= partition.log.end_offset
        ):
            return None
        brokers = self.context.cluster.brokers
        near = [node for node in partition.isr if brokers[node].rack == rack and partition.position(node) >= offset]
        return max(near, key=partition.position, default=None)

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


def _aborted_transactions(partition: Partition, fetch_offset: int, last: memoryview, end_offset: int) -> list[AbortedTransaction]:
    """Returns the aborted transactions in the range that was read, whose records the client has to skip.

    The end of the range is in the header of the last batch, which is searched for only if there are aborted transactions at all.
    """
    if not partition.producers.aborted(fetch_offset, end_offset):
        return []
    aborted = partition.producers.aborted(fetch_offset, end_offset_of(last))
    return [AbortedTransaction(producer_id=each.producer_id, first_offset=each.first_offset) for each in aborted]


def _divergence(partition: Partition, wanted: FetchPartition) -> EpochEndOffset | None:
    """Returns the epoch and offset at which the reader's log diverges from this one, or None if it does not (KIP-595)."""
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch == UNDEFINED_EPOCH:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None
