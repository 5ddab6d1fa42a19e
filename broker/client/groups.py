"""Groups of all kinds: their members and progress, and requests that change their offsets or delete them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...protocol.client.connection import TopicPartition
from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages.consumer_group_describe import CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest
from ...protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from ...protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribeGroupsRequest
from ...protocol.messages.describe_share_group_offsets import (
    DESCRIBE_SHARE_GROUP_OFFSETS,
    DescribeShareGroupOffsetsRequest,
    DescribeShareGroupOffsetsRequestGroup,
)
from ...protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from ...protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from ...protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestGroup
from ...protocol.messages.share_group_describe import SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest
from ...protocol.messages.streams_group_describe import STREAMS_GROUP_DESCRIBE, StreamsGroupDescribeRequest
from ...protocol.schema import Api, Message, ProtocolError
from ...protocol.stored import consumer_protocol
from .cluster_client import ClientError, ClusterClient, check
from .offsets import EARLIEST, LATEST, Offsets, list_offsets, of_topics

CLASSIC, SHARE = "classic", "share"


@dataclass(frozen=True)
class GroupSummary:
    """A group in a list. Brokers before Kafka 3.8 do not say the type, and before 2.6 not the state."""

    group_id: str
    type: str
    state: str
    coordinator: int


@dataclass(frozen=True)
class MemberInfo:
    """A member. `assignment` contains its partitions by topic or, in a streams group, its active tasks by subtopology."""

    member_id: str
    client_id: str
    client_host: str
    assignment: dict[str, list[int]]


@dataclass(frozen=True)
class OffsetInfo:
    """The progress in a partition. `committed` is None where nothing is committed; `lag` counts from the start of the log there."""

    topic: str
    partition: int
    committed: int | None
    end_offset: int
    lag: int


@dataclass(frozen=True)
class GroupDescription:
    """A group with its members, and the offsets in all partitions of the topics that it reads.

    `lag` is the sum of theirs, None without partitions.
    """

    group_id: str
    type: str
    state: str
    coordinator: int
    lag: int | None
    members: list[MemberInfo]
    offsets: list[OffsetInfo]


class _Kind(NamedTuple):
    """A type of groups: the request that describes them, what a member is assigned, and the topics that a described group reads."""

    api: Api
    request: Callable[[str], Message]
    assigned: Callable[[Any], list[TopicPartition]]
    topics: Callable[[Any], Iterable[str]]


def _by_topics(member: Any) -> list[TopicPartition]:
    return [TopicPartition(each.topic_name, index) for each in member.assignment.topic_partitions for index in each.partitions]


def _by_tasks(member: Any) -> list[TopicPartition]:
    return [TopicPartition(each.subtopology_id, index) for each in member.assignment.active_tasks for index in each.partitions]


def _by_assignment(member: Any) -> list[TopicPartition]:
    """Returns the partitions of a classic member, none if its assignment is not that of a consumer."""
    try:
        found = consumer_protocol.read(consumer_protocol.ConsumerProtocolAssignment, bytes(member.member_assignment))
    except ProtocolError:
        return []
    return [TopicPartition(each.topic, index) for each in found.assigned_partitions for index in each.partitions]


def _by_metadata(group: Any) -> Iterator[str]:
    """Yields the topics to which the members of a classic group subscribe, and those that they are assigned."""
    for member in group.members:
        yield from (each.topic for each in _by_assignment(member))
        with suppress(ProtocolError):
            yield from consumer_protocol.read(consumer_protocol.ConsumerProtocolSubscription, bytes(member.member_metadata)).topics


def _by_names(group: Any) -> Iterator[str]:
    """Yields the topics to which members subscribe by name, and those that they are assigned."""
    for member in group.members:
        yield from member.subscribed_topic_names
        yield from (each.topic for each in _by_topics(member))


def _by_topology(group: Any) -> Iterator[str]:
    """Yields the topics that the tasks of a streams group read."""
    for part in (group.topology and group.topology.subtopologies) or ():
        yield from part.source_topics
        yield from (each.name for each in part.repartition_source_topics)


KINDS: Mapping[str, _Kind] = {
    CLASSIC: _Kind(DESCRIBE_GROUPS, lambda group: DescribeGroupsRequest(groups=[group]), _by_assignment, _by_metadata),
    "consumer": _Kind(CONSUMER_GROUP_DESCRIBE, lambda group: ConsumerGroupDescribeRequest(group_ids=[group]), _by_topics, _by_names),
    SHARE: _Kind(SHARE_GROUP_DESCRIBE, lambda group: ShareGroupDescribeRequest(group_ids=[group]), _by_topics, _by_names),
    "streams": _Kind(STREAMS_GROUP_DESCRIBE, lambda group: StreamsGroupDescribeRequest(group_ids=[group]), _by_tasks, _by_topology),
}


def list_groups(client: ClusterClient) -> list[GroupSummary]:
    """Returns the groups that all brokers coordinate, by id."""
    client.metadata([])
    found: list[GroupSummary] = []
    for node, response in client.all_at_once(LIST_GROUPS, {node: ListGroupsRequest() for node in client.nodes}).items():
        check(response.error_code, f"groups of broker {node}")
        found += (GroupSummary(each.group_id, each.group_type.lower(), each.group_state, node) for each in response.groups)
    return sorted(found, key=lambda group: group.group_id)


def describe_groups(client: ClusterClient, names: Sequence[str]) -> list[GroupDescription]:
    """Returns the groups with these ids. Raises ClientError if one does not exist."""
    known = {group.group_id: group for group in list_groups(client)}
    for name in names:
        if name not in known:
            raise ClientError(f"there is no group {name!r}; odradek groups lists those that exist")
    return [_describe(client, known[name]) for name in names]


def _describe(client: ClusterClient, summary: GroupSummary) -> GroupDescription:
    kind = KINDS[summary.type or CLASSIC]
    (group,) = client.send_to(summary.coordinator, kind.api, kind.request(summary.group_id)).groups
    check(group.error_code, f"group {summary.group_id}", group.error_message)
    assigned = {member.member_id: sorted(kind.assigned(member)) for member in group.members}
    members = [MemberInfo(each.member_id, each.client_id, each.client_host, of_topics(assigned[each.member_id])) for each in group.members]
    lags: Offsets = {}
    if summary.type == SHARE:
        committed, lags = _share_offsets(client, summary)
    else:
        committed = committed_offsets(client, summary.group_id)
    topics = {each.topic for each in committed}.union(kind.topics(group))
    is_joined = bool(getattr(group, "protocol_type", True))
    offsets = _progress(client, topics, committed, lags, None if is_joined else committed.keys())
    lag = sum(each.lag for each in offsets) if offsets else None
    return GroupDescription(summary.group_id, summary.type or CLASSIC, group.group_state, summary.coordinator, lag, members, offsets)


def _progress(
    client: ClusterClient, topics: Collection[str], committed: Offsets, lags: Offsets, only: Collection[TopicPartition] | None
) -> list[OffsetInfo]:
    """Returns the progress in the partitions of topics, or in some `only`.

    `lags` are those that the broker has said. A group without a protocol type has had no members, and its offsets are those of consumers
    that assign partitions to themselves.
    """
    existing = [each.name for each in client.metadata(topics).topics if not each.error_code] if topics else []
    leaders = client.leaders(client.topics(existing)) if existing else {}
    if only is not None:
        leaders = {each: leader for each, leader in leaders.items() if each in only}
    reached = list_offsets(client, {each: leader for each, leader in leaders.items() if each not in committed}, EARLIEST) | committed
    ends = list_offsets(client, leaders, LATEST)
    return [OffsetInfo(*each, committed.get(each), end, lags.get(each, max(end - reached[each], 0))) for each, end in sorted(ends.items())]


def committed_offsets(client: ClusterClient, group: str) -> Offsets:
    """Returns the committed offset of each partition that has one."""
    request = OffsetFetchRequest(group_id=group, topics=None, groups=[OffsetFetchRequestGroup(group_id=group, topics=None)])

    def fetch() -> Offsets:
        response = client.send_to(client.coordinator(group), OFFSET_FETCH, request)
        found = response.groups[0] if response.groups else response
        check(found.error_code, f"group {group}")
        offsets: Offsets = {}
        for topic in found.topics:
            for each in topic.partitions:
                check(each.error_code, f"group {group}: partition {each.partition_index} of {topic.name}")
                offsets[TopicPartition(topic.name, each.partition_index)] = each.committed_offset
        return {partition: offset for partition, offset in offsets.items() if offset >= 0}

    return client.retry(fetch)


def _share_offsets(client: ClusterClient, summary: GroupSummary) -> tuple[Offsets, Offsets]:
    """Returns the start offset of each partition that a share group has begun to read, and the lags that brokers from Kafka 4.2 on say."""
    groups = [DescribeShareGroupOffsetsRequestGroup(group_id=summary.group_id, topics=None)]
    response = client.send_to(summary.coordinator, DESCRIBE_SHARE_GROUP_OFFSETS, DescribeShareGroupOffsetsRequest(groups=groups))
    (group,) = response.groups
    check(group.error_code, f"group {summary.group_id}", group.error_message)
    found = {TopicPartition(topic.topic_name, each.partition_index): each for topic in group.topics for each in topic.partitions}
    starts = {partition: each.start_offset for partition, each in found.items() if each.start_offset >= 0}
    return starts, {partition: found[partition].lag for partition in starts if found[partition].lag >= 0}


def commit(client: ClusterClient, group: str, offsets: Offsets, member: str = "", epoch: int = -1) -> None:
    """Commits offsets, by default as an administrator who is not a member. Raises ClientError if the group has members then."""
    topics = [
        OffsetCommitRequestTopic(
            name=name,
            partitions=[
                OffsetCommitRequestPartition(
                    partition_index=index, committed_offset=offsets[TopicPartition(name, index)], committed_metadata=""
                )
                for index in indexes
            ],
        )
        for name, indexes in of_topics(offsets).items()
    ]
    request = OffsetCommitRequest(group_id=group, member_id=member, generation_id_or_member_epoch=epoch, topics=topics)

    def send() -> None:
        for topic in client.send_to(client.coordinator(group), OFFSET_COMMIT, request).topics:
            for each in topic.partitions:
                if each.error_code == ErrorCode.UNKNOWN_MEMBER_ID and not member:
                    raise ClientError(f"group {group} has members, which would overwrite the offsets; stop them first")
                check(each.error_code, f"group {group}: partition {each.partition_index} of {topic.name}")

    client.retry(send)


def delete_groups(client: ClusterClient, names: Iterable[str]) -> None:
    """Deletes groups without members. Raises ClientError if one does not exist or has members; others are deleted."""
    for name in names:
        try:
            client.retry(lambda name=name: _delete(client, name))  # type: ignore[misc]
        except KafkaError as error:
            if error.code == ErrorCode.NON_EMPTY_GROUP:
                raise ClientError(f"group {name} has members; stop them first") from None
            if error.code == ErrorCode.GROUP_ID_NOT_FOUND:
                raise ClientError(f"there is no group {name!r}; odradek groups lists those that exist") from None
            raise


def _delete(client: ClusterClient, name: str) -> None:
    (result,) = client.send_to(client.coordinator(name), DELETE_GROUPS, DeleteGroupsRequest(groups_names=[name])).results
    check(result.error_code, f"group {name}")
