"""OffsetCommit, OffsetFetch and OffsetDelete. The rules are in groups/offset_requests.py.

Differences between versions:

* OffsetCommit: v0 stores offsets in ZooKeeper, v1 has a timestamp for each offset, v2 to v4 have a retention time, v6 has leader epochs,
  v7 static members (KIP-345); v9 returns GROUP_ID_NOT_FOUND where it was ILLEGAL_GENERATION before (KIP-848), v10 has topic ids.
* OffsetFetch: v0 reads from ZooKeeper; from v2 on null topics mean all topics, and an error of the group is at the top instead of on
  every partition; v5 has leader epochs, v7 can require stable offsets (KIP-447), v8 has several groups (KIP-709), v9 the member of a
  consumer group, v10 topic ids.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import NamedTuple, TypeVar

from ...protocol.errors import ErrorCode
from ...protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
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
from ..api.context import Context, Found, commit_in_turns, find_partitions
from ..api.registry import handles
from ..groups.offsets import CommittedOffset, CommittedOffsets
from ..kafka_quirks.java_hash import wrap_long
from ..scheduling.slices import Slices, chunks, in_slices, weight_of
from ..scheduling.waiting import NEXT_TURN, Background, Wait
from ..security.acls import Operation, ResourceType
from .zookeeper_offsets import commit_to_zookeeper, fetch_from_zookeeper

MEMBER_EPOCH_VERSION, TOPIC_ID_VERSION = 9, 10
"""The versions of OffsetCommit and OffsetFetch that introduced member epochs and topic ids."""
NOTHING_COMMITTED = CommittedOffset(-1, -1, "", -1)
UNSTABLE = CommittedOffset(-1, -1, "", -2)
"""Replaces a commit that an open transaction may change, if the client requires stable offsets (KIP-447)."""
P = TypeVar("P")


@handles(OFFSET_COMMIT)
def offset_commit(request: OffsetCommitRequest, context: Context) -> Generator[Wait, None, OffsetCommitResponse]:
    """Commits offsets. Unknown partitions get their own errors; an error of the group or the member is returned for all others.

    If there are no others, Kafka does not check the group.
    """
    if context.version == 0:
        return (yield from commit_to_zookeeper(request, context))
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    topics = [((topic.name, topic.topic_id), topic.partitions) for topic in request.topics]
    slices = Slices()
    found, answers = yield from find_partitions(topics, context, slices, by_id=context.version >= TOPIC_ID_VERSION)
    errors = yield from commit_in_turns(found, lambda some: _commit(request, some, context))
    for (key, _, wanted), error in zip(found, errors, strict=True):
        answers.setdefault(key, []).append((wanted.partition_index, error))
    return OffsetCommitResponse(
        topics=[
            OffsetCommitResponseTopic(
                name=name,
                topic_id=topic_id,
                partitions=[OffsetCommitResponsePartition(partition_index=index, error_code=error) for index, error in partitions],
            )
            for (name, topic_id), partitions in answers.items()
        ]
    )


def _check_commit(request: OffsetCommitRequest, found: Sequence[Found[OffsetCommitRequestPartition]], context: Context) -> ErrorCode:
    groups = context.cluster.groups
    if not context.is_coordinator(request.group_id):
        return ErrorCode.NOT_COORDINATOR
    error = groups.offsets.check_commit(
        request.group_id,
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        [(topic.id, wanted.partition_index) for _, topic, wanted in found],
        supports_member_epochs=context.version >= MEMBER_EPOCH_VERSION,
    )
    group_exists = groups.get(request.group_id) is not None  # GROUP_ID_NOT_FOUND then means that it is a share group
    if error is ErrorCode.GROUP_ID_NOT_FOUND and not group_exists and context.version < MEMBER_EPOCH_VERSION:
        return ErrorCode.ILLEGAL_GENERATION
    return error


def _commit(request: OffsetCommitRequest, found: Sequence[Found[OffsetCommitRequestPartition]], context: Context) -> list[ErrorCode]:
    """Commits offsets and returns an error for each partition. If a partition occurs twice, its last offset is committed."""
    if error := _check_commit(request, found, context):
        return [error] * len(found)
    offsets = context.cluster.groups.offsets
    expires_ms = None if request.retention_time_ms == -1 else wrap_long(context.now_ms + request.retention_time_ms)
    accepted: dict[tuple[str, int], CommittedOffset] = {}
    errors = []
    for _, topic, each in found:
        metadata = each.committed_metadata or ""
        error = offsets.check_metadata(metadata)
        if not error:
            committed_ms = context.now_ms if each.commit_timestamp == -1 else each.commit_timestamp
            committed = CommittedOffset(each.committed_offset, each.committed_leader_epoch, metadata, committed_ms, expires_ms)
            accepted[topic.name, each.partition_index] = committed
        errors.append(error)
    if accepted:
        offsets.commit(request.group_id, accepted)
    return errors


class _FetchedTopic(NamedTuple):
    """A topic of the response, with (partition, commit) for each partition."""

    name: str
    topic_id: bytes
    partitions: list[tuple[int, CommittedOffset]]
    error: ErrorCode = ErrorCode.NONE

    def error_of(self, committed: CommittedOffset) -> ErrorCode:
        """Returns the error code of a partition with this commit."""
        return ErrorCode.UNSTABLE_OFFSET_COMMIT if committed is UNSTABLE else self.error


@handles(OFFSET_FETCH)
def offset_fetch(request: OffsetFetchRequest, context: Context) -> Generator[Wait, None, OffsetFetchResponse]:
    """Returns committed offsets. A group or an offset that does not exist is not an error: the offset is -1."""
    if context.version == 0:
        return fetch_from_zookeeper(request, context)
    slices = Slices()
    if context.version >= 8:
        response = OffsetFetchResponse(groups=[])
        for group in request.groups:
            response.groups.append((yield from _fetch_group(group, request.require_stable, slices, context)))
            if slices.full(3 + weight_of(group.group_id)):
                yield NEXT_TURN
        return response
    error = _check_fetch(request.group_id, context)
    if not error:
        fetched = _fetch(request.group_id, request.topics, request.require_stable, context)
    elif context.version >= 2:
        return OffsetFetchResponse(error_code=error)
    else:
        fetched = [_nothing(topic.name, ZERO_UUID, topic.partition_indexes, error) for topic in request.topics or []]
    response = OffsetFetchResponse(topics=[])
    for topic in fetched:
        answer = OffsetFetchResponseTopic(name=topic.name, partitions=[])
        response.topics.append(answer)
        yield from _add_partitions(answer.partitions, OffsetFetchResponsePartition, topic, slices)
    return response


def _fetch_group(
    group: OffsetFetchRequestGroup, require_stable: bool, slices: Slices, context: Context
) -> Generator[Wait, None, OffsetFetchResponseGroup]:
    error = _check_fetch(group.group_id, context) or context.cluster.groups.offsets.check_fetch(
        group.group_id, group.member_id, group.member_epoch
    )
    response = OffsetFetchResponseGroup(group_id=group.group_id, topics=[], error_code=error)
    for topic in [] if error else _fetch(group.group_id, group.topics, require_stable, context):
        answer = OffsetFetchResponseTopics(name=topic.name, topic_id=topic.topic_id, partitions=[])
        response.topics.append(answer)
        yield from _add_partitions(answer.partitions, OffsetFetchResponsePartitions, topic, slices)
    return response


def _add_partitions(answers: list[P], make: Callable[..., P], topic: _FetchedTopic, slices: Slices) -> Background:
    for some in chunks(topic.partitions):
        answers += [
            make(
                partition_index=index,
                committed_offset=committed.offset,
                committed_leader_epoch=committed.leader_epoch,
                metadata=committed.metadata,
                error_code=topic.error_of(committed),
            )
            for index, committed in some
        ]
        if slices.full(1 + len(some)):
            yield NEXT_TURN


def _check_fetch(group_id: str, context: Context) -> ErrorCode:
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return ErrorCode.NONE if context.is_coordinator(group_id) else ErrorCode.NOT_COORDINATOR


def _fetch(
    group_id: str, topics: Iterable[OffsetFetchRequestTopic | OffsetFetchRequestTopics] | None, require_stable: bool, context: Context
) -> list[_FetchedTopic]:
    offsets = context.cluster.groups.offsets.of(group_id)
    if topics is not None:
        # Kafka returns topics with an error last.
        fetched = sorted((_fetch_topic(offsets, topic, context) for topic in topics), key=lambda topic: bool(topic.error))
    else:
        known = context.cluster.topics
        fetched = [
            _FetchedTopic(name, known[name].id, list(commits.items()))
            for name, commits in offsets
            if context.may(Operation.DESCRIBE, ResourceType.TOPIC, name)
        ]
    if not (require_stable and offsets.pending):
        return fetched
    return [topic._replace(partitions=[_stable(offsets, topic.name, *each) for each in topic.partitions]) for topic in fetched]


def _stable(offsets: CommittedOffsets, topic: str, index: int, committed: CommittedOffset) -> tuple[int, CommittedOffset]:
    return index, UNSTABLE if offsets.pending.on(topic, index) else committed


def _fetch_topic(offsets: CommittedOffsets, topic: OffsetFetchRequestTopic | OffsetFetchRequestTopics, context: Context) -> _FetchedTopic:
    name, topic_id = topic.name, ZERO_UUID
    if isinstance(topic, OffsetFetchRequestTopics) and context.version >= TOPIC_ID_VERSION:
        topic_id = topic.topic_id
        found = context.cluster.topics_by_id.get(topic_id)
        if found is None:
            return _nothing("", topic_id, topic.partition_indexes, ErrorCode.UNKNOWN_TOPIC_ID)
        name = found.name
    if not context.may(Operation.DESCRIBE, ResourceType.TOPIC, name):
        return _nothing(topic.name, topic_id, topic.partition_indexes, ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    return _FetchedTopic(name, topic_id, [(index, offsets.get(name, index) or NOTHING_COMMITTED) for index in topic.partition_indexes])


def _nothing(name: str, topic_id: bytes, partitions: Iterable[int], error: ErrorCode) -> _FetchedTopic:
    return _FetchedTopic(name, topic_id, [(index, NOTHING_COMMITTED) for index in partitions], error)


@handles(OFFSET_DELETE)
def offset_delete(request: OffsetDeleteRequest, context: Context) -> Generator[Wait, None, OffsetDeleteResponse]:
    """Deletes the offsets of single partitions. Offsets of topics that members subscribe to cannot be deleted."""
    group_id, offsets, slices = request.group_id, context.cluster.groups.offsets, Slices()
    if not context.may(Operation.DELETE, ResourceType.GROUP, group_id):
        return OffsetDeleteResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED, topics=[])
    named = [((topic.name, ZERO_UUID), topic.partitions) for topic in request.topics]
    found, answers = yield from find_partitions(named, context, slices)
    if not group_id:
        return OffsetDeleteResponse(error_code=ErrorCode.INVALID_GROUP_ID, topics=[])
    if not context.is_coordinator(group_id):
        return OffsetDeleteResponse(error_code=ErrorCode.NOT_COORDINATOR, topics=[])
    if error := offsets.check_delete(group_id):
        return OffsetDeleteResponse(error_code=error, topics=[])
    for key, topic, wanted in found:
        answers.setdefault(key, []).append((wanted.partition_index, offsets.delete(group_id, topic.name, wanted.partition_index)))
        if slices.full(2):
            yield NEXT_TURN
    return OffsetDeleteResponse(topics=(yield from in_slices(_deletion_response, answers.items(), slices, 3)))


def _deletion_response(answer: tuple[tuple[str, bytes], list[tuple[int, ErrorCode]]]) -> OffsetDeleteResponseTopic:
    (name, _), partitions = answer
    return OffsetDeleteResponseTopic(
        name=name, partitions=[OffsetDeleteResponsePartition(partition_index=index, error_code=error) for index, error in partitions]
    )
