"""Fetch: reads record batches. Not done: fetch sessions (none is ever made, which is legal), transactions.

An answer waits until `min_bytes` are there, an error is, or `max_wait_ms` is over; a produce wakes it at once.
"""

from __future__ import annotations

from collections.abc import Generator

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.fetch import (
    FETCH,
    EpochEndOffset,
    FetchableTopicResponse,
    FetchPartition,
    FetchRequest,
    FetchResponse,
    PartitionData,
)
from ..context import Context
from ..topics import Partition, Topic
from ..waiting import Wait
from .leadership import current_leader, find_led_partition, find_topic, node_endpoints
from .registry import handles

READ_COMMITTED = 1
FINAL_EPOCH = -1
LEADERS_SINCE = 16  # though the field is there before
UNKNOWN = (ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID)


@handles(FETCH)
def fetch(request: FetchRequest, context: Context) -> FetchResponse | Generator[Wait, None, FetchResponse]:
    """Answers at once where it can, and else waits."""
    if request.session_id and request.session_epoch > 0:
        return FetchResponse(error_code=ErrorCode.FETCH_SESSION_ID_NOT_FOUND, responses=[])
    read = Read(request, context)
    return read.response() if read.complete or request.max_wait_ms <= 0 else _wait(read)


def _wait(read: Read) -> Generator[Wait, None, FetchResponse]:
    """Reads again whenever one of the partitions changed, until there is enough or the time is up."""
    request, context = read.request, read.context
    deadline_ms = context.now_ms + request.max_wait_ms
    while not read.complete and context.now_ms < deadline_ms:
        yield Wait(read.partitions, deadline_ms)
        read = Read(request, context)
    return read.response()


class Read:
    """One pass over the partitions of a request."""

    def __init__(self, request: FetchRequest, context: Context) -> None:
        self.request = request
        self.context = context
        self.partitions: list[Partition] = []
        self.bytes = 0
        self.failed = False
        self._leaders: list[int] = []
        self._limit = min(request.max_bytes, context.broker.config.integers["fetch.max.bytes"])
        self._topics = [
            FetchableTopicResponse(
                topic=topic.topic,
                topic_id=topic.topic_id,
                partitions=[self._partition(topic.topic, topic.topic_id, wanted) for wanted in topic.partitions],
            )
            for topic in request.topics
        ]

    @property
    def complete(self) -> bool:
        """Whether there is nothing to wait for."""
        return self.failed or not self.partitions or self.bytes >= min(self.request.min_bytes, self._limit)

    def response(self) -> FetchResponse:
        """What was read."""
        return FetchResponse(responses=self._topics, node_endpoints=node_endpoints(self.context, self._leaders) if self._leaders else [])

    def _partition(self, name: str, topic_id: bytes, wanted: FetchPartition) -> PartitionData:
        topic = None
        try:
            topic = find_topic(self.context.broker, name, topic_id)
            partition = find_led_partition(self.context.broker, topic, wanted.partition, wanted.current_leader_epoch)
            return self._read(partition, wanted)
        except KafkaError as error:
            self.failed = True
            return self._refusal(topic, wanted.partition, error.code)

    def _read(self, partition: Partition, wanted: FetchPartition) -> PartitionData:
        log = partition.log
        read_committed = self.request.isolation_level == READ_COMMITTED
        end_offset = partition.last_stable_offset if read_committed else partition.high_watermark
        data = PartitionData(
            partition_index=partition.index,
            high_watermark=partition.high_watermark,
            last_stable_offset=partition.last_stable_offset,
            log_start_offset=log.start_offset,
            aborted_transactions=[] if read_committed else None,
            records=b"",
        )
        if wanted.last_fetched_epoch >= 0 and (diverging := _divergence(partition, wanted)):
            self.failed = True
            data.diverging_epoch, data.aborted_transactions = diverging, None
            return data
        if not log.start_offset <= wanted.fetch_offset <= log.end_offset:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
        self.partitions.append(partition)
        # The first batch of the first partition that has one comes whatever its size, so that nobody is stuck (KIP-74).
        room = min(wanted.partition_max_bytes, self._limit - self.bytes)
        records = log.read(wanted.fetch_offset, max(room, 0), end_offset, at_least_one=not self.bytes)
        self.bytes += sum(map(len, records))
        data.records = records
        return data

    def _refusal(self, topic: Topic | None, index: int, code: ErrorCode) -> PartitionData:
        moved = self.context.version >= LEADERS_SINCE and code in (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
        leader = current_leader(topic.partition(index)) if topic and moved else None
        if leader:
            self._leaders.append(leader.leader_id)
        return PartitionData(
            partition_index=index,
            error_code=code,
            high_watermark=-1,
            current_leader=leader,
            aborted_transactions=[] if code in UNKNOWN else None,
            records=b"",
        )


def _divergence(partition: Partition, wanted: FetchPartition) -> EpochEndOffset | None:
    """Where the reader's log and ours part, if what it fetched last is not what we have (KIP-595)."""
    epoch, end_offset = partition.log.end_offset_for_epoch(wanted.last_fetched_epoch)
    if epoch == FINAL_EPOCH:
        raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    if epoch < wanted.last_fetched_epoch or end_offset < wanted.fetch_offset:
        return EpochEndOffset(epoch=epoch, end_offset=end_offset)
    return None
