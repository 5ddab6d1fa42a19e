"""JoinGroup, SyncGroup, Heartbeat, LeaveGroup, DescribeGroups, ListGroups, DeleteGroups: errors and differences between versions.

The rules of groups are tested in tests/broker/groups. Apache Kafka 4.3.1 gives the same answers.
"""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.groups.classic.group import ClassicGroup
from odradek.broker.security.acls import OPERATIONS, ResourceType
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribeGroupsRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.messages.leave_group import LEAVE_GROUP, LeaveGroupRequest, MemberIdentity
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest
from tests.broker.handlers.group_scene import ELSEWHERE, HERE, Scene, join_request

EVERYTHING = sum(1 << operation for operation in OPERATIONS[ResourceType.GROUP])


@pytest.fixture
def scene() -> Scene:
    return Scene()


# JoinGroup


@pytest.mark.parametrize("version", range(4))
def test_join_before_v4_without_id_is_accepted(scene: Scene, version: int) -> None:
    joined = scene.join(version)
    assert (joined.error_code, joined.generation_id, joined.protocol_name) == (0, 1, "range")
    assert joined.leader == joined.member_id == joined.members[0].member_id
    assert joined.members[0].metadata == b"topics"


@pytest.mark.parametrize("version", range(4, 10))
def test_join_from_v4_without_id_requires_member_id(scene: Scene, version: int) -> None:
    first = scene.join(version)
    assert first.error_code == ErrorCode.MEMBER_ID_REQUIRED
    assert first.member_id.startswith("test-")
    assert first.protocol_name == (None if version >= 7 else "")
    joined = scene.join(version, member_id=first.member_id)
    assert (joined.error_code, joined.member_id, joined.generation_id) == (0, first.member_id, 1)
    assert joined.protocol_type == ("consumer" if version >= 7 else None)


@pytest.mark.parametrize("version", range(5, 10))
def test_join_of_static_member_is_accepted(scene: Scene, version: int) -> None:
    joined = scene.join(version, group_instance_id="me")
    assert joined.error_code == 0
    assert joined.members[0].group_instance_id == "me"


@pytest.mark.parametrize(("version", "skips"), [(8, False), (9, True)])
def test_join_of_returning_static_leader_keeps_generation(scene: Scene, version: int, skips: bool) -> None:
    old_id = scene.stable(group_instance_id="me")
    joined = scene.join(version, group_instance_id="me")
    assert (joined.error_code, joined.generation_id, joined.skip_assignment) == (0, 1, skips)
    assert joined.leader == (joined.member_id if skips else old_id)
    assert bool(joined.members) == skips


def test_join_v0_uses_session_timeout_to_rejoin(scene: Scene) -> None:
    scene.join(0, session_timeout_ms=30_000, rebalance_timeout_ms=1)
    group = scene.world.cluster.groups.get(scene.group)
    assert isinstance(group, ClassicGroup)
    assert [member.rebalance_timeout_ms for member in group.members.values()] == [30_000]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"session_timeout_ms": 5_999}, ErrorCode.INVALID_SESSION_TIMEOUT),
        ({"member_id": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"protocols": []}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
        ({"protocol_type": ""}, ErrorCode.INCONSISTENT_GROUP_PROTOCOL),
    ],
)
@pytest.mark.parametrize("version", [6, 7])
def test_join_invalid_returns_error(scene: Scene, version: int, options: dict[str, Any], error: ErrorCode) -> None:
    refused = scene.join(version, **options)
    assert refused.error_code == error
    assert (refused.generation_id, refused.leader, refused.members) == (-1, "", [])
    assert refused.protocol_name == (None if version >= 7 else "")
    assert refused.member_id == options.get("member_id", "")


def test_join_of_second_member_rebalances_group(scene: Scene) -> None:
    first, second = scene.client, scene.world.client(HERE)
    leader = scene.stable()
    second.send(JOIN_GROUP, 3, join_request(scene.group))
    scene.world.advance(5_000)
    assert second.receive() is None
    assert first.call(HEARTBEAT, 4, HeartbeatRequest(group_id=scene.group, generation_id=1, member_id=leader)).error_code == 27
    again = scene.join(member_id=leader)
    follower = second.receive()
    assert (again.generation_id, again.leader, len(again.members)) == (2, leader, 2)
    assert (follower.generation_id, follower.leader, follower.members) == (2, leader, [])
    second.send(SYNC_GROUP, 3, SyncGroupRequest(group_id=scene.group, generation_id=2, member_id=follower.member_id, assignments=[]))
    assert second.receive() is None
    assert scene.sync(leader, generation_id=2).assignment == b"mine"
    assert second.receive().assignment == b""


def test_join_of_closed_connection_keeps_member_for_session(scene: Scene) -> None:
    leader = scene.stable()
    second = scene.world.client(HERE)
    second.send(JOIN_GROUP, 3, join_request(scene.group))
    second.connection.lost("gone")
    assert len(scene.join(member_id=leader).members) == 2
    scene.sync(leader, generation_id=2)
    for _ in range(3):
        scene.world.advance(4_000)
        scene.client.call(HEARTBEAT, 4, HeartbeatRequest(group_id=scene.group, generation_id=2, member_id=leader))
    assert len(scene.join(member_id=leader).members) == 1


# SyncGroup


def test_sync_from_v5_requires_matching_protocol(scene: Scene) -> None:
    member_id = scene.stable()
    named = {"protocol_type": "consumer", "protocol_name": "range"}
    synced = scene.sync(member_id, 5, **named)
    assert (synced.error_code, synced.protocol_type, synced.protocol_name, synced.assignment) == (0, "consumer", "range", b"mine")
    for wrong in ({"protocol_type": None}, {"protocol_name": None}, {"protocol_type": "connect"}, {"protocol_name": "sticky"}):
        refused = scene.sync(member_id, 5, **(named | wrong))
        assert refused.error_code == ErrorCode.INCONSISTENT_GROUP_PROTOCOL
        assert (refused.protocol_type, refused.protocol_name, refused.assignment) == (None, None, b"")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"group_id": ""}, ErrorCode.INVALID_GROUP_ID),
        ({"member_id": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
        ({"generation_id": 2}, ErrorCode.ILLEGAL_GENERATION),
        ({"group_instance_id": "who"}, ErrorCode.UNKNOWN_MEMBER_ID),
    ],
)
def test_sync_invalid_returns_error(scene: Scene, options: dict[str, Any], error: ErrorCode) -> None:
    assert scene.sync(**({"member_id": scene.stable()} | options)).error_code == error


# Heartbeat


@pytest.mark.parametrize("version", range(5))
def test_heartbeat_returns_error_of_member_or_generation(scene: Scene, version: int) -> None:
    member_id = scene.stable()

    def beat(**options: Any) -> int:
        defaults: dict[str, Any] = {"group_id": scene.group, "generation_id": 1, "member_id": member_id}
        return int(scene.client.call(HEARTBEAT, version, HeartbeatRequest(**(defaults | options))).error_code)

    assert beat() == ErrorCode.NONE
    assert beat(group_id="") == ErrorCode.INVALID_GROUP_ID
    assert beat(group_id=scene.other) == ErrorCode.UNKNOWN_MEMBER_ID
    assert beat(member_id="who") == ErrorCode.UNKNOWN_MEMBER_ID
    assert beat(generation_id=0) == ErrorCode.ILLEGAL_GENERATION


# LeaveGroup


@pytest.mark.parametrize("version", range(3))
def test_leave_before_v3_removes_one_member(scene: Scene, version: int) -> None:
    member_id = scene.stable()
    for expected in (ErrorCode.NONE, ErrorCode.UNKNOWN_MEMBER_ID):
        left = scene.client.call(LEAVE_GROUP, version, LeaveGroupRequest(group_id=scene.group, member_id=member_id))
        assert (left.error_code, left.members) == (expected, [])


@pytest.mark.parametrize("version", range(3, 6))
def test_leave_from_v3_returns_error_for_each_member(scene: Scene, version: int) -> None:
    member_id = scene.stable(group_instance_id="me")
    members = [
        MemberIdentity(member_id="who"),
        MemberIdentity(member_id="who", group_instance_id="me"),
        MemberIdentity(member_id=member_id),
    ]
    left = scene.client.call(LEAVE_GROUP, version, LeaveGroupRequest(group_id=scene.group, members=members))
    assert left.error_code == 0
    assert [(member.member_id, member.group_instance_id, member.error_code) for member in left.members] == [
        ("who", None, ErrorCode.UNKNOWN_MEMBER_ID),
        ("who", "me", ErrorCode.FENCED_INSTANCE_ID),
        (member_id, None, ErrorCode.NONE),
    ]


def test_leave_of_unknown_group_returns_error(scene: Scene) -> None:
    leave = [MemberIdentity(member_id="who")]
    unnamed = scene.client.call(LEAVE_GROUP, 5, LeaveGroupRequest(group_id="", members=leave))
    assert (unnamed.error_code, unnamed.members) == (ErrorCode.INVALID_GROUP_ID, [])
    unknown = scene.client.call(LEAVE_GROUP, 5, LeaveGroupRequest(group_id=scene.group, members=leave))
    assert (unknown.error_code, [member.error_code for member in unknown.members]) == (0, [ErrorCode.UNKNOWN_MEMBER_ID])


# DescribeGroups


@pytest.mark.parametrize("version", range(7))
def test_describe_stable_group_returns_members(scene: Scene, version: int) -> None:
    member_id = scene.stable(group_instance_id="me")
    (group,) = scene.describe(version, scene.group, operations=version >= 3)
    assert (group.error_code, group.group_state, group.protocol_type, group.protocol_data) == (0, "Stable", "consumer", "range")
    assert group.authorized_operations == (EVERYTHING if version >= 3 else -(1 << 31))
    (member,) = group.members
    assert (member.member_id, member.client_id, member.client_host) == (member_id, "test", "/127.0.0.1")
    assert (member.member_metadata, member.member_assignment) == (b"topics", b"mine")
    assert member.group_instance_id == ("me" if version >= 4 else None)


def test_describe_unstable_group_omits_protocol(scene: Scene) -> None:
    scene.join()
    (group,) = scene.describe(6, scene.group)
    assert (group.group_state, group.protocol_data, group.authorized_operations) == ("CompletingRebalance", "", -(1 << 31))
    assert [member.member_metadata for member in group.members] == [b""]


def test_describe_unknown_group_is_dead(scene: Scene) -> None:
    (group,) = scene.describe(5, scene.group, operations=True)
    assert (group.error_code, group.group_state, group.authorized_operations) == (
        0,
        "Dead",
        EVERYTHING,
    )
    (group,) = scene.describe(6, scene.group, operations=True)
    assert (group.error_code, group.group_state, group.authorized_operations) == (ErrorCode.GROUP_ID_NOT_FOUND, "Dead", -(1 << 31))
    assert group.error_message == f"Group {scene.group} not found."


# ListGroups


def test_list_returns_groups_of_coordinator(scene: Scene) -> None:
    scene.stable()
    (group,) = scene.client.call(LIST_GROUPS, 5, ListGroupsRequest()).groups
    assert (group.group_id, group.protocol_type, group.group_state, group.group_type) == (scene.group, "consumer", "Stable", "classic")
    assert scene.world.client(ELSEWHERE).call(LIST_GROUPS, 5, ListGroupsRequest()).groups == []


@pytest.mark.parametrize(
    ("states", "types", "listed"),
    [
        ([], [], True),
        ([" STABLE "], [], True),
        (["empty", "stable"], ["Classic"], True),
        (["empty"], [], False),
        (["nonsense"], [], False),
        ([], ["consumer"], False),
        ([], ["nonsense"], False),
    ],
)
def test_list_with_filters_returns_matching_groups(scene: Scene, states: list[str], types: list[str], listed: bool) -> None:
    scene.stable()
    response = scene.client.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=states, types_filter=types))
    assert [group.group_id for group in response.groups] == [scene.group] * listed


# DeleteGroups


@pytest.mark.parametrize("version", range(3))
def test_delete_returns_error_for_each_group(scene: Scene, version: int) -> None:
    member_id = scene.stable()
    request = DeleteGroupsRequest(groups_names=[scene.group, scene.other, scene.group])

    def delete() -> dict[str, int]:
        return {result.group_id: result.error_code for result in scene.client.call(DELETE_GROUPS, version, request).results}

    assert delete() == {scene.group: ErrorCode.NON_EMPTY_GROUP, scene.other: ErrorCode.GROUP_ID_NOT_FOUND}
    scene.client.call(LEAVE_GROUP, 0, LeaveGroupRequest(group_id=scene.group, member_id=member_id))
    assert delete() == {scene.group: ErrorCode.NONE, scene.other: ErrorCode.GROUP_ID_NOT_FOUND}
    assert delete()[scene.group] == ErrorCode.GROUP_ID_NOT_FOUND


# The wrong broker


def test_requests_to_other_broker_return_not_coordinator(scene: Scene) -> None:
    member_id = scene.stable()
    wrong = scene.world.client(ELSEWHERE)
    joined = wrong.call(JOIN_GROUP, 9, join_request(scene.group, member_id))
    assert (joined.error_code, joined.member_id) == (ErrorCode.NOT_COORDINATOR, "")
    sync = SyncGroupRequest(group_id=scene.group, generation_id=1, member_id=member_id, assignments=[])
    assert wrong.call(SYNC_GROUP, 3, sync).error_code == ErrorCode.NOT_COORDINATOR
    beat = HeartbeatRequest(group_id=scene.group, generation_id=1, member_id=member_id)
    assert wrong.call(HEARTBEAT, 4, beat).error_code == ErrorCode.NOT_COORDINATOR
    left = wrong.call(LEAVE_GROUP, 5, LeaveGroupRequest(group_id=scene.group, members=[MemberIdentity(member_id=member_id)]))
    assert (left.error_code, left.members) == (ErrorCode.NOT_COORDINATOR, [])
    (described,) = wrong.call(DESCRIBE_GROUPS, 6, DescribeGroupsRequest(groups=[scene.group])).groups
    assert (described.error_code, described.group_state, described.error_message) == (ErrorCode.NOT_COORDINATOR, "", None)
    (deleted,) = wrong.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=[scene.group])).results
    assert deleted.error_code == ErrorCode.NOT_COORDINATOR
    assert scene.describe(6, scene.group)[0].group_state == "Stable"


def test_join_empty_group_id_is_invalid_on_every_broker(scene: Scene) -> None:
    for node_id in (HERE, ELSEWHERE):
        client = scene.world.client(node_id)
        assert client.call(JOIN_GROUP, 9, join_request("")).error_code == ErrorCode.INVALID_GROUP_ID
