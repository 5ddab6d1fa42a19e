"""ListOffsets and OffsetForLeaderEpoch: the offset of a timestamp, of a special position, or of the end of a leader epoch."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Generator
from functools import partial

from ...protocol.batches.records import read_header
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.list_offsets import (
    LIST_OFFSETS,
    ListOffsetsPartition,
    ListOffsetsPartitionResponse,
    ListOffsetsRequest,
    ListOffsetsResponse,
    ListOffsetsTopicResponse,
)
from ...protocol.messages.offset_for_leader_epoch import (
    OFFSET_FOR_LEADER_EPOCH,
    EpochEndOffset,
    OffsetForLeaderEpochRequest,
    OffsetForLeaderEpochResponse,
    OffsetForLeaderPartition,
    OffsetForLeaderTopicResult,
)
from ...storage.log import Log
from ..api.context import Context, find_led_partition, find_topic
from ..api.registry import handles
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition
from ..topics.retention import segment_bytes
from ..topics.timestamps import NOT_FOUND, first_at

LATEST, EARLIEST, MAX_TIMESTAMP, EARLIEST_LOCAL, LATEST_TIERED, EARLIEST_PENDING_UPLOAD = -1, -2, -3, -4, -5, -6
# The first request version that may contain each special timestamp.
_SINCE = {LATEST: 1, EARLIEST: 1, MAX_TIMESTAMP: 7, EARLIEST_LOCAL: 8, LATEST_TIERED: 9, EARLIEST_PENDING_UPLOAD: 11}
OFFSET_NOT_AVAILABLE_SINCE = 5
READ_COMMITTED = 1
CONSUMER_REPLICA_ID, DEBUGGING_REPLICA_ID = -1, -2
"""The id of ordinary clients, and that of clients that may ask a follower."""


@handles(LIST_OFFSETS)
def list_offsets(request: ListOffsetsRequest, context: Context) -> Generator[Wait, None, ListOffsetsResponse]:
    """Returns one entry per partition. A partition that is listed twice gets INVALID_REQUEST, as in Kafka."""
    named = Counter((topic.name, partition.partition_index) for topic in request.topics for partition in topic.partitions)
    topics: dict[str, dict[int, ListOffsetsPartitionResponse]] = {}
    slices = Slices()
    for topic in request.topics:
        for wanted in topic.partitions:
            try:
                if named[topic.name, wanted.partition_index] > 1:
                    raise KafkaError(ErrorCode.INVALID_REQUEST)
                answer = _find(topic.name, wanted, request, context)
            except KafkaError as error:
                answer = ListOffsetsPartitionResponse(partition_index=wanted.partition_index, error_code=error.code)
            topics.setdefault(topic.name, {})[wanted.partition_index] = answer
            if slices.full(2):
                yield NEXT_TURN
    return ListOffsetsResponse(
        topics=[ListOffsetsTopicResponse(name=name, partitions=list(answers.values())) for name, answers in topics.items()]
    )


def _find(name: str, wanted: ListOffsetsPartition, request: ListOffsetsRequest, context: Context) -> ListOffsetsPartitionResponse:
    topic = find_topic(context, Operation.DESCRIBE, name)
    or_followed = request.replica_id == DEBUGGING_REPLICA_ID
    partition = find_led_partition(context.broker, topic, wanted.partition_index, wanted.current_leader_epoch, or_followed=or_followed)
    log, timestamp = partition.log, -1
    end_offset = _end_offset(partition, request, context.broker.node_id)
    if context.version == 0:
        offsets = _segment_offsets(partition, wanted, end_offset, context.now_ms)
        return ListOffsetsPartitionResponse(partition_index=partition.index, old_style_offsets=offsets)
    if wanted.timestamp >= 0 and partition.topic.config.message_format == 0:
        raise KafkaError(ErrorCode.UNSUPPORTED_FOR_MESSAGE_FORMAT)  # messages of format 0 have no timestamps
    if wanted.timestamp < 0 and context.version < _SINCE.get(wanted.timestamp, 1 << 15):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if wanted.timestamp == LATEST:
        _check_epoch_is_readable(partition, end_offset, context)
        return _partition_response(partition, timestamp, end_offset, partition.leader_epoch)
    if wanted.timestamp in (EARLIEST, EARLIEST_LOCAL):
        offset = log.start_offset
    elif wanted.timestamp in (LATEST_TIERED, EARLIEST_PENDING_UPLOAD):
        offset = -1
    elif wanted.timestamp == MAX_TIMESTAMP:
        newest = log.latest_timestamp()
        timestamp, offset = NOT_FOUND if newest is None else first_at(log, read_header(newest).max_timestamp)
    else:
        timestamp, offset = first_at(log, wanted.timestamp)
    if wanted.timestamp not in (EARLIEST, EARLIEST_LOCAL) and not 0 <= offset < end_offset:
        _check_epoch_is_readable(partition, end_offset, context)
        timestamp, offset = NOT_FOUND  # records that cannot be fetched yet are not found either
    return _partition_response(partition, timestamp, offset, log.epoch_at(offset) if offset >= 0 else -1)


def _end_offset(partition: Partition, request: ListOffsetsRequest, node_id: int) -> int:
    """Returns the end of what the client sees: a client with the id of a replica also sees records that are not replicated yet."""
    log_end, high_watermark, last_stable_offset = partition.offsets_of(node_id)
    if request.replica_id != CONSUMER_REPLICA_ID:
        return log_end
    return last_stable_offset if request.isolation_level == READ_COMMITTED else high_watermark


def _segment_offsets(partition: Partition, wanted: ListOffsetsPartition, end_offset: int, now_ms: int) -> list[int]:
    """Returns where segments begin that were last written to before a time, newest first (Kafka's legacyFetchOffsetsBefore).

    The end of the log is listed like a segment that is written to now. A segment was last written to at the time of its last batch.
    """
    log, config = partition.log, partition.topic.config
    segments = partition.virtual_segments.of_log(log, segment_bytes(config), config.integers["segment.ms"])
    offsets = [*(segment.base_offset for segment in segments), log.end_offset]
    if wanted.timestamp == EARLIEST:
        newest = 0
    elif wanted.timestamp == LATEST or wanted.timestamp >= now_ms:
        newest = len(segments)
    else:
        newest = bisect_right(segments, wanted.timestamp, key=lambda segment: _last_timestamp(log, segment.end_offset)) - 1
    found = offsets[: newest + 1][::-1][: max(wanted.max_num_offsets, 0)]
    if found and found[0] > end_offset:
        found = [end_offset, *(offset for offset in found if offset <= end_offset)]
    return found


def _last_timestamp(log: Log, end_offset: int) -> int:
    last = log.read(end_offset - 1, 0, end_offset, at_least_one=True)[0]
    return read_header(last).max_timestamp


def _check_epoch_is_readable(partition: Partition, end_offset: int, context: Context) -> None:
    """Raises KafkaError if consumers cannot read up to the start of the leader epoch yet, because followers lag after an election.

    The end could then be before offsets that consumers of the former leader have read. The client asks again (KIP-207).
    """
    if partition.held_offset is not None and end_offset < partition.log.epoch_start_offset:
        old_client = context.version < OFFSET_NOT_AVAILABLE_SINCE
        raise KafkaError(ErrorCode.LEADER_NOT_AVAILABLE if old_client else ErrorCode.OFFSET_NOT_AVAILABLE)


def _partition_response(partition: Partition, timestamp: int, offset: int, leader_epoch: int) -> ListOffsetsPartitionResponse:
    return ListOffsetsPartitionResponse(partition_index=partition.index, timestamp=timestamp, offset=offset, leader_epoch=leader_epoch)


@handles(OFFSET_FOR_LEADER_EPOCH)
def offset_for_leader_epoch(request: OffsetForLeaderEpochRequest, context: Context) -> Generator[Wait, None, OffsetForLeaderEpochResponse]:
    """Returns the end offset of the requested leader epoch of each partition (KIP-320)."""
    response, slices = OffsetForLeaderEpochResponse(topics=[]), Slices()
    for topic in request.topics:
        partitions = yield from in_slices(partial(_end_of_epoch, topic.topic, context), topic.partitions, slices, 2)
        response.topics.append(OffsetForLeaderTopicResult(topic=topic.topic, partitions=partitions))
        if slices.full():
            yield NEXT_TURN
    return response


def _end_of_epoch(name: str, context: Context, wanted: OffsetForLeaderPartition) -> EpochEndOffset:
    try:
        topic = find_topic(context, None if context.may(Operation.CLUSTER_ACTION, ResourceType.CLUSTER) else Operation.DESCRIBE, name)
        partition = find_led_partition(context.broker, topic, wanted.partition, wanted.current_leader_epoch)
    except KafkaError as error:
        return EpochEndOffset(error_code=error.code, partition=wanted.partition)
    if wanted.leader_epoch == partition.leader_epoch:
        epoch, end_offset = partition.leader_epoch, partition.log.end_offset
    else:
        epoch, end_offset = partition.log.end_offset_for_epoch(wanted.leader_epoch)
    return EpochEndOffset(partition=wanted.partition, leader_epoch=epoch, end_offset=end_offset)
