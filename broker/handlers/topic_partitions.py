"""DescribeTopicPartitions (KIP-966): topics in the order of their names, in pages of at most `response_partition_limit` partitions.

The cursor of a response is the topic and partition at which the next page begins. The response is built in slices (`slices.py`).
"""

from __future__ import annotations

from collections.abc import Generator
from heapq import nsmallest

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.describe_topic_partitions import (
    DESCRIBE_TOPIC_PARTITIONS,
    Cursor,
    DescribeTopicPartitionsRequest,
    DescribeTopicPartitionsResponse,
    DescribeTopicPartitionsResponsePartition,
    DescribeTopicPartitionsResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..api.context import Context, stopped_nodes
from ..api.registry import handles
from ..scheduling.slices import Slices, chunks
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Partition, Topic
from ..topics.topics import illegal_name

OPERATIONS_NOT_REQUESTED = -(1 << 31)


@handles(DESCRIBE_TOPIC_PARTITIONS)
def describe_topic_partitions(
    request: DescribeTopicPartitionsRequest, context: Context
) -> Generator[Wait, None, DescribeTopicPartitionsResponse]:
    """Returns one page. Raises KafkaError with INVALID_REQUEST for a cursor that does not fit the request's topics."""
    names = {topic.name for topic in request.topics}
    cursor = request.cursor
    if cursor and (cursor.partition_index < 0 or (names and cursor.topic_name not in names)):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    limit = context.broker.config.integers["max.request.partition.size.limit"]
    room = max(1, min(request.response_partition_limit, limit))
    first_name = cursor.topic_name if cursor else ""
    slices = Slices()
    # A topic has at least one partition, so a page of `room` partitions has at most `room` names. One more is needed for a cursor.
    allowed = yield from _first_names(names, first_name, None if names else room + 1, slices, context)
    response = DescribeTopicPartitionsResponse(topics=[])
    for name in allowed:
        if not room:
            response.next_cursor = Cursor(topic_name=name, partition_index=0)
            break
        topic = context.cluster.topics.get(name)
        if topic is None:
            if names:  # without names in the request, the topic has been deleted since the names were listed
                response.topics.append(_unknown_topic(name, context))
                if slices.full(2):
                    yield NEXT_TURN
            continue
        first = cursor.partition_index if cursor and cursor.topic_name == name else 0
        page = topic.partitions[first : first + room]
        room -= len(page)
        response.topics.append(_described_topic(topic, page, context))
        if slices.full(1 + len(page)):
            yield NEXT_TURN
        if first + len(page) < len(topic.partitions):
            response.next_cursor = Cursor(topic_name=name, partition_index=first + len(page))
            break
    refused = sorted(name for name in names.difference(allowed) if name >= first_name)
    response.topics += [_topic_error(name, ErrorCode.TOPIC_AUTHORIZATION_FAILED) for name in refused]
    return response


def _first_names(names: set[str], first: str, count: int | None, slices: Slices, context: Context) -> Generator[Wait, None, list[str]]:
    """Returns the first `count` (None: all) of `names`, or of all topics, from `first` on that the client may describe, sorted."""
    found = list[str]()
    for some in chunks(list(names or context.cluster.topics)):
        found += [name for name in some if name >= first and context.may(Operation.DESCRIBE, ResourceType.TOPIC, name)]
        if count is not None:
            found = nsmallest(count, found)
        if slices.full(len(some) // 4):
            yield NEXT_TURN
    return sorted(found)


def _unknown_topic(name: str, context: Context) -> DescribeTopicPartitionsResponseTopic:
    code = ErrorCode.INVALID_TOPIC_EXCEPTION if illegal_name(name) else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return _topic_error(name, code, context.permissions(ResourceType.TOPIC, name))


def _topic_error(name: str, code: ErrorCode, operations: int = OPERATIONS_NOT_REQUESTED) -> DescribeTopicPartitionsResponseTopic:
    return DescribeTopicPartitionsResponseTopic(
        error_code=code, name=name, topic_id=ZERO_UUID, partitions=[], topic_authorized_operations=operations
    )


def _described_topic(topic: Topic, partitions: list[Partition], context: Context) -> DescribeTopicPartitionsResponseTopic:
    stopped = stopped_nodes(context)
    return DescribeTopicPartitionsResponseTopic(
        name=topic.name,
        topic_id=topic.id,
        is_internal=topic.is_internal,
        topic_authorized_operations=context.permissions(ResourceType.TOPIC, topic.name),
        partitions=[
            DescribeTopicPartitionsResponsePartition(
                partition_index=partition.index,
                leader_id=partition.leader,
                leader_epoch=partition.leader_epoch,
                replica_nodes=partition.replicas,
                isr_nodes=partition.isr,
                eligible_leader_replicas=partition.elr,
                last_known_elr=partition.last_known_elr,
                offline_replicas=[node_id for node_id in partition.replicas if node_id in stopped],
            )
            for partition in partitions
        ],
    )
