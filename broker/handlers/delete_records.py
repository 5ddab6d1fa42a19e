"""DeleteRecords: moves the start of a partition's log to an offset."""

from __future__ import annotations

from collections.abc import Generator
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.delete_records import (
    DELETE_RECORDS,
    DeleteRecordsPartition,
    DeleteRecordsPartitionResult,
    DeleteRecordsRequest,
    DeleteRecordsResponse,
    DeleteRecordsTopicResult,
)
from ..api.context import Context, find_led_partition, find_topic
from ..api.registry import handles
from ..scheduling.slices import Slices, in_slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation
from ..topics.retention import Removed, tell_removed

HIGH_WATERMARK = -1
"""The offset that stands for the high watermark."""


@handles(DELETE_RECORDS)
def delete_records(request: DeleteRecordsRequest, context: Context) -> Generator[Wait, None, DeleteRecordsResponse]:
    """Moves the log start of each partition. If a partition occurs twice in the request, the last occurrence counts."""
    topics: dict[str, dict[int, DeleteRecordsPartition]] = {}
    for topic in request.topics:
        for each in topic.partitions:
            topics.setdefault(topic.name, {})[each.partition_index] = each
    response, slices = DeleteRecordsResponse(topics=[]), Slices()
    for name, wanted in topics.items():
        removed: list[Removed] = []
        partitions = yield from in_slices(partial(_delete, name, context, removed), wanted.values(), slices, 2)
        tell_removed(context.cluster.tell, "deleted", removed, "a client has deleted older records")
        response.topics.append(DeleteRecordsTopicResult(name=name, partitions=partitions))
        if slices.full():
            yield NEXT_TURN
    return response


def _delete(name: str, context: Context, removed: list[Removed], wanted: DeleteRecordsPartition) -> DeleteRecordsPartitionResult:
    """Moves the start of a partition, which is added to `removed` if it has lost records."""
    try:
        topic = find_topic(context, Operation.DELETE, name)
        partition = find_led_partition(context.broker, topic, wanted.partition_index)
        if topic.is_internal:
            raise KafkaError(ErrorCode.INVALID_TOPIC_EXCEPTION)
        if "delete" not in topic.config.lists["cleanup.policy"]:
            raise KafkaError(ErrorCode.POLICY_VIOLATION)
        offset = partition.high_watermark if wanted.offset == HIGH_WATERMARK else wanted.offset
        if not 0 <= offset <= partition.high_watermark:
            raise KafkaError(ErrorCode.OFFSET_OUT_OF_RANGE)
    except KafkaError as error:
        return DeleteRecordsPartitionResult(partition_index=wanted.partition_index, low_watermark=-1, error_code=error.code)
    former_start = partition.log.start_offset
    partition.delete_before(offset)
    if partition.log.start_offset > former_start:
        removed.append(Removed(partition, former_start))
    context.cluster.wake(partition)
    return DeleteRecordsPartitionResult(partition_index=partition.index, low_watermark=partition.log.start_offset)
