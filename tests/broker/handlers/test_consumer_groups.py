"""ConsumerGroupHeartbeat and ConsumerGroupDescribe on the wire, and consumer groups in the responses to other requests.

The rules of the groups themselves are in tests/broker/groups. Apache Kafka 4.3.1 gives the same answers.
"""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.api.context import Context
from odradek.broker.handlers import consumer_groups
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.consumer_group_describe import CONSUMER_GROUP_DESCRIBE, ConsumerGroupDescribeRequest, DescribedGroup
from odradek.protocol.messages.consumer_group_heartbeat import (
    CONSUMER_GROUP_HEARTBEAT,
    ConsumerGroupHeartbeatRequest,
    ConsumerGroupHeartbeatResponse,
    TopicPartitions,
)
from odradek.protocol.messages.delete_groups import DELETE_GROUPS, DeleteGroupsRequest
from odradek.protocol.messages.describe_groups import DESCRIBE_GROUPS, DescribeGroupsRequest
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.offset_commit import (
    OFFSET_COMMIT,
    OffsetCommitRequest,
    OffsetCommitRequestPartition,
    OffsetCommitRequestTopic,
)
from odradek.protocol.messages.offset_delete import (
    OFFSET_DELETE,
    OffsetDeleteRequest,
    OffsetDeleteRequestPartition,
    OffsetDeleteRequestTopic,
)
from odradek.protocol.messages.offset_fetch import OFFSET_FETCH, OffsetFetchRequest, OffsetFetchRequestGroup
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from tests.broker.handlers.group_records import group_records
from tests.broker.harness import World

OWNED = TopicPartitions(topic_id=bytes(16), partitions=[0])


class Scene:
    """One node with a topic t of two partitions."""

    def __init__(self) -> None:
        self.world = World(nodes=1, settings={"offsets.topic.num.partitions": "1"})
        self.world.cluster.topics.ensure_internal("__consumer_offsets")
        self.topic = self.world.cluster.topics.create("t", 2)
        self.client = self.world.client()

    def beat(self, member_id: str = "m", epoch: int = 0, version: int = 1, **options: Any) -> ConsumerGroupHeartbeatResponse:
        first: dict[str, Any] = {"rebalance_timeout_ms": 30_000, "subscribed_topic_names": ["t"], "topic_partitions": []}
        values: dict[str, Any] = {"group_id": "g", "member_id": member_id, "member_epoch": epoch} | (first if epoch == 0 else {}) | options
        response = self.client.call(CONSUMER_GROUP_HEARTBEAT, version, ConsumerGroupHeartbeatRequest(**values))
        assert isinstance(response, ConsumerGroupHeartbeatResponse)
        return response

    def describe(self, *group_ids: str, version: int = 1, operations: bool = False) -> list[Any]:
        request = ConsumerGroupDescribeRequest(group_ids=list(group_ids), include_authorized_operations=operations)
        found: list[Any] = self.client.call(CONSUMER_GROUP_DESCRIBE, version, request).groups
        return found

    def commit(self, member_id: str, epoch: int, *partitions: int, version: int = 9, retention_time_ms: int = -1) -> list[int]:
        offsets = [
            OffsetCommitRequestPartition(partition_index=index, committed_offset=5, committed_metadata="note") for index in partitions
        ]
        request = OffsetCommitRequest(
            group_id="g",
            generation_id_or_member_epoch=epoch,
            member_id=member_id,
            retention_time_ms=retention_time_ms,
            topics=[OffsetCommitRequestTopic(name="t", topic_id=self.topic.id, partitions=offsets)],
        )
        response = self.client.call(OFFSET_COMMIT, version, request)
        return [partition.error_code for partition in response.topics[0].partitions]

    def delete_offset(self, partition: int, topic: str = "t", group_id: str = "g") -> tuple[int, list[int]]:
        wanted = OffsetDeleteRequestTopic(name=topic, partitions=[OffsetDeleteRequestPartition(partition_index=partition)])
        response = self.client.call(OFFSET_DELETE, 0, OffsetDeleteRequest(group_id=group_id, topics=[wanted]))
        return response.error_code, [each.error_code for found in response.topics for each in found.partitions]

    def fetch(self, member_id: str | None, epoch: int) -> tuple[int, dict[int, int]]:
        group = OffsetFetchRequestGroup(group_id="g", member_id=member_id, member_epoch=epoch, topics=None)
        (found,) = self.client.call(OFFSET_FETCH, 9, OffsetFetchRequest(groups=[group])).groups
        return found.error_code, {each.partition_index: each.committed_offset for topic in found.topics for each in topic.partitions}

    def records(self) -> list[tuple[int, Any, int, Any]]:
        """Returns the records of __consumer_offsets as (type, key, version of the value, value); -1 and None for tombstones."""
        return group_records(self.world)


@pytest.fixture
def scene() -> Scene:
    return Scene()


def assigned(response: ConsumerGroupHeartbeatResponse) -> list[int] | None:
    if response.assignment is None:
        return None
    return [index for topic in response.assignment.topic_partitions for index in topic.partitions]


@pytest.mark.parametrize(
    ("member_id", "epoch", "options", "message"),
    [
        ("", 0, {}, "MemberId can't be empty."),
        ("", 1, {"version": 0}, "MemberId can't be empty."),
        ("", -1, {"version": 0}, "MemberId can't be empty."),
        ("m", 0, {"group_id": " "}, "GroupId can't be empty."),
        ("m", 0, {"instance_id": ""}, "InstanceId can't be empty."),
        ("m", 0, {"rack_id": ""}, "RackId can't be empty."),
        ("m", 0, {"rebalance_timeout_ms": -1}, "RebalanceTimeoutMs must be provided in first request."),
        ("m", 0, {"topic_partitions": None}, "TopicPartitions must be empty when (re-)joining."),
        (
            "m",
            0,
            {"topic_partitions": [TopicPartitions(topic_id=bytes(16), partitions=[0])]},
            "TopicPartitions must be empty when (re-)joining.",
        ),
        (
            "m",
            0,
            {"subscribed_topic_names": None},
            "Either SubscribedTopicNames or SubscribedTopicRegex must be non-null when (re-)joining.",
        ),
        ("m", -2, {}, "InstanceId can't be null."),
        ("m", -3, {}, "MemberEpoch is invalid."),
    ],
)
def test_heartbeat_malformed_returns_invalid_request(
    scene: Scene, member_id: str, epoch: int, options: dict[str, Any], message: str
) -> None:
    response = scene.beat(member_id, epoch, **options)
    assert (response.error_code, response.error_message) == (ErrorCode.INVALID_REQUEST, message)
    assert (response.member_id, response.member_epoch, response.heartbeat_interval_ms, response.assignment) == (None, 0, 0, None)
    assert scene.world.cluster.groups.get("g") is None


@pytest.mark.parametrize(
    ("epoch", "options", "error", "message"),
    [
        (
            0,
            {"server_assignor": "x"},
            ErrorCode.UNSUPPORTED_ASSIGNOR,
            "ServerAssignor x is not supported. Supported assignors: uniform, range.",
        ),
        (5, {}, ErrorCode.GROUP_ID_NOT_FOUND, "Consumer group g not found."),
        (-1, {}, ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found."),
        (-2, {"instance_id": "i"}, ErrorCode.GROUP_ID_NOT_FOUND, "Group g not found."),
        (
            0,
            {"subscribed_topic_regex": "a(?=b)"},
            ErrorCode.INVALID_REGULAR_EXPRESSION,
            "SubscribedTopicRegex `a(?=b)` is not a valid regular expression: invalid or unsupported Perl syntax.",
        ),
    ],
)
def test_heartbeat_refused_creates_no_group(scene: Scene, epoch: int, options: dict[str, Any], error: ErrorCode, message: str) -> None:
    response = scene.beat(epoch=epoch, **options)
    assert (response.error_code, response.error_message) == (error, message)
    assert scene.world.cluster.groups.get("g") is None


def test_heartbeat_to_other_broker_returns_not_coordinator() -> None:
    world = World(nodes=2)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    request = ConsumerGroupHeartbeatRequest(
        group_id="g", member_id="m", member_epoch=0, rebalance_timeout_ms=1, subscribed_topic_names=["t"], topic_partitions=[]
    )
    codes = {world.client(node).call(CONSUMER_GROUP_HEARTBEAT, 1, request).error_code for node in (1, 2)}
    assert codes == {ErrorCode.NONE, ErrorCode.NOT_COORDINATOR}


def test_heartbeat_joins_continues_and_leaves(scene: Scene) -> None:
    joined = scene.beat()
    assert (joined.error_code, joined.member_id, joined.member_epoch, joined.heartbeat_interval_ms) == (0, "m", 2, 5000)
    assert assigned(joined) == [0, 1]
    assert assigned(scene.beat(epoch=2)) is None
    left = scene.beat(epoch=-1)
    assert (left.error_code, left.member_id, left.member_epoch, left.heartbeat_interval_ms, left.assignment) == (0, "m", -1, 0, None)
    unknown = scene.beat(epoch=2)
    assert (unknown.error_code, unknown.error_message) == (ErrorCode.UNKNOWN_MEMBER_ID, "Member m is not a member of group g.")


def test_heartbeat_v0_without_id_gets_member_id(scene: Scene) -> None:
    joined = scene.beat("", version=0)
    assert joined.member_id is not None and len(joined.member_id) == 22
    assert scene.beat(joined.member_id, 2, version=0).error_code == 0


@pytest.mark.parametrize("version", [0, 1])
def test_describe_returns_members_and_assignments(scene: Scene, version: int) -> None:
    scene.beat(rack_id="r", instance_id="i")
    (group,) = scene.describe("g", version=version, operations=True)
    assert (group.error_code, group.group_state, group.group_epoch, group.assignment_epoch) == (0, "Stable", 2, 2)
    assert (group.assignor_name, group.authorized_operations) == ("uniform", 3400)
    (member,) = group.members
    assert (member.member_id, member.instance_id, member.rack_id, member.member_epoch) == ("m", "i", "r", 2)
    assert (member.client_id, member.client_host) == ("test", "/127.0.0.1")
    assert (member.subscribed_topic_names, member.subscribed_topic_regex) == (["t"], "")
    assert member.member_type == (1 if version else -1)
    for assignment in (member.assignment, member.target_assignment):
        assert [(topic.topic_name, topic.partitions) for topic in assignment.topic_partitions] == [("t", [0, 1])]


def test_describe_other_groups_returns_error(scene: Scene) -> None:
    scene.commit("", -1, 0)
    nameless, unknown, classic = scene.describe("x", "g", "", operations=True)
    assert (unknown.error_code, unknown.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group x not found.")
    assert (classic.error_code, classic.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a consumer group.")
    assert nameless.error_code == ErrorCode.INVALID_GROUP_ID
    assert unknown.authorized_operations == -(1 << 31)


def test_admin_requests_include_consumer_group(scene: Scene) -> None:
    scene.beat()
    (listed,) = scene.client.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=["stable"], types_filter=["Consumer"])).groups
    assert (listed.group_id, listed.protocol_type, listed.group_state, listed.group_type) == ("g", "consumer", "Stable", "consumer")
    assert not scene.client.call(LIST_GROUPS, 5, ListGroupsRequest(types_filter=["classic"])).groups
    (described,) = scene.client.call(DESCRIBE_GROUPS, 6, DescribeGroupsRequest(groups=["g"])).groups
    assert (described.error_code, described.error_message) == (ErrorCode.GROUP_ID_NOT_FOUND, "Group g is not a classic group.")
    (deleted,) = scene.client.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=["g"])).results
    assert deleted.error_code == ErrorCode.NON_EMPTY_GROUP
    scene.beat(epoch=-1)
    (deleted,) = scene.client.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=["g"])).results
    assert deleted.error_code == 0
    assert scene.world.cluster.groups.get("g") is None


def test_commit_and_fetch_check_member_epoch(scene: Scene) -> None:
    scene.beat()
    assert scene.commit("m", 2, 0, 1) == [0, 0]
    assert scene.commit("m", 2, 0, version=8) == [ErrorCode.UNSUPPORTED_VERSION]
    assert scene.commit("m", 3, 0, 7) == [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.STALE_MEMBER_EPOCH]
    assert scene.commit("x", 2, 0) == [ErrorCode.UNKNOWN_MEMBER_ID]
    assert scene.fetch("m", 2) == (0, {0: 5, 1: 5})
    assert scene.fetch("m", 3) == (ErrorCode.STALE_MEMBER_EPOCH, {})
    assert scene.fetch("x", 2) == (ErrorCode.UNKNOWN_MEMBER_ID, {})
    assert scene.fetch(None, -1) == (0, {0: 5, 1: 5})


def test_offset_delete_of_subscribed_topic_is_refused(scene: Scene) -> None:
    assert scene.delete_offset(0) == (ErrorCode.GROUP_ID_NOT_FOUND, [])
    assert scene.delete_offset(0, group_id="") == (ErrorCode.INVALID_GROUP_ID, [])
    scene.beat()
    scene.commit("m", 2, 0, 1)
    assert scene.delete_offset(0) == (0, [ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC])
    assert scene.delete_offset(0, topic="x") == (0, [ErrorCode.UNKNOWN_TOPIC_OR_PARTITION])
    scene.beat(epoch=-1)
    assert scene.delete_offset(0) == (0, [0])
    assert scene.delete_offset(0) == (0, [0])
    assert scene.fetch(None, -1) == (0, {1: 5})


def test_assignment_interval_changed_in_broker_applies(scene: Scene) -> None:
    """The third member gets partitions at once, because the interval is 0 then."""
    scene.beat()
    assert scene.beat("n").member_epoch == 2
    scene.world.cluster.alter_brokers(None, {"group.consumer.assignment.interval.ms": "0"})
    assert scene.beat("o").member_epoch == 4


def test_settings_of_group_override_broker(scene: Scene) -> None:
    scene.world.cluster.alter_group("g", {"consumer.heartbeat.interval.ms": "6000", "consumer.session.timeout.ms": "50000"})
    assert scene.beat().heartbeat_interval_ms == 6000
    assert scene.beat("n", group_id="h").heartbeat_interval_ms == 5000
    scene.world.advance(45_000)
    assert [group.group_state for group in scene.describe("g", "h")] == ["Stable", "Empty"]
    scene.world.advance(5_000)
    assert scene.describe("g")[0].group_state == "Empty"


def test_records_of_consumer_group_match_kafka(scene: Scene) -> None:
    scene.beat(instance_id="i")
    kinds = [kind for kind, *_ in scene.records()]
    assert kinds == [5, 3, 7, 6, 8]
    member, epoch, target, target_epoch, current = (value for *_, value in scene.records())
    assert (member.instance_id, member.subscribed_topic_names, member.rebalance_timeout_ms) == ("i", ["t"], 30_000)
    assert epoch.epoch == target_epoch.assignment_epoch == current.member_epoch == 2
    assert epoch.metadata_hash != 0
    assert target.topic_partitions[0].partitions == current.assigned_partitions[0].partitions == [0, 1]
    assert current.assigned_partitions[0].assignment_epochs == [2, 2]
    scene.beat(epoch=2)
    assert len(scene.records()) == 5  # a heartbeat without news writes nothing
    scene.beat(epoch=2, subscribed_topic_names=[], subscribed_topic_regex="t.*", topic_partitions=[])
    assert [value.topics for kind, *_, value in scene.records() if kind == 16] == [["t"]]
    scene.beat(epoch=-1, instance_id="i")
    scene.client.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=["g"]))
    last = {(kind, str(key)): version for kind, key, version, _ in scene.records()}
    assert set(last.values()) == {-1}  # all that was there has been deleted


def test_records_of_offsets_match_kafka(scene: Scene) -> None:
    scene.commit("", -1, 0)
    scene.commit("", -1, 1, version=4, retention_time_ms=1000)
    (kind, key, version, value), (_, _, with_time, until) = scene.records()
    assert (kind, key.group, key.topic, key.partition, version) == (1, "g", "t", 0, 4)
    assert (value.offset, value.metadata, value.topic_id) == (5, "note", scene.topic.id)
    assert (with_time, until.expire_timestamp - until.commit_timestamp) == (1, 1000)
    scene.delete_offset(0)
    assert [version for *_, version, _ in scene.records()] == [4, 1, -1]
    scene.world.cluster.delete_topic(scene.topic)
    assert [version for *_, version, _ in scene.records()] == [4, 1, -1, -1]


def test_records_of_classic_group_match_kafka(scene: Scene) -> None:
    request = JoinGroupRequest(
        group_id="g",
        member_id="",
        session_timeout_ms=10_000,
        rebalance_timeout_ms=20_000,
        protocol_type="consumer",
        protocols=[JoinGroupRequestProtocol(name="range", metadata=b"wants")],
    )
    scene.client.send(JOIN_GROUP, 3, request)
    scene.world.advance(0)
    member_id = scene.client.receive().member_id
    assignments = [SyncGroupRequestAssignment(member_id=member_id, assignment=b"gets")]
    scene.client.call(SYNC_GROUP, 3, SyncGroupRequest(group_id="g", generation_id=1, member_id=member_id, assignments=assignments))
    (kind, key, version, empty), (*_, stable) = scene.records()
    assert (kind, key.group, version, empty.generation, empty.members) == (2, "g", 3, 0, [])
    assert (stable.generation, stable.protocol_type, stable.protocol, stable.leader) == (1, "consumer", "range", member_id)
    (member,) = stable.members
    assert (member.member_id, member.subscription, member.assignment) == (member_id, b"wants", b"gets")
    assert (member.rebalance_timeout, member.session_timeout) == (20_000, 10_000)
    scene.world.advance(10_000)
    scene.client.call(DELETE_GROUPS, 2, DeleteGroupsRequest(groups_names=["g"]))
    assert [(version, value and value.generation) for *_, version, value in scene.records()] == [(3, 0), (3, 1), (3, 2), (-1, None)]


def test_expensive_regular_expression_is_resolved_in_slices() -> None:
    scene = Scene()
    scene.world.stepwise = True
    for number in range(50):
        scene.world.cluster.topics.create(f"t{'a' * 100}{number}", 1)
    joined = scene.beat(subscribed_topic_names=None, subscribed_topic_regex="(?:t.*)(?:.*a.*){50}")
    assert joined.assignment is not None
    assert (joined.error_code, joined.assignment.topic_partitions) == (0, []), "the response does not wait for the matching topics"
    turns = 0
    while scene.world.turns.has_more:
        scene.world.turn()
        turns += 1
        assert scene.beat(epoch=joined.member_epoch).error_code == 0, "other requests are served between slices"
    assert turns > 10
    scene.world.advance(scene.world.cluster.config.integers["group.consumer.assignment.interval.ms"])
    response = scene.beat(epoch=joined.member_epoch)
    assert response.assignment
    assert len(response.assignment.topic_partitions) == 50


def test_group_named_often_is_described_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scene, described = Scene(), []
    scene.beat()
    describe = consumer_groups._describe

    def counting(group_id: str, context: Context) -> DescribedGroup:
        described.append(group_id)
        return describe(group_id, context)

    monkeypatch.setattr(consumer_groups, "_describe", counting)
    groups = scene.describe(*["g", "other"] * 50, operations=True)
    assert sorted(described) == ["g", "other"]
    assert [group.group_id for group in groups].count("g") == 50
    assert all(group == groups[0] for group in groups if group.group_id == groups[0].group_id)
