"""ShareGroupHeartbeat and ShareGroupDescribe (KIP-932). The rules are in groups/share/."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import share_group_describe as describe_messages
from ...protocol.messages import share_group_heartbeat as heartbeat_messages
from ...protocol.messages.share_group_describe import (
    SHARE_GROUP_DESCRIBE,
    DescribedGroup,
    Member,
    ShareGroupDescribeRequest,
    ShareGroupDescribeResponse,
)
from ...protocol.messages.share_group_heartbeat import (
    SHARE_GROUP_HEARTBEAT,
    ShareGroupHeartbeatRequest,
    ShareGroupHeartbeatResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import SHARE_VERSION
from ..groups.share.assignor import Assignment
from ..groups.share.heartbeat import LEAVE_EPOCH, ShareHeartbeat
from ..groups.share.member import ShareMember, is_valid_member_id
from ..kafka_quirks.java_hash import hash_map_order
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Topic
from .described_groups import demand_topics, describe_group, describe_groups, refuse_group


def is_enabled(context: Context) -> bool:
    """Returns whether share groups are enabled, by share.version 1 (KIP-1022)."""
    return context.cluster.features.levels.get(SHARE_VERSION, 0) > 0


@handles(SHARE_GROUP_HEARTBEAT)
def share_group_heartbeat(request: ShareGroupHeartbeatRequest, context: Context) -> ShareGroupHeartbeatResponse:
    """Adds a member, continues its membership, or removes it. The response contains the assignment when it has changed."""
    try:
        _check(request, context)
        names = request.subscribed_topic_names
        heartbeat = ShareHeartbeat(
            member_id=request.member_id,
            epoch=request.member_epoch,
            rack_id=request.rack_id,
            topics=None if names is None else frozenset(names),
            client_id=context.client.client_id,
            client_host=f"/{context.client.client_host}",
        )
        result = context.cluster.groups.share.heartbeat(request.group_id, heartbeat)
    except KafkaError as error:
        return ShareGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    return ShareGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=None if result.assignment is None else _heartbeat_assignment(result.assignment),
    )


def _heartbeat_assignment(assignment: Assignment) -> heartbeat_messages.Assignment:
    return heartbeat_messages.Assignment(
        topic_partitions=[
            heartbeat_messages.TopicPartitions(topic_id=topic_id, partitions=sorted(indexes)) for topic_id, indexes in assignment.items()
        ]
    )


def _check(request: ShareGroupHeartbeatRequest, context: Context) -> None:
    """Raises KafkaError for a request that does not reach the group (KafkaApis, GroupCoordinatorService)."""
    if not is_enabled(context):
        raise KafkaError(ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        raise KafkaError(ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not is_valid_member_id(request.member_id):
        raise KafkaError(ErrorCode.INVALID_REQUEST)
    if not all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in request.subscribed_topic_names or ()):
        raise KafkaError(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    for value, name in ((request.member_id, "MemberId"), (request.group_id, "GroupId"), (request.rack_id, "RackId")):
        if value is not None and not value.strip():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == 0 and not request.subscribed_topic_names:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "SubscribedTopicNames must be set in first request.")
    if request.member_epoch < LEAVE_EPOCH:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
    if not context.is_coordinator(request.group_id):
        raise KafkaError(ErrorCode.NOT_COORDINATOR)


@handles(SHARE_GROUP_DESCRIBE)
def share_group_describe(request: ShareGroupDescribeRequest, context: Context) -> Generator[Wait, None, ShareGroupDescribeResponse]:
    """Describes share groups, with the assignment of each member."""
    groups = yield from describe_groups(request, _describe, _refuse, context, enabled=is_enabled(context))
    return ShareGroupDescribeResponse(groups=groups)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    group = context.cluster.groups.share.find(group_id)
    described = describe_group(DescribedGroup, group, partial(_member, topics=context.cluster.topics_by_id))
    names = {topic.topic_name for member in described.members for topic in member.assignment.topic_partitions}
    demand_topics(names, context, "The group has described topic(s) that the client is not authorized to describe.")
    return described


def _refuse(group_id: str, error: ErrorCode, message: str | None) -> DescribedGroup:
    if error is ErrorCode.NOT_COORDINATOR:
        message = "This is not the correct coordinator."
    return refuse_group(DescribedGroup, group_id, error, message)


def _member(member: ShareMember, topics: Mapping[bytes, Topic]) -> Member:
    return Member(
        member_id=member.member_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=hash_map_order(sorted(member.topics)),
        assignment=describe_messages.Assignment(
            topic_partitions=[
                describe_messages.TopicPartitions(topic_id=topic_id, topic_name=topics[topic_id].name, partitions=sorted(indexes))
                for topic_id, indexes in member.assigned.items()
                if topic_id in topics
            ]
        ),
    )
