"""DescribeShareGroupOffsets, AlterShareGroupOffsets and DeleteShareGroupOffsets (KIP-932), which administrators send.

The start offset of a share partition is that of the first record that the group may still deliver. From v1 on, DescribeShareGroupOffsets
returns the lag, which is the number of records after the start offset that are not acknowledged or archived yet (KIP-1226).
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from itertools import compress

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.alter_share_group_offsets import (
    ALTER_SHARE_GROUP_OFFSETS,
    AlterShareGroupOffsetsRequest,
    AlterShareGroupOffsetsRequestTopic,
    AlterShareGroupOffsetsResponse,
    AlterShareGroupOffsetsResponsePartition,
    AlterShareGroupOffsetsResponseTopic,
)
from ...protocol.messages.delete_share_group_offsets import (
    DELETE_SHARE_GROUP_OFFSETS,
    DeleteShareGroupOffsetsRequest,
    DeleteShareGroupOffsetsResponse,
    DeleteShareGroupOffsetsResponseTopic,
)
from ...protocol.messages.describe_share_group_offsets import (
    DESCRIBE_SHARE_GROUP_OFFSETS,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
    DescribeShareGroupOffsetsRequestTopic,
    DescribeShareGroupOffsetsResponse,
    DescribeShareGroupOffsetsResponseGroup,
    DescribeShareGroupOffsetsResponsePartition,
    DescribeShareGroupOffsetsResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..api.context import Context
from ..api.registry import handles
from ..groups.cluster_view import UNINITIALIZED_START_OFFSET
from ..groups.share.requests import DeletedOffsets
from ..kafka_quirks.java_hash import wrap_long
from ..scheduling.slices import Slices, in_slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Background, Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Topic
from ..topics.replication import NO_LEADER
from .share_groups import is_enabled

UNKNOWN_LAG = -1
UNKNOWN_DELIVERY_COUNT = -1
_TEXTS = {
    ErrorCode.INVALID_GROUP_ID: "The group id is invalid.",
    ErrorCode.GROUP_AUTHORIZATION_FAILED: "Group authorization failed.",
    ErrorCode.UNSUPPORTED_VERSION: "The version of API is not supported.",
    ErrorCode.NOT_COORDINATOR: "This is not the correct coordinator.",
    ErrorCode.NON_EMPTY_GROUP: "The group is not empty.",
    ErrorCode.TOPIC_AUTHORIZATION_FAILED: "Topic authorization failed.",
    ErrorCode.UNKNOWN_SERVER_ERROR: "The server experienced an unexpected error when processing the request.",
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: "This server does not host this topic-partition.",
}
"""The texts of errors that come without a text of their own (Kafka's Errors)."""


def _text(error: KafkaError) -> str | None:
    return error.message or _TEXTS.get(error.code)


@handles(DESCRIBE_SHARE_GROUP_OFFSETS)
def describe_share_group_offsets(
    request: DescribeShareGroupOffsetsRequest, context: Context
) -> Generator[Wait, None, DescribeShareGroupOffsetsResponse]:
    """Returns start offsets. A group, topic or partition without a stored state is not an error: the offset is -1."""
    slices = Slices()
    response = DescribeShareGroupOffsetsResponse(groups=[])
    for group in request.groups:
        described = yield from _describe_group(group, slices, context)
        response.groups.append(described)
        if slices.full(1 + weight_of(group.group_id)):
            yield NEXT_TURN
    return response


def _describe_group(
    group: DescribeShareGroupOffsetsRequestGroup, slices: Slices, context: Context
) -> Generator[Wait, None, DescribeShareGroupOffsetsResponseGroup]:
    answer = DescribeShareGroupOffsetsResponseGroup(group_id=group.group_id, topics=[])
    if not is_enabled(context):
        answer.error_code = ErrorCode.UNSUPPORTED_VERSION
    elif not context.may(Operation.DESCRIBE, ResourceType.GROUP, group.group_id):
        answer.error_code = ErrorCode.GROUP_AUTHORIZATION_FAILED
    elif group.topics is not None:
        yield from _describe_some(group.topics, answer, slices, context)
    elif not context.is_coordinator(group.group_id):
        answer.error_code, answer.error_message = ErrorCode.NOT_COORDINATOR, _TEXTS[ErrorCode.NOT_COORDINATOR]
    else:
        answer.topics = yield from _describe_all(group.group_id, slices, context)
    return answer


def _describe_some(
    wanted: list[DescribeShareGroupOffsetsRequestTopic], answer: DescribeShareGroupOffsetsResponseGroup, slices: Slices, context: Context
) -> Background:
    """Adds the named topics to the answer. Kafka fails if a topic exists but the group id or the list of its partitions is empty."""
    topics = []
    for each in wanted:
        topics.append((yield from _describe_topic(answer.group_id, each.topic_name, each.partitions, slices, context)))
    if any(kind == EXISTING and not (answer.group_id and topic.partitions) for kind, topic in topics):
        answer.error_code, answer.error_message = ErrorCode.UNKNOWN_SERVER_ERROR, _TEXTS[ErrorCode.UNKNOWN_SERVER_ERROR]
    else:
        # Kafka returns the topics that exist first, then unknown ones, then those that the client may not describe.
        answer.topics = [topic for _, topic in sorted(topics, key=lambda each: each[0])]


def _describe_all(group_id: str, slices: Slices, context: Context) -> Generator[Wait, None, list[DescribeShareGroupOffsetsResponseTopic]]:
    """Returns the initialized partitions of the topics that the client may describe."""
    initialized = context.cluster.groups.share.initialized_partitions(group_id)
    topics = [(topic, initialized[topic.id]) for topic_id in initialized if (topic := context.cluster.topics_by_id.get(topic_id))]
    described = []
    for topic, indexes in topics:
        if context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic.name):
            described.append((yield from _topic(group_id, topic, sorted(indexes), slices, context)))
    return described


EXISTING, UNKNOWN, REFUSED = range(3)


def _describe_topic(
    group_id: str, name: str, partitions: Sequence[int], slices: Slices, context: Context
) -> Generator[Wait, None, tuple[int, DescribeShareGroupOffsetsResponseTopic]]:
    """Returns the topic and the part of the response that it belongs to."""
    if slices.full(3 + len(partitions) // 4):
        yield NEXT_TURN
    if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, name):
        refusal = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
        return REFUSED, _without_state(name, partitions, refusal)
    topic = context.cluster.topics.get(name)
    if topic is None:
        return UNKNOWN, _without_state(name, partitions)
    return EXISTING, (yield from _topic(group_id, topic, partitions, slices, context))


def _without_state(name: str, partitions: Iterable[int], error: KafkaError | None = None) -> DescribeShareGroupOffsetsResponseTopic:
    return DescribeShareGroupOffsetsResponseTopic(
        topic_name=name,
        topic_id=ZERO_UUID,
        partitions=[
            DescribeShareGroupOffsetsResponsePartition(
                partition_index=index,
                start_offset=UNINITIALIZED_START_OFFSET,
                error_code=error.code if error else ErrorCode.NONE,
                error_message=_text(error) if error else None,
            )
            for index in partitions
        ],
    )


def _topic(
    group_id: str, topic: Topic, partitions: Iterable[int], slices: Slices, context: Context
) -> Generator[Wait, None, DescribeShareGroupOffsetsResponseTopic]:
    described = yield from in_slices(lambda index: _partition(group_id, topic, index, context), partitions, slices)
    return DescribeShareGroupOffsetsResponseTopic(topic_name=topic.name, topic_id=topic.id, partitions=described)


def _partition(group_id: str, topic: Topic, index: int, context: Context) -> DescribeShareGroupOffsetsResponsePartition:
    partition = topic.partition(index)
    summary = context.cluster.share_states.summary(group_id, topic.id, index)
    if partition is None or summary is None:
        return DescribeShareGroupOffsetsResponsePartition(partition_index=index, start_offset=UNINITIALIZED_START_OFFSET)
    lag = UNKNOWN_LAG
    if summary.start_offset != UNINITIALIZED_START_OFFSET and summary.delivery_complete_count != UNKNOWN_DELIVERY_COUNT:
        if partition.leader == NO_LEADER:
            error = ErrorCode.LEADER_NOT_AVAILABLE
            return DescribeShareGroupOffsetsResponsePartition(partition_index=index, error_code=error)
        lag = wrap_long(partition.high_watermark - summary.start_offset - summary.delivery_complete_count)
    return DescribeShareGroupOffsetsResponsePartition(
        partition_index=index, start_offset=summary.start_offset, leader_epoch=summary.leader_epoch, lag=lag
    )


@handles(ALTER_SHARE_GROUP_OFFSETS)
def alter_share_group_offsets(
    request: AlterShareGroupOffsetsRequest, context: Context
) -> Generator[Wait, None, AlterShareGroupOffsetsResponse]:
    """Sets start offsets of a share group without members."""
    slices = Slices()
    try:
        _check(request.group_id, Operation.READ, context)
        readable = frozenset((yield from _readable([topic.topic_name for topic in request.topics], slices, context)))
        existing = {name for name in readable if name in context.cluster.topics}
        offsets = {
            topic.topic_name: {each.partition_index: each.start_offset for each in topic.partitions}
            for topic in request.topics
            if topic.topic_name in existing
        }
        _check_group_id(request.group_id, context)
        errors = context.cluster.groups.share.alter_offsets(request.group_id, offsets)
    except KafkaError as error:
        return AlterShareGroupOffsetsResponse(error_code=error.code, error_message=_text(error), responses=[])
    responses = []
    for topic in request.topics:
        refusal = None if topic.topic_name in existing else _UNKNOWN_TOPIC if topic.topic_name in readable else _REFUSED_TOPIC
        responses.append((yield from _alteration_response(topic, refusal, errors, slices, context)))
    return AlterShareGroupOffsetsResponse(responses=responses)


_UNKNOWN_TOPIC = KafkaError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
_REFUSED_TOPIC = KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)


def _readable(names: Sequence[str], slices: Slices, context: Context) -> Generator[Wait, None, list[str]]:
    """Returns the topics that the client may read, which need not exist."""
    may_read = yield from in_slices(lambda name: context.may(Operation.READ, ResourceType.TOPIC, name), names, slices, 3)
    return list(compress(names, may_read))


def _alteration_response(
    topic: AlterShareGroupOffsetsRequestTopic,
    refusal: KafkaError | None,
    errors: dict[tuple[str, int], KafkaError],
    slices: Slices,
    context: Context,
) -> Generator[Wait, None, AlterShareGroupOffsetsResponseTopic]:
    def partition_response(index: int) -> AlterShareGroupOffsetsResponsePartition:
        error = refusal or errors.get((topic.topic_name, index))
        return AlterShareGroupOffsetsResponsePartition(
            partition_index=index,
            error_code=error.code if error else ErrorCode.NONE,
            error_message=_text(error) if error else None,
        )

    found = context.cluster.topics.get(topic.topic_name)
    partitions = yield from in_slices(partition_response, [each.partition_index for each in topic.partitions], slices)
    if slices.full():
        yield NEXT_TURN
    return AlterShareGroupOffsetsResponseTopic(
        topic_name=topic.topic_name, topic_id=found.id if found else ZERO_UUID, partitions=partitions
    )


@handles(DELETE_SHARE_GROUP_OFFSETS)
def delete_share_group_offsets(
    request: DeleteShareGroupOffsetsRequest, context: Context
) -> Generator[Wait, None, DeleteShareGroupOffsetsResponse]:
    """Deletes the states of topics in a share group without members."""
    names, slices = [topic.topic_name for topic in request.topics], Slices()
    try:
        _check(request.group_id, Operation.DELETE, context)
        readable = yield from _readable(names, slices, context)
        _check_group_id(request.group_id, context)
        deleted = context.cluster.groups.share.delete_offsets(request.group_id, readable)
    except KafkaError as error:
        return DeleteShareGroupOffsetsResponse(error_code=error.code, error_message=_text(error), responses=[])
    known = frozenset(readable)
    refused = [DeletedOffsets(name, None, _REFUSED_TOPIC) for name in names if name not in known]
    return DeleteShareGroupOffsetsResponse(responses=(yield from in_slices(_deletion_response, refused + deleted, slices)))


def _deletion_response(result: DeletedOffsets) -> DeleteShareGroupOffsetsResponseTopic:
    topic, error = result.topic, result.error
    return DeleteShareGroupOffsetsResponseTopic(
        topic_name=result.name,
        topic_id=topic.id if topic else ZERO_UUID,
        error_code=error.code if error else ErrorCode.NONE,
        error_message=_text(error) if error else None,
    )


def _check(group_id: str, operation: Operation, context: Context) -> None:
    """Raises KafkaError if share groups are disabled or the client may not change the group."""
    if not is_enabled(context):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(operation, ResourceType.GROUP, group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)


def _check_group_id(group_id: str, context: Context) -> None:
    if not group_id:
        raise KafkaError(ErrorCode.INVALID_GROUP_ID)
    if not context.is_coordinator(group_id):
        raise KafkaError(ErrorCode.NOT_COORDINATOR)
