"""ShareGroupHeartbeat and ShareGroupDescribe on the wire, and what share groups write, keep and lose.

The rules of the groups themselves are in tests/broker/groups. Apache Kafka 4.3.1 gives the same answers.
"""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.cluster.features import SHARE_VERSION, FeatureUpdate
from odradek.broker.groups.share.group import ShareGroup
from odradek.broker.security.acls import Operation, Permission
from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.share_group_describe import SHARE_GROUP_DESCRIBE, ShareGroupDescribeRequest
from odradek.protocol.messages.share_group_heartbeat import SHARE_GROUP_HEARTBEAT, ShareGroupHeartbeatRequest, ShareGroupHeartbeatResponse
from tests.broker.handlers.access import AUTHORIZED, acl
from tests.broker.handlers.group_records import group_records
from tests.broker.harness import World


class Scene:
    """One node with a topic t of two partitions."""

    def __init__(self, **settings: str) -> None:
        named = {name.replace("_", "."): value for name, value in settings.items()}
        self.world = World(nodes=1, settings={"offsets.topic.num.partitions": "1", "group.share.assignment.interval.ms": "0"} | named)
        self.world.cluster.topics.ensure_internal("__consumer_offsets")
        self.topic = self.world.cluster.topics.create("t", 2)
        self.client = self.world.client()

    def beat(self, member_id: str = "m", epoch: int = 0, **options: Any) -> ShareGroupHeartbeatResponse:
        first = {"subscribed_topic_names": ["t"]} if epoch == 0 else {}
        values: dict[str, Any] = {"group_id": "g", "member_id": member_id, "member_epoch": epoch} | first | options
        response = self.client.call(SHARE_GROUP_HEARTBEAT, 1, ShareGroupHeartbeatRequest(**values))
        assert isinstance(response, ShareGroupHeartbeatResponse)
        return response

    def describe(self, *group_ids: str, operations: bool = False) -> list[Any]:
        request = ShareGroupDescribeRequest(group_ids=list(group_ids), include_authorized_operations=operations)
        found: list[Any] = self.client.call(SHARE_GROUP_DESCRIBE, 1, request).groups
        return found

    @property
    def group(self) -> ShareGroup:
        group = self.world.cluster.groups.get("g")
        assert isinstance(group, ShareGroup)
        return group

    def records(self) -> list[tuple[int, Any, Any]]:
        """Returns the records of __consumer_offsets as (type, key, value); the value is None for tombstones."""
        return [(kind, key, value) for kind, key, _, value in group_records(self.world)]


@pytest.fixture
def scene() -> Scene:
    return Scene()


def assigned(response: ShareGroupHeartbeatResponse) -> list[int] | None:
    return None if response.assignment is None else [index for topic in response.assignment.topic_partitions for index in topic.partitions]


def test_share_heartbeats_assign_initialized_partitions(scene: Scene) -> None:
    first, second, third = scene.beat(), scene.beat(epoch=2), scene.beat(epoch=3)
    assert [(each.member_epoch, assigned(each)) for each in (first, second, third)] == [(2, []), (3, [0, 1]), (3, None)]
    assert (first.member_id, first.heartbeat_interval_ms) == ("m", 5000)
    assert second.assignment is not None
    assert second.assignment.topic_partitions[0].topic_id == scene.topic.id
    [group] = scene.describe("g")
    assert (group.group_state, group.group_epoch, group.assignment_epoch, group.assignor_name) == ("Stable", 3, 3, "simple")
    [member] = group.members
    assert (member.member_id, member.client_host, member.subscribed_topic_names) == ("m", "/127.0.0.1", ["t"])
    [topic] = member.assignment.topic_partitions
    assert (topic.topic_name, topic.partitions) == ("t", [0, 1])


def test_share_group_writes_records_of_kafka(scene: Scene) -> None:
    scene.beat(rack_id="r")
    scene.beat(epoch=2)
    now_ms = scene.world.timers.now_ms
    kinds = [kind for kind, _, _ in scene.records()]
    # The first heartbeat: member, epoch, target, current assignment, partitions being initialized; then initialized ones.
    assert kinds == [10, 11, 13, 12, 14, 15, 15, 11, 13, 12, 14]
    values = [value for _, _, value in scene.records()]
    assert (values[0].rack_id, values[0].client_host, values[0].subscribed_topic_names) == ("r", "/127.0.0.1", ["t"])
    assert values[1].epoch == 2
    assert values[1].metadata_hash == scene.group.subscriptions.metadata_hash != 0
    initializing, initialized = values[5], values[6]
    [begun] = initializing.initializing_topics
    assert (begun.topic_id, begun.topic_name, begun.partitions) == (scene.topic.id, "t", [0, 1])
    assert (initializing.initialized_topics, initialized.initializing_topics) == ([], [])
    assert [each.partitions for each in initialized.initialized_topics] == [[0, 1]]
    assert [(each.topic_id, each.partitions) for each in values[8].topic_partitions] == [(scene.topic.id, [0, 1])]
    assert (values[9].assignment_epoch, values[9].assignment_timestamp) == (3, now_ms)
    assert (values[10].member_epoch, values[10].previous_member_epoch, values[10].state) == (3, 2, 0)
    assert [(each.topic_id, each.partitions) for each in values[10].assigned_partitions] == [(scene.topic.id, [0, 1])]


def test_share_group_writes_tombstones_of_members_and_group(scene: Scene) -> None:
    scene.beat()
    before = len(scene.records())
    assert scene.beat(epoch=-1).member_epoch == -1
    left = scene.records()[before:]
    assert [(kind, value is None) for kind, _, value in left] == [(14, True), (13, True), (10, True), (11, False)]
    assert [key.member_id for kind, key, _ in left if kind != 11] == ["m"] * 3
    before += len(left)
    response = scene.client.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=["g"]))
    assert [each.error_code for each in response.results] == [0]
    deleting, *tombstones = scene.records()[before:]
    assert [each.topic_name for each in deleting[2].deleting_topics] == ["t"]
    assert [(kind, value) for kind, _, value in tombstones] == [(12, None), (15, None), (11, None)]
    assert scene.world.cluster.share_states.summary("g", scene.topic.id, 0) is None


def test_share_heartbeat_that_changes_nothing_writes_nothing(scene: Scene) -> None:
    scene.beat()
    scene.beat(epoch=2)
    before = len(scene.records())
    assert [scene.beat(epoch=3).error_code for _ in range(3)] == [0, 0, 0]
    scene.beat(epoch=3, subscribed_topic_names=["t"])
    assert len(scene.records()) == before


def test_deleted_topic_is_not_described(scene: Scene) -> None:
    scene.beat()
    scene.beat(epoch=2)
    scene.world.cluster.delete_topic(scene.topic)
    [group] = scene.describe("g")
    assert [member.assignment.topic_partitions for member in group.members] == [[]]
    _, _, value = scene.records()[-1]
    assert (value.initialized_topics, value.deleting_topics) == ([], [])
    assert assigned(scene.beat(epoch=3)) == []


def test_group_configs_change_sessions_and_heartbeats() -> None:
    scene = Scene(group_share_min_session_timeout_ms="1000", group_share_min_heartbeat_interval_ms="100")
    scene.world.cluster.alter_group("g", {"share.session.timeout.ms": "2000", "share.heartbeat.interval.ms": "700"})
    assert scene.beat().heartbeat_interval_ms == 700
    scene.world.advance(1999)
    assert scene.describe("g")[0].group_state == "Stable"
    scene.world.advance(1)
    assert scene.describe("g")[0].group_state == "Empty"


def test_share_version_0_disables_share_groups(scene: Scene) -> None:
    scene.beat()
    scene.world.cluster.update_features({SHARE_VERSION: FeatureUpdate(0, 2)}, validate_only=False)
    assert scene.beat(epoch=2).error_code == ErrorCode.UNSUPPORTED_VERSION
    assert [each.error_code for each in scene.describe("g", "")] == [ErrorCode.UNSUPPORTED_VERSION] * 2
    listed = scene.client.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=[], types_filter=[])).groups
    assert [(each.group_id, each.group_type) for each in listed] == [("g", "share")]


def test_share_group_restored_continues_its_session(scene: Scene) -> None:
    scene.beat()
    scene.beat(epoch=2)
    scene.world.advance(10_000)
    scene.world.restore(write_cluster(scene.world.cluster))
    scene.client = scene.world.client()
    assert (scene.group.epoch, list(scene.group.members)) == (3, ["m"])
    scene.world.advance(34_999)
    assert scene.beat(epoch=3).error_code == 0
    scene.world.advance(45_000)
    assert scene.beat(epoch=3).error_code == ErrorCode.UNKNOWN_MEMBER_ID


def test_share_group_of_moved_coordinator_starts_sessions_anew() -> None:
    world = World(nodes=2, settings={"offsets.topic.num.partitions": "1"})
    offsets = world.cluster.topics.create("__consumer_offsets", assignments=[[1, 2]])
    world.cluster.topics.create("t", 1)
    request = ShareGroupHeartbeatRequest(group_id="g", member_id="m", member_epoch=0, subscribed_topic_names=["t"])
    leader = offsets.partitions[0].leader
    assert world.client(leader).call(SHARE_GROUP_HEARTBEAT, 1, request).error_code == 0
    world.advance(40_000)
    world.cluster.nodes.stop(leader, graceful=True)
    world.end_turn()
    world.advance(44_999)
    group = world.cluster.groups.get("g")
    assert group is not None
    assert len(group.members) == 1
    world.advance(1)
    assert len(group.members) == 0


def test_client_without_rights_is_refused() -> None:
    scene = Scene(**{name.replace(".", "_"): value for name, value in AUTHORIZED.items()})
    assert scene.beat().error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert [each.error_code for each in scene.describe("g")] == [ErrorCode.GROUP_AUTHORIZATION_FAILED]


def test_group_with_hidden_topic_is_not_described() -> None:
    scene = Scene(**{name.replace(".", "_"): value for name, value in (AUTHORIZED | {"allow.everyone.if.no.acl.found": "true"}).items()})
    scene.beat()
    scene.beat(epoch=2)
    assert scene.world.cluster.authorizer is not None
    scene.world.cluster.authorizer.add(acl("t", Operation.DESCRIBE, Permission.DENY))
    [group] = scene.describe("g")
    assert (group.error_code, group.members) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, [])
    assert scene.beat("n").error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"member_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"member_id": "m" * 37}, ErrorCode.INVALID_REQUEST),
        ({"member_id": "\U0001f600" * 18}, ErrorCode.NONE),
        ({"member_id": "\U0001f600" * 19}, ErrorCode.INVALID_REQUEST),
        ({"group_id": ""}, ErrorCode.INVALID_REQUEST),
        ({"rack_id": " "}, ErrorCode.INVALID_REQUEST),
        ({"subscribed_topic_names": []}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": -2}, ErrorCode.INVALID_REQUEST),
        ({"member_epoch": 1}, ErrorCode.GROUP_ID_NOT_FOUND),
    ],
)
def test_share_heartbeat_invalid_is_refused(scene: Scene, options: dict[str, Any], error: ErrorCode) -> None:
    assert scene.beat(**options).error_code == error
