"""Committed offsets: OffsetCommit, OffsetFetch and OffsetDelete.

OffsetCommit: v2 to v4 name a retention time, v6 has leader epochs, v7 knows static members (KIP-345), v9 answers GROUP_ID_NOT_FOUND
where it was ILLEGAL_GENERATION (KIP-848), v10 names topics by id.
OffsetFetch: from v2 on null topics mean all, and an error of the group is at the top instead of on every partition; v5 has leader
epochs, v7 asks for stable offsets (KIP-447), v8 for several groups (KIP-709), v9 as a member of a consumer group, v10 by topic id.

Not done: authorization.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ...protocol.errors import ErrorCode
from ...protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
    OffsetCommitResponse,
    OffsetCommitResponsePartition,
    OffsetCommitResponseTopic,
)
from ...protocol.messages.offset_delete import (
    OFFSET_DELETE,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ...protocol.messages.offset_fetch import (
    OFFSET_FETCH,
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopic,
    OffsetFetchRequestTopics,
    OffsetFetchResponse,
    OffsetFetchResponseGroup,
    OffsetFetchResponsePartition,
    OffsetFetchResponsePartitions,
    OffsetFetchResponseTopic,
    OffsetFetchResponseTopics,
)
from ...protocol.schema import ZERO_UUID
from ..context import Context
from ..groups.offsets import CommittedOffset, CommittedOffsets
from ..topics import Topic
from .registry import handles

BY_MEMBER_EPOCH, BY_TOPIC_ID = 9, 10
NOTHING_COMMITTED = CommittedOffset(-1, -1, "", -1)
UNSTABLE = CommittedOffset(-1, -1, "", -2)
"""Stands for a commit that an open transaction will decide, where a client wants to know nothing before."""


@handles(OFFSET_COMMIT)
def offset_commit(request: OffsetCommitRequest, context: Context) -> OffsetCommitResponse:
    """Unknown partitions are refused each for itself; what is wrong with the group or the member refuses all others."""
    answers = _CommitAnswers()
    valid: list[_Valid] = []
    for topic in request.topics:
        found = _find_commit_topic(topic, context)
        for partition in topic.partitions:
            if error := _check_partition(found, partition.partition_index, context):
                answers.add(topic, partition, error)
            elif found:
                valid.append(_Valid(topic, found, partition))
    group_error = _check_commit(request, valid, context)
    for each in valid:
        answers.add(each.asked, each.partition, group_error or _commit(request, each.found.name, each.partition, context))
    return OffsetCommitResponse(topics=list(answers.topics.values()))


class _Valid(NamedTuple):
    """A partition that exists."""

    asked: OffsetCommitRequestTopic
    found: Topic
    partition: OffsetCommitRequestPartition


class _CommitAnswers:
    """Partitions by topic, in the order in which they are told: those that do not exist come first."""

    def __init__(self) -> None:
        self.topics: dict[tuple[str, bytes], OffsetCommitResponseTopic] = {}

    def add(self, asked: OffsetCommitRequestTopic, partition: OffsetCommitRequestPartition, error: ErrorCode) -> None:
        """One more."""
        key = asked.name, asked.topic_id
        topic = self.topics.setdefault(key, OffsetCommitResponseTopic(name=asked.name, topic_id=asked.topic_id, partitions=[]))
        topic.partitions.append(OffsetCommitResponsePartition(partition_index=partition.partition_index, error_code=error))


def _find_commit_topic(topic: OffsetCommitRequestTopic, context: Context) -> Topic | None:
    cluster = context.broker.cluster
    return cluster.topics_by_id.get(topic.topic_id) if context.version >= BY_TOPIC_ID else cluster.topics.get(topic.name)


def _check_partition(topic: Topic | None, index: int, context: Context) -> ErrorCode:
    if topic is None and context.version >= BY_TOPIC_ID:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if topic is None or topic.partition(index) is None:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return ErrorCode.NONE


def _check_commit(request: OffsetCommitRequest, valid: list[_Valid], context: Context) -> ErrorCode:
    broker = context.broker
    if not valid:
        return ErrorCode.NONE  # Kafka does not even look for the group.
    if not broker.is_coordinator(request.group_id):
        return ErrorCode.NOT_COORDINATOR
    error = broker.groups.check_commit(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        [(each.found.id, each.partition.partition_index) for each in valid],
        understands_epochs=context.version >= BY_MEMBER_EPOCH,
    )
    if error is ErrorCode.GROUP_ID_NOT_FOUND and context.version < BY_MEMBER_EPOCH:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def _commit(request: OffsetCommitRequest, topic_name: str, partition: OffsetCommitRequestPartition, context: Context) -> ErrorCode:
    return context.broker.groups.commit(
        request.group_id,
        topic_name,
        partition.partition_index,
        partition.committed_offset,
        partition.committed_leader_epoch,
        partition.committed_metadata or "",
        retention_time_ms=None if request.retention_time_ms == -1 else request.retention_time_ms,
    )


class _Fetched(NamedTuple):
    """A topic of an answer: (partition, commit) for each."""

    name: str
    topic_id: bytes
    partitions: list[tuple[int, CommittedOffset]]
    error: ErrorCode = ErrorCode.NONE

    def error_of(self, committed: CommittedOffset) -> ErrorCode:
        """The error code that goes with one of the commits."""
        return ErrorCode.UNSTABLE_OFFSET_COMMIT if committed is UNSTABLE else self.error


@handles(OFFSET_FETCH)
def offset_fetch(request: OffsetFetchRequest, context: Context) -> OffsetFetchResponse:
    """A group or an offset that does not exist is no error: its offset is -1."""
    if context.version >= 8:
        return OffsetFetchResponse(groups=[_fetch_group(group, request.require_stable, context) for group in request.groups])
    error = _check_fetch(request.group_id, context)
    if not error:
        fetched = _fetch(request.group_id, request.topics, request.require_stable, context)
    elif context.version >= 2:
        return OffsetFetchResponse(error_code=error)
    else:
        fetched = [_nothing(topic.name, ZERO_UUID, topic.partition_indexes, error) for topic in request.topics or []]
    return OffsetFetchResponse(
        topics=[
            OffsetFetchResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetFetchResponsePartition(
                        partition_index=index,
                        committed_offset=committed.offset,
                        committed_leader_epoch=committed.leader_epoch,
                        metadata=committed.metadata,
                        error_code=topic.error_of(committed),
                    )
                    for index, committed in topic.partitions
                ],
            )
            for topic in fetched
        ]
    )


def _fetch_group(group: OffsetFetchRequestGroup, require_stable: bool, context: Context) -> OffsetFetchResponseGroup:
    error = _check_fetch(group.group_id, context) or context.broker.groups.check_fetch(group.group_id, group.member_id, group.member_epoch)
    if error:
        return OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error)
    return OffsetFetchResponseGroup(
        group_id=group.group_id,
        topics=[
            OffsetFetchResponseTopics(
                name=topic.name,
                topic_id=topic.topic_id,
                partitions=[
                    OffsetFetchResponsePartitions(
                        partition_index=index,
                        committed_offset=committed.offset,
                        committed_leader_epoch=committed.leader_epoch,
                        metadata=committed.metadata,
                        error_code=topic.error_of(committed),
                    )
                    for index, committed in topic.partitions
                ],
            )
            for topic in _fetch(group.group_id, group.topics, require_stable, context)
        ],
    )


def _check_fetch(group_id: str, context: Context) -> ErrorCode:
    return ErrorCode.NONE if context.broker.is_coordinator(group_id) else ErrorCode.NOT_COORDINATOR


def _fetch(
    group_id: str, topics: Iterable[OffsetFetchRequestTopic | OffsetFetchRequestTopics] | None, require_stable: bool, context: Context
) -> list[_Fetched]:
    offsets = context.broker.groups.offsets(group_id)
    if topics is not None:
        fetched = [_fetch_topic(offsets, topic, context) for topic in topics]
    else:
        known = context.broker.cluster.topics
        fetched = [_Fetched(name, known[name].id, list(commits.items())) for name, commits in offsets]
    if not (require_stable and offsets.pending):
        return fetched
    return [topic._replace(partitions=[_stable(offsets, topic.name, *each) for each in topic.partitions]) for topic in fetched]


def _stable(offsets: CommittedOffsets, topic: str, index: int, committed: CommittedOffset) -> tuple[int, CommittedOffset]:
    return index, UNSTABLE if offsets.pending.on(topic, index) else committed


def _fetch_topic(offsets: CommittedOffsets, topic: OffsetFetchRequestTopic | OffsetFetchRequestTopics, context: Context) -> _Fetched:
    name, topic_id = topic.name, ZERO_UUID
    if isinstance(topic, OffsetFetchRequestTopics) and context.version >= BY_TOPIC_ID:
        topic_id = topic.topic_id
        found = context.broker.cluster.topics_by_id.get(topic_id)
        if found is None:
            return _nothing("", topic_id, topic.partition_indexes, ErrorCode.UNKNOWN_TOPIC_ID)
        name = found.name
    return _Fetched(name, topic_id, [(index, offsets.get(name, index) or NOTHING_COMMITTED) for index in topic.partition_indexes])


def _nothing(name: str, topic_id: bytes, partitions: Iterable[int], error: ErrorCode) -> _Fetched:
    return _Fetched(name, topic_id, [(index, NOTHING_COMMITTED) for index in partitions], error)


@handles(OFFSET_DELETE)
def offset_delete(request: OffsetDeleteRequest, context: Context) -> OffsetDeleteResponse:
    """Forgets single commits, but none of a topic that members read now."""
    if not request.group_id:
        return OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID, topics=[])
    error = _check_fetch(request.group_id, context) or context.broker.groups.check_delete_offsets(request.group_id)
    if error:
        return OffsetDeleteResponse(error_code=error, topics=[])
    return OffsetDeleteResponse(
        topics=[
            OffsetDeleteResponseTopic(
                name=topic.name,
                partitions=[
                    OffsetDeleteResponsePartition(
                        partition_index=partition.partition_index,
                        error_code=_check_partition(context.broker.cluster.topics.get(topic.name), partition.partition_index, context)
                        or context.broker.groups.delete_offset(request.group_id, topic.name, partition.partition_index),
                    )
                    for partition in topic.partitions
                ],
            )
            for topic in request.topics
            if topic.partitions
        ]
    )
