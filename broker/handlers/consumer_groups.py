"""ConsumerGroupHeartbeat and ConsumerGroupDescribe (KIP-848). The rules are in groups/consumer/.

Differences between versions:

* ConsumerGroupHeartbeat: from v1 on clients generate their member ids (KIP-1082; in v0 the broker generates one for a member that joins
  without one) and may subscribe by a regular expression.
* ConsumerGroupDescribe: v1 returns the protocol of each member.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError
from ...protocol.messages import consumer_group_describe as describe_messages
from ...protocol.messages import consumer_group_heartbeat as heartbeat_messages
from ...protocol.messages.consumer_group_describe import (
    CONSUMER_GROUP_DESCRIBE,
    ConsumerGroupDescribeRequest,
    ConsumerGroupDescribeResponse,
    DescribedGroup,
    Member,
)
from ...protocol.messages.consumer_group_heartbeat import (
    CONSUMER_GROUP_HEARTBEAT,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
)
from ..api.context import Context
from ..api.registry import handles
from ..cluster.features import GROUP_VERSION
from ..groups.consumer.assignors import Slot, by_topic
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.heartbeat import LEAVE_EPOCH, LEAVE_STATIC_EPOCH, ConsumerHeartbeat
from ..groups.consumer.member import ConsumerMember
from ..scheduling.waiting import Wait
from ..security.acls import Operation, ResourceType
from ..topics.partition import Topic
from .described_groups import demand_topics, describe_group, describe_groups, is_enabled, missing_group_text, refuse_group

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1
_refuse = partial(refuse_group, DescribedGroup)


@handles(CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(request: ConsumerGroupHeartbeatRequest, context: Context) -> ConsumerGroupHeartbeatResponse:
    """Adds a member, continues its membership, or removes it. The response contains the assignment when it has changed."""
    if not _is_enabled(context):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in request.subscribed_topic_names or ()):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    try:
        _check(request, context)
        result = context.cluster.groups.consumer.heartbeat(request.group_id, _heartbeat(request, context))
    except KafkaError as error:
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    assignment = None
    if result.assignment is not None:
        assigned = by_topic(result.assignment).items()
        partitions = [heartbeat_messages.TopicPartitions(topic_id=topic_id, partitions=indexes) for topic_id, indexes in assigned]
        assignment = heartbeat_messages.Assignment(topic_partitions=partitions)
    return ConsumerGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=assignment,
    )


def _is_enabled(context: Context) -> bool:
    return is_enabled("consumer", GROUP_VERSION, context)


def _check(request: ConsumerGroupHeartbeatRequest, context: Context) -> None:
    """Raises KafkaError with INVALID_REQUEST, UNSUPPORTED_ASSIGNOR or NOT_COORDINATOR (GroupCoordinatorService, KafkaApis)."""
    requires_member_id = context.version >= 1 or request.member_epoch > 0 or request.member_epoch == LEAVE_EPOCH
    for value, name in (
        (request.member_id if requires_member_id else None, "MemberId"),
        (request.group_id, "GroupId"),
        (request.instance_id, "InstanceId"),
        (request.rack_id, "RackId"),
    ):
        if value is not None and not value.strip():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == 0:
        _check_first(request)
    elif request.member_epoch == LEAVE_STATIC_EPOCH and request.instance_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "InstanceId can't be null.")
    elif request.member_epoch < LEAVE_STATIC_EPOCH:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
    assignors = context.cluster.groups.settings.group_consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}.",
        )
    if not context.is_coordinator(request.group_id):
        raise KafkaError(ErrorCode.NOT_COORDINATOR)


def _check_first(request: ConsumerGroupHeartbeatRequest) -> None:
    if request.rebalance_timeout_ms == -1:
        problem = "RebalanceTimeoutMs must be provided in first request."
    elif request.topic_partitions is None or request.topic_partitions:
        problem = "TopicPartitions must be empty when (re-)joining."
    elif request.subscribed_topic_names is None and request.subscribed_topic_regex is None:
        problem = "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining."
    else:
        return
    raise KafkaError(ErrorCode.INVALID_REQUEST, problem)


def _heartbeat(request: ConsumerGroupHeartbeatRequest, context: Context) -> ConsumerHeartbeat:
    has_authorizer = context.cluster.authorizer is not None
    owned, names = request.topic_partitions, request.subscribed_topic_names
    return ConsumerHeartbeat(
        member_id=request.member_id,
        epoch=request.member_epoch,
        instance_id=request.instance_id,
        rack_id=request.rack_id,
        rebalance_timeout_ms=request.rebalance_timeout_ms,
        topics=None if names is None else frozenset(names),
        regex=request.subscribed_topic_regex,
        assignor=request.server_assignor,
        owned=None if owned is None else frozenset((topic.topic_id, index) for topic in owned for index in topic.partitions),
        client_id=context.client.client_id,
        client_host=f"/{context.client.client_host}",
        may_describe=partial(context.may, Operation.DESCRIBE, ResourceType.TOPIC) if has_authorizer else None,
    )


@handles(CONSUMER_GROUP_DESCRIBE)
def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: Context
) -> Generator[Wait, None, ConsumerGroupDescribeResponse]:
    """Describes consumer groups, with the current and the target assignment of each member."""
    groups = yield from describe_groups(request, _describe, _refuse, context, enabled=_is_enabled(context))
    return ConsumerGroupDescribeResponse(groups=groups)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    group = context.cluster.groups.get(group_id)
    if not isinstance(group, ConsumerGroup):
        raise KafkaError(ErrorCode.GROUP_ID_NOT_FOUND, missing_group_text(group_id, group, "consumer"))
    described = describe_group(DescribedGroup, group, partial(_member, group=group, topics=context.cluster.topics_by_id))
    topic_names = {
        topic.topic_name
        for member in described.members
        for assignment in (member.assignment, member.target_assignment)
        for topic in assignment.topic_partitions
    }
    demand_topics(topic_names, context, "The group has topics that the client may not describe.")
    return described


def _member(member: ConsumerMember, group: ConsumerGroup, topics: Mapping[bytes, Topic]) -> Member:
    return Member(
        member_id=member.member_id,
        instance_id=member.instance_id,
        rack_id=member.rack_id,
        member_epoch=member.epoch,
        client_id=member.client_id,
        client_host=member.client_host,
        subscribed_topic_names=sorted(member.topics),
        subscribed_topic_regex=member.regex,
        assignment=_assignment((*member.assigned, *member.revoking), topics),
        target_assignment=_assignment(group.targets.get(member.member_id, ()), topics),
        member_type=CONSUMER_MEMBER if member.classic is None else CLASSIC_MEMBER,
    )


def _assignment(slots: Iterable[Slot], topics: Mapping[bytes, Topic]) -> describe_messages.Assignment:
    return describe_messages.Assignment(
        topic_partitions=[
            describe_messages.TopicPartitions(topic_id=topic_id, topic_name=topics[topic_id].name, partitions=indexes)
            for topic_id, indexes in by_topic(slots).items()
            if topic_id in topics
        ]
    )
