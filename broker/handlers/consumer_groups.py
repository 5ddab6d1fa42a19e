"""Consumer groups (KIP-848): ConsumerGroupHeartbeat and ConsumerGroupDescribe. The rules are in groups/consumer.py.

ConsumerGroupHeartbeat: v1 has clients make their member ids (KIP-1082; in v0 the broker gives one to who joins without) and subscribe
by a regular expression. ConsumerGroupDescribe: v1 tells which protocol a member speaks.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping
from functools import partial

from ...protocol.errors import ErrorCode, KafkaError, shortened
from ...protocol.messages import consumer_group_describe as describing
from ...protocol.messages import consumer_group_heartbeat as beating
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
from ..cluster.features import GROUP_VERSION
from ..cluster.group_order import by_coordinator
from ..context import Context
from ..groups.consumer.assignors import Slot, by_topic
from ..groups.consumer.group import ConsumerGroup
from ..groups.consumer.member import LEAVES, LEAVES_FOR_A_WHILE, Beat, ConsumerMember
from ..kafka_quirks.java_hash import timeline_order
from ..registry import handles
from ..scheduling.waiting import NEXT_TURN, Wait
from ..security.acls import Operation, ResourceType
from ..slices import Slices
from ..topics.topic import Topic

CLASSIC_MEMBER, CONSUMER_MEMBER = 0, 1
_TOLD_FIRST: dict[int, int] = {ErrorCode.GROUP_AUTHORIZATION_FAILED: 0, ErrorCode.INVALID_GROUP_ID: 1}


@handles(CONSUMER_GROUP_HEARTBEAT)
def consumer_group_heartbeat(request: ConsumerGroupHeartbeatRequest, context: Context) -> ConsumerGroupHeartbeatResponse:
    """Joins, beats or leaves; the assignment comes with the answer when it has changed."""
    if not _is_enabled(context):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in request.subscribed_topic_names or ()):
        return ConsumerGroupHeartbeatResponse(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    try:
        _check(request, context)
        result = context.broker.groups.beat(request.group_id, _beat(request, context))
    except KafkaError as error:
        return ConsumerGroupHeartbeatResponse(error_code=error.code, error_message=error.message)
    assignment = None
    if result.assignment is not None:
        assigned = by_topic(result.assignment).items()
        partitions = [beating.TopicPartitions(topic_id=topic_id, partitions=indexes) for topic_id, indexes in assigned]
        assignment = beating.Assignment(topic_partitions=partitions)
    return ConsumerGroupHeartbeatResponse(
        member_id=result.member_id,
        member_epoch=result.epoch,
        heartbeat_interval_ms=result.heartbeat_interval_ms,
        assignment=assignment,
    )


def _is_enabled(context: Context) -> bool:
    """Whether there may be consumer groups: they come with group.version 1 (KIP-1022), and a setting can rule them out."""
    broker = context.broker
    enabled = "consumer" in broker.config.lists["group.coordinator.rebalance.protocols"]
    return enabled and broker.cluster.features.levels[GROUP_VERSION] > 0


def _check(request: ConsumerGroupHeartbeatRequest, context: Context) -> None:
    """Raises INVALID_REQUEST, UNSUPPORTED_ASSIGNOR, NOT_COORDINATOR (GroupCoordinatorService, KafkaApis)."""
    makes_own_id = context.version >= 1 or request.member_epoch > 0 or request.member_epoch == LEAVES
    for value, name in (
        (request.member_id if makes_own_id else None, "MemberId"),
        (request.group_id, "GroupId"),
        (request.instance_id, "InstanceId"),
        (request.rack_id, "RackId"),
    ):
        if value is not None and not value.strip():
            raise KafkaError(ErrorCode.INVALID_REQUEST, f"{name} can't be empty.")
    if request.member_epoch == 0:
        _check_first(request)
    elif request.member_epoch == LEAVES_FOR_A_WHILE and request.instance_id is None:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "InstanceId can't be null.")
    elif request.member_epoch < LEAVES_FOR_A_WHILE:
        raise KafkaError(ErrorCode.INVALID_REQUEST, "MemberEpoch is invalid.")
    assignors = context.broker.groups.settings.group_consumer_assignors
    if request.server_assignor is not None and request.server_assignor not in assignors:
        raise KafkaError(
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            f"ServerAssignor {request.server_assignor} is not supported. Supported assignors: {', '.join(assignors)}.",
        )
    if not context.broker.is_coordinator(request.group_id):
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


def _beat(request: ConsumerGroupHeartbeatRequest, context: Context) -> Beat:
    guarded = context.cluster.authorizer is not None
    owned, names = request.topic_partitions, request.subscribed_topic_names
    return Beat(
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
        may_describe=partial(context.may, Operation.DESCRIBE, ResourceType.TOPIC) if guarded else None,
    )


@handles(CONSUMER_GROUP_DESCRIBE)
def consumer_group_describe(
    request: ConsumerGroupDescribeRequest, context: Context
) -> Generator[Wait, None, ConsumerGroupDescribeResponse]:
    """What this broker knows of each group, and of what its members own and shall own."""
    if not _is_enabled(context):
        return ConsumerGroupDescribeResponse(
            groups=[_undescribed(group_id, ErrorCode.UNSUPPORTED_VERSION) for group_id in request.group_ids]
        )
    described, slices = [], Slices()
    for group_id in by_coordinator(request.group_ids, context.broker):
        group = _describe(group_id, context)
        if request.include_authorized_operations and not group.error_code:
            group.authorized_operations = context.allowed(ResourceType.GROUP, group_id)
        described.append(group)
        if slices.full(1 + 4 * len(group.members)):
            yield NEXT_TURN
    described.sort(key=lambda group: _TOLD_FIRST.get(group.error_code, len(_TOLD_FIRST)))
    return ConsumerGroupDescribeResponse(groups=described)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    if not _is_enabled(context):
        return _undescribed(group_id, ErrorCode.UNSUPPORTED_VERSION)
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, group_id):
        return _undescribed(group_id, ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not group_id:
        return _undescribed(group_id, ErrorCode.INVALID_GROUP_ID)
    if not context.broker.is_coordinator(group_id):
        return _undescribed(group_id, ErrorCode.NOT_COORDINATOR)
    group = context.broker.groups.get(group_id)
    if isinstance(group, ConsumerGroup):
        described = _described(group, context.cluster.topics_by_id)
        told = {
            topic.topic_name
            for member in described.members
            for assignment in (member.assignment, member.target_assignment)
            for topic in assignment.topic_partitions
        }
        if all(context.may(Operation.DESCRIBE, ResourceType.TOPIC, name) for name in told):
            return described
        return _undescribed(group_id, ErrorCode.TOPIC_AUTHORIZATION_FAILED, "The group has topics that the client may not describe.")
    reason = "not found" if group is None else "is not a consumer group"
    return _undescribed(group_id, ErrorCode.GROUP_ID_NOT_FOUND, shortened(f"Group {group_id} {reason}."))


def _undescribed(group_id: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=error,
        error_message=message,
        group_id=group_id,
        group_state="",
        group_epoch=0,
        assignment_epoch=0,
        assignor_name="",
        members=[],
    )


def _described(group: ConsumerGroup, topics: Mapping[bytes, Topic]) -> DescribedGroup:
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        group_epoch=group.epoch,
        assignment_epoch=group.assignment_epoch,
        assignor_name=group.assignor,
        members=[_member(group.members[member_id], group, topics) for member_id in timeline_order(group.members)],
    )


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


def _assignment(slots: Iterable[Slot], topics: Mapping[bytes, Topic]) -> describing.Assignment:
    return describing.Assignment(
        topic_partitions=[
            describing.TopicPartitions(topic_id=topic_id, topic_name=topics[topic_id].name, partitions=indexes)
            for topic_id, indexes in by_topic(slots).items()
            if topic_id in topics
        ]
    )
