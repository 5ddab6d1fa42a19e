"""OffsetCommit and OffsetFetch v0, by which consumers before 0.8.2 store offsets in ZooKeeper.

Kafka up to 3.9 answers them in clusters with ZooKeeper, and refuses them with UNSUPPORTED_VERSION in clusters with KRaft.
"""

from __future__ import annotations

from collections.abc import Generator

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.offset_commit import (
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ...protocol.messages.offset_fetch import (
    OffsetFetchRequest,
    OffsetFetchResponse,
    OffsetFetchResponsePartition,
    OffsetFetchResponseTopic,
)
from ...protocol.schema import ZERO_UUID
from ..api.context import Context, find_partitions
from ..scheduling.slices import Slices
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType

NO_OFFSET = -1


def commit_to_zookeeper(request: OffsetCommitRequest, context: Context) -> Generator[Wait, None, OffsetCommitResponse]:
    """Stores the offsets of partitions that exist. Raises KafkaError."""
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    zookeeper = context.cluster.zookeeper
    if zookeeper is None:
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    named, slices = [((topic.name, ZERO_UUID), topic.partitions) for topic in request.topics], Slices()
    found, answers = yield from find_partitions(named, context, slices)
    for key, topic, wanted in found:
        error = context.cluster.groups.offsets.check_metadata(wanted.committed_metadata or "")
        if not error:
            zookeeper.commit(request.group_id, topic.name, wanted.partition_index, wanted.committed_offset)
        answers.setdefault(key, []).append((wanted.partition_index, error))
        if slices.full():
            yield NEXT_TURN
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                partitions=[OffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in partitions],
            )
            for (name, _), partitions in answers.items()
        ]
    )


def fetch_from_zookeeper(request: OffsetFetchRequest, context: Context) -> OffsetFetchResponse:
    """Returns the stored offsets, and UNKNOWN_TOPIC_OR_PARTITION where there is none. Each partition gets an error of the group."""
    error = ErrorCode.NONE
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, request.group_id):
        error = ErrorCode.GROUP_AUTHORIZATION_FAILED
    elif context.cluster.zookeeper is None:
        error = ErrorCode.UNSUPPORTED_VERSION
    response = OffsetFetchResponse(topics=[])
    for topic in request.topics or []:
        partitions = [_fetch(request.group_id, topic.name, index, error, context) for index in topic.partition_indexes]
        response.topics.append(OffsetFetchResponseTopic(name=topic.name, partitions=partitions))
    return response


def _fetch(group_id: str, topic: str, index: int, error: ErrorCode, context: Context) -> OffsetFetchResponsePartition:
    offset = None
    if error:
        pass
    elif not context.may(Operation.DESCRIBE, ResourceType.TOPIC, topic):
        error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    elif context.cluster.topics.find_partition(topic, index) is None:
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    elif context.cluster.zookeeper is not None:
        offset = context.cluster.zookeeper.committed_offset(group_id, topic, index)
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if offset is None else ErrorCode.NONE
    return OffsetFetchResponsePartition(
        partition_index=index, committed_offset=NO_OFFSET if offset is None else offset, metadata="", error_code=error
    )
