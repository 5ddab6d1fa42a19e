"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup, and the requests of administrators: DescribeGroups, ListGroups, DeleteGroups.

The rules of the first four are in groups/classic/. Every broker refuses an empty group id. Differences between versions:

* JoinGroup: v1 has a separate rebalance timeout (v0 uses the session timeout), v4 returns MEMBER_ID_REQUIRED with the id of a new member
  (KIP-394), v5 has static members (KIP-345), v7 returns the protocol type and a null protocol name in errors (an empty name before),
  v8 has a reason (KIP-800), v9 lets a leader skip the assignment (KIP-814).
* SyncGroup: v3 has static members, v5 requires the protocol type and name (KIP-559).
* Heartbeat: v3 has static members.
* LeaveGroup: v3 has several members with an error for each (a single error at the top before), v5 has reasons.
* DescribeGroups: v3 returns authorized operations, v4 instance ids; v6 returns GROUP_ID_NOT_FOUND where it was the state Dead before.
* ListGroups: v4 filters by state, v5 by type.
* DeleteGroups: versions differ in their format only.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TypeAlias, TypeVar

from ...protocol.errors import ErrorCode
from ...protocol.messages.delete_groups import DELETE_GROUPS, DeletableGroupResult, DeleteGroupsRequest, DeleteGroupsResponse
from ...protocol.messages.describe_groups import (
    DESCRIBE_GROUPS,
    DescribedGroup,
    DescribedGroupMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
)
from ...protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest, HeartbeatResponse
from ...protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupResponse, JoinGroupResponseMember
from ...protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest, LeaveGroupResponse, MemberIdentity, MemberResponse
from ...protocol.messages.list_groups import LIST_GROUPS, ListedGroup, ListGroupsRequest, ListGroupsResponse
from ...protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupResponse
from ..api.context import Context
from ..api.registry import handles
from ..groups.classic.group import ClassicGroup
from ..groups.classic.messages import Join, JoinResult, Leave, Protocol, Sync, SyncResult
from ..groups.states import GroupState, filter_name
from ..kafka_quirks.java_hash import hash_map_order
from ..scheduling.slices import Slices, chunks, in_slices
from ..scheduling.waiting import NEXT_TURN, Reply, Wait
from ..security.acls import Operation, ResourceType
from ..topics.names import CONSUMER_OFFSETS
from .described_groups import coordinated_groups, describe_in_order, missing_group_text, response_order

NO_REASON = "not provided"

T = TypeVar("T")
R = TypeVar("R")
Answer: TypeAlias = R | Generator[Wait, None, R]


@handles(JOIN_GROUP)
def join_group(request: JoinGroupRequest, context: Context) -> Answer[JoinGroupResponse]:
    """Responds when the group's rebalance is complete."""
    reply: Reply[JoinResult] = context.reply()
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        reply.set(JoinResult(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    elif not request.group_id or context.is_coordinator(request.group_id):
        context.cluster.groups.classic.join(request.group_id, _join(request, context), reply)
    else:
        reply.set(JoinResult(ErrorCode.NOT_COORDINATOR))
    return _answer(reply, partial(_join_response, context.version), f"a rebalance of {request.group_id}")


def _join_response(version: int, result: JoinResult) -> JoinGroupResponse:
    return JoinGroupResponse(
        error_code=result.error,
        generation_id=result.generation_id,
        protocol_type=result.protocol_type,
        protocol_name=result.protocol_name if version >= 7 else result.protocol_name or "",
        leader=result.leader,
        skip_assignment=result.skip_assignment,
        member_id=result.member_id,
        members=[
            JoinGroupResponseMember(member_id=member.member_id, group_instance_id=member.group_instance_id, metadata=member.metadata)
            for member in result.members
        ],
    )


def _join(request: JoinGroupRequest, context: Context) -> Join:
    return Join(
        member_id=request.member_id,
        group_instance_id=request.group_instance_id,
        client_id=context.client.client_id,
        client_host=f"/{context.client.client_host}",
        protocol_type=request.protocol_type,
        protocols=tuple(Protocol(protocol.name, protocol.metadata) for protocol in request.protocols),
        session_timeout_ms=request.session_timeout_ms,
        rebalance_timeout_ms=request.rebalance_timeout_ms if context.version >= 1 else request.session_timeout_ms,
        reason=request.reason or NO_REASON,
        requires_known_member_id=context.version >= 4,
        supports_skip_assignment=context.version >= 9,
    )


@handles(SYNC_GROUP)
def sync_group(request: SyncGroupRequest, context: Context) -> Answer[SyncGroupResponse]:
    """Responds when the leader has sent the assignment."""
    reply: Reply[SyncResult] = context.reply()
    if context.version >= 5 and (request.protocol_type is None or request.protocol_name is None):
        reply.set(SyncResult(ErrorCode.INCONSISTENT_GROUP_PROTOCOL))
    elif not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        reply.set(SyncResult(ErrorCode.GROUP_AUTHORIZATION_FAILED))
    elif not request.group_id or context.is_coordinator(request.group_id):
        sync = Sync(
            member_id=request.member_id,
            generation_id=request.generation_id,
            group_instance_id=request.group_instance_id,
            protocol_type=request.protocol_type,
            protocol_name=request.protocol_name,
            assignments={each.member_id: each.assignment for each in request.assignments},
        )
        context.cluster.groups.classic.sync(request.group_id, sync, reply)
    else:
        reply.set(SyncResult(ErrorCode.NOT_COORDINATOR))
    return _answer(reply, _sync_response, f"the assignment of {request.group_id}")


def _sync_response(result: SyncResult) -> SyncGroupResponse:
    return SyncGroupResponse(
        error_code=result.error, protocol_type=result.protocol_type, protocol_name=result.protocol_name, assignment=result.assignment
    )


@handles(HEARTBEAT)
def heartbeat(request: HeartbeatRequest, context: Context) -> HeartbeatResponse:
    """Renews a member's session; returns REBALANCE_IN_PROGRESS if the member has to join again."""
    context.demand(Operation.READ, ResourceType.GROUP, request.group_id)
    if request.group_id and not context.is_coordinator(request.group_id):
        return HeartbeatResponse(error_code=ErrorCode.NOT_COORDINATOR)
    error = context.cluster.groups.classic.heartbeat(request.group_id, request.member_id, request.group_instance_id, request.generation_id)
    return HeartbeatResponse(error_code=error)


@handles(LEAVE_GROUP)
def leave_group(request: LeaveGroupRequest, context: Context) -> Generator[Wait, None, LeaveGroupResponse]:
    """Removes members. Both members and administrators send this request."""
    if not context.may(Operation.READ, ResourceType.GROUP, request.group_id):
        return LeaveGroupResponse(error_code=ErrorCode.GROUP_AUTHORIZATION_FAILED)
    if not request.group_id:
        return LeaveGroupResponse(error_code=ErrorCode.INVALID_GROUP_ID)
    if not context.is_coordinator(request.group_id):
        return LeaveGroupResponse(error_code=ErrorCode.NOT_COORDINATOR)
    members = request.members if context.version >= 3 else [MemberIdentity(member_id=request.member_id)]
    slices = Slices()
    leaves = yield from in_slices(_leave, members, slices)
    errors = context.cluster.groups.classic.leave(request.group_id, leaves)
    if context.version < 3:
        return LeaveGroupResponse(error_code=errors[0])
    answers = yield from in_slices(lambda each: _leave_response(*each), zip(members, errors, strict=True), slices)
    return LeaveGroupResponse(members=answers)


def _leave(member: MemberIdentity) -> Leave:
    return Leave(member_id=member.member_id, group_instance_id=member.group_instance_id, reason=member.reason or NO_REASON)


def _leave_response(member: MemberIdentity, error: ErrorCode) -> MemberResponse:
    return MemberResponse(member_id=member.member_id, group_instance_id=member.group_instance_id, error_code=error)


@handles(DESCRIBE_GROUPS)
def describe_groups(request: DescribeGroupsRequest, context: Context) -> Generator[Wait, None, DescribeGroupsResponse]:
    """Describes classic groups. The protocol and the members' metadata are returned only if the group is stable."""
    with_operations = request.include_authorized_operations
    described = yield from describe_in_order(request.groups, _describe, context, with_operations=with_operations)
    return DescribeGroupsResponse(groups=described)


def _describe(group_id: str, context: Context) -> DescribedGroup:
    if not context.may(Operation.DESCRIBE, ResourceType.GROUP, group_id):
        return _refuse(group_id, "", ErrorCode.GROUP_AUTHORIZATION_FAILED)
    group = context.cluster.groups.get(group_id)
    if not context.is_coordinator(group_id):
        return _refuse(group_id, "", ErrorCode.NOT_COORDINATOR)
    if isinstance(group, ClassicGroup):
        return _describe_group(group)
    if context.version < 6:
        return _refuse(group_id, GroupState.DEAD.value, ErrorCode.NONE)
    return _refuse(group_id, GroupState.DEAD.value, ErrorCode.GROUP_ID_NOT_FOUND, missing_group_text(group_id, group, "classic"))


def _refuse(group_id: str, state: str, error: ErrorCode, message: str | None = None) -> DescribedGroup:
    return DescribedGroup(
        error_code=error, error_message=message, group_id=group_id, group_state=state, protocol_type="", protocol_data="", members=[]
    )


def _describe_group(group: ClassicGroup) -> DescribedGroup:
    protocol_name = group.protocol_name if group.state is GroupState.STABLE else None
    return DescribedGroup(
        group_id=group.group_id,
        group_state=group.state.value,
        protocol_type=group.protocol_type or "",
        protocol_data=protocol_name or "",
        members=[
            DescribedGroupMember(
                member_id=member.member_id,
                group_instance_id=member.group_instance_id,
                client_id=member.client_id,
                client_host=member.client_host,
                member_metadata=member.metadata(protocol_name),
                member_assignment=member.assignment,
            )
            for member in map(group.members.__getitem__, hash_map_order(group.members))
        ],
    )


@handles(LIST_GROUPS)
def list_groups(request: ListGroupsRequest, context: Context) -> Generator[Wait, None, ListGroupsResponse]:
    """Lists the groups that this broker coordinates. An empty filter admits all groups."""
    slices = Slices()
    states = frozenset((yield from in_slices(lambda state: state.strip().lower(), request.states_filter, slices)))
    may_describe_all = context.may(Operation.DESCRIBE, ResourceType.CLUSTER)
    types = frozenset((yield from in_slices(str.lower, request.types_filter, slices)))
    response, groups = ListGroupsResponse(groups=[]), context.cluster.groups
    offsets = context.cluster.topics.get(CONSUMER_OFFSETS)
    for some in chunks((yield from coordinated_groups(groups, offsets, context.broker.node_id, slices))):
        response.groups += [
            ListedGroup(
                group_id=group.group_id, protocol_type=group.protocol_type or "", group_state=group.state.value, group_type=group.type
            )
            for group in some
            if groups.get(group.group_id) is group  # False if the group was deleted between two slices
            and (not states or filter_name(group.state) in states)
            and (not types or group.type in types)
            and (may_describe_all or context.may(Operation.DESCRIBE, ResourceType.GROUP, group.group_id))
        ]
        if slices.full(len(some)):
            yield NEXT_TURN
    return response


@handles(DELETE_GROUPS)
def delete_groups(request: DeleteGroupsRequest, context: Context) -> Generator[Wait, None, DeleteGroupsResponse]:
    """Deletes groups without members. A group that is named twice is deleted once. Authorization errors come last, as in Kafka."""
    slices = Slices()
    named = yield from response_order(dict.fromkeys(request.groups_names), context.cluster.topics.get(CONSUMER_OFFSETS), slices)
    results = yield from in_slices(lambda each: DeletableGroupResult(group_id=each, error_code=_delete(each, context)), named, slices, 8)
    results.sort(key=lambda result: result.error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED)
    return DeleteGroupsResponse(results=results)


def _delete(group_id: str, context: Context) -> ErrorCode:
    if not context.may(Operation.DELETE, ResourceType.GROUP, group_id):
        return ErrorCode.GROUP_AUTHORIZATION_FAILED
    return context.cluster.groups.delete(group_id) if context.is_coordinator(group_id) else ErrorCode.NOT_COORDINATOR


def _answer(reply: Reply[T], respond: Callable[[T], R], what: str) -> Answer[R]:
    """Returns the response to the value of a reply or, if the reply is not set yet, a generator that waits for it. `what` names it."""
    return respond(reply.value) if reply.done else _await(reply, respond, what)


def _await(reply: Reply[T], respond: Callable[[T], R], what: str) -> Generator[Wait, None, R]:
    """Waits for a reply. If the connection closes before that, the member stays in the group until its session ends, as in Kafka."""
    while not reply.done:
        yield Wait((reply,), what=what)
    return respond(reply.value)
