"""StreamsGroupHeartbeat and StreamsGroupDescribe on the wire, and streams groups in the responses to other requests.

The rules of the groups themselves are in tests/broker/groups. Apache Kafka 4.3.1 gives the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from odradek.broker.cluster.features import STREAMS_VERSION, FeatureUpdate
from odradek.broker.security.acls import Acl, Operation, PatternType, Permission, ResourceType
from odradek.broker.settings.types import STANDARD_AUTHORIZER
from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages import streams_group_heartbeat as messages
from odradek.protocol.messages.streams_group_describe import STREAMS_GROUP_DESCRIBE, DescribedGroup, StreamsGroupDescribeRequest
from odradek.protocol.messages.streams_group_heartbeat import (
    STREAMS_GROUP_HEARTBEAT,
    StreamsGroupHeartbeatRequest,
    StreamsGroupHeartbeatResponse,
)
from tests.broker.handlers.group_records import group_records
from tests.broker.harness import World

MISSING_INTERNAL_TOPICS, ASSIGNMENT_DELAYED = 3, 5


def part(name: str, *sources: str, changelog: str | None = None, sink: str | None = None, read: str | None = None) -> messages.Subtopology:
    def topics(name: str | None) -> list[messages.TopicInfo]:
        return [] if name is None else [messages.TopicInfo(name=name, partitions=0, replication_factor=0, topic_configs=[])]

    return messages.Subtopology(
        subtopology_id=name,
        source_topics=list(sources),
        source_topic_regex=[],
        state_changelog_topics=topics(changelog),
        repartition_sink_topics=[] if sink is None else [sink],
        repartition_source_topics=topics(read),
        copartition_groups=[],
    )


WORD_COUNT = messages.Topology(epoch=0, subtopologies=[part("0", "t", sink="r"), part("1", read="r", changelog="c")])
SIMPLE = messages.Topology(epoch=0, subtopologies=[part("0", "t")])


class Scene:
    """One node with a topic t of two partitions."""

    def __init__(self, settings: Mapping[str, str] | None = None) -> None:
        quick = {"offsets.topic.num.partitions": "1", "group.streams.assignment.interval.ms": "0"}
        self.world = World(nodes=1, settings=quick | dict(settings or {}))
        self.world.cluster.topics.ensure_internal("__consumer_offsets")
        self.world.cluster.topics.create("t", 2)
        self.client = self.world.client()

    def beat(
        self, epoch: int = 0, topology: messages.Topology = SIMPLE, member_id: str = "m", **options: Any
    ) -> StreamsGroupHeartbeatResponse:
        nothing: dict[str, Any] = {"active_tasks": [], "standby_tasks": [], "warmup_tasks": []}
        first = {"rebalance_timeout_ms": 30_000, "topology": topology, "process_id": "p", "client_tags": [], **nothing}
        values: dict[str, Any] = {"group_id": "g", "member_id": member_id, "member_epoch": epoch, "endpoint_information_epoch": 0}
        request = StreamsGroupHeartbeatRequest(**values | (first if epoch == 0 else {}) | options)
        response = self.client.call(STREAMS_GROUP_HEARTBEAT, 0, request)
        assert isinstance(response, StreamsGroupHeartbeatResponse)
        return response

    def describe(self, group_id: str = "g") -> DescribedGroup:
        request = StreamsGroupDescribeRequest(group_ids=[group_id])
        [found] = self.client.call(STREAMS_GROUP_DESCRIBE, 0, request).groups
        assert isinstance(found, DescribedGroup)
        return found

    def records(self) -> list[tuple[int, Any, Any]]:
        """Returns the records of __consumer_offsets as (type, key, value); None for tombstones."""
        return [(kind, key, value) for kind, key, _, value in group_records(self.world)]

    def deny(self, operation: Operation, kind: ResourceType, name: str, permission: Permission = Permission.DENY) -> None:
        assert self.world.cluster.authorizer is not None
        self.world.cluster.authorizer.add(Acl(kind, name, PatternType.LITERAL, "User:*", "*", operation, permission))

    def allow(self, operation: Operation, kind: ResourceType, name: str) -> None:
        self.deny(operation, kind, name, Permission.ALLOW)


@pytest.fixture
def scene() -> Scene:
    return Scene()


@pytest.fixture
def guarded() -> Scene:
    return Scene({"authorizer.class.name": STANDARD_AUTHORIZER, "allow.everyone.if.no.acl.found": "true"})


def statuses(response: StreamsGroupHeartbeatResponse) -> list[int]:
    return [status.status_code for status in response.status or []]


def test_first_heartbeat_writes_all_records_of_kafka(scene: Scene) -> None:
    assert scene.beat(topology=WORD_COUNT).error_code == 0
    records = scene.records()
    assert [kind for kind, _, _ in records] == [19, 23, 17, 21, 20, 22]
    member, topology, epoch, target, target_epoch, current = (value for _, _, value in records)
    assert (member.process_id, member.client_host, member.rebalance_timeout_ms) == ("p", "/127.0.0.1", 30_000)
    assert [each.subtopology_id for each in topology.subtopologies] == ["0", "1"]
    assert (epoch.epoch, epoch.validated_topology_epoch) == (2, -1)
    assert [(each.key, each.value) for each in epoch.last_assignment_configs] == [("num.standby.replicas", "0")]
    assert (target.active_tasks, target_epoch.assignment_epoch, target_epoch.assignment_timestamp) == ([], 2, scene.world.timers.now_ms)
    assert (current.member_epoch, current.previous_member_epoch, current.state, current.active_tasks) == (2, 0, 0, [])


def test_internal_topics_are_created_and_tasks_assigned(scene: Scene) -> None:
    first = scene.beat(topology=WORD_COUNT)
    assert statuses(first) == [MISSING_INTERNAL_TOPICS]
    assert {name: len(scene.world.cluster.topics[name].partitions) for name in "rc"} == {"r": 2, "c": 2}
    second = scene.beat(2)
    assert (second.member_epoch, statuses(second)) == (3, [])
    assert [(each.subtopology_id, each.partitions) for each in second.active_tasks or []] == [("0", [0, 1]), ("1", [0, 1])]
    *_, current = scene.records()
    assert [(each.subtopology_id, each.partitions, each.assignment_epochs) for each in current[2].active_tasks] == [
        ("0", [0, 1], [3, 3]),
        ("1", [0, 1], [3, 3]),
    ]
    described = scene.describe()
    assert described.topology is not None and described.topology.subtopologies is not None
    assert [each.partitions for each in described.topology.subtopologies[1].state_changelog_topics] == [2]


def test_leave_writes_tombstones_and_a_new_epoch(scene: Scene) -> None:
    scene.beat()
    before = len(scene.records())
    assert scene.beat(-1).member_epoch == -1
    assert [(kind, value and value.epoch) for kind, _, value in scene.records()[before:]] == [(22, None), (21, None), (19, None), (17, 3)]
    assert scene.describe().group_state == "Empty"


def test_group_without_members_is_deleted_with_its_records(scene: Scene) -> None:
    scene.beat()
    scene.beat(-1)
    assert scene.world.cluster.groups.delete("g") is ErrorCode.NONE
    assert [(kind, value) for kind, _, value in scene.records()[-3:]] == [(20, None), (17, None), (23, None)]
    assert scene.describe().error_code == ErrorCode.GROUP_ID_NOT_FOUND


@pytest.mark.parametrize("how", ["feature", "setting"])
def test_disabled_protocol_is_an_unsupported_version(how: str) -> None:
    scene = Scene({"group.coordinator.rebalance.protocols": "classic,consumer"} if how == "setting" else {})
    if how == "feature":
        scene.world.cluster.update_features({STREAMS_VERSION: FeatureUpdate(0, 2)}, validate_only=False)
    assert scene.beat().error_code == ErrorCode.UNSUPPORTED_VERSION
    assert scene.describe().error_code == ErrorCode.UNSUPPORTED_VERSION


def test_heartbeat_requires_access_to_group_and_topics(guarded: Scene) -> None:
    guarded.deny(Operation.DESCRIBE, ResourceType.TOPIC, "c")
    assert guarded.beat(topology=WORD_COUNT).error_code == ErrorCode.TOPIC_AUTHORIZATION_FAILED
    assert guarded.beat().error_code == 0
    guarded.deny(Operation.READ, ResourceType.GROUP, "g")
    assert guarded.beat(2).error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_internal_topics_are_created_with_rights_of_client(guarded: Scene) -> None:
    guarded.allow(Operation.DESCRIBE, ResourceType.TOPIC, "c")
    guarded.deny(Operation.CREATE, ResourceType.TOPIC, "c")
    guarded.deny(Operation.CREATE, ResourceType.CLUSTER, "kafka-cluster")
    [status] = guarded.beat(topology=WORD_COUNT).status or []
    assert status.status_detail == "Internal topics are missing: r, c; Unauthorized to CREATE on topics c."
    assert "r" not in guarded.world.cluster.topics


def test_describe_hides_groups_and_topics_without_access(guarded: Scene) -> None:
    guarded.beat(topology=WORD_COUNT)
    guarded.deny(Operation.DESCRIBE, ResourceType.TOPIC, "r")
    described = guarded.describe()
    assert (described.error_code, described.topology, described.members) == (ErrorCode.TOPIC_AUTHORIZATION_FAILED, None, [])
    guarded.deny(Operation.DESCRIBE, ResourceType.GROUP, "g")
    assert guarded.describe().error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_error_of_topic_creation_is_shown_until_it_expires(scene: Scene) -> None:
    wrong = messages.TopicInfo(
        name="c", partitions=0, replication_factor=0, topic_configs=[messages.KeyValue(key="retention.ms", value="x")]
    )
    topology = messages.Topology(epoch=0, subtopologies=[part("0", "t", changelog="c")])
    topology.subtopologies[0].state_changelog_topics = [wrong]
    details = [(scene.beat(topology=topology).status or [])[0].status_detail, (scene.beat(2).status or [])[0].status_detail]
    assert details[0] == "Internal topics are missing: c"
    assert "Creation failed: c (Invalid value x for configuration retention.ms" in details[1]
    scene.world.advance(10_000)  # twice group.streams.heartbeat.interval.ms
    assert (scene.beat(2).status or [])[0].status_detail == details[0]


def test_restored_group_continues_its_reconciliation(scene: Scene) -> None:
    scene.beat()
    scene.beat(member_id="n", process_id="q")
    assert [each.partitions for each in scene.beat(2).active_tasks or []] == [[0]]
    state = write_cluster(scene.world.cluster)
    scene.world.restore(state)
    scene.client = scene.world.client()
    assert write_cluster(scene.world.cluster)["groups"] == state["groups"]
    owned = [messages.TaskIds(subtopology_id="0", partitions=[0])]
    assert scene.beat(2, active_tasks=owned, standby_tasks=[], warmup_tasks=[]).member_epoch == 3
    assert [each.partitions for each in scene.beat(3, member_id="n").active_tasks or []] == [[1]]
    assert scene.describe().group_state == "Stable"


def test_restored_delay_ends_after_the_remaining_time() -> None:
    scene = Scene({"group.streams.initial.rebalance.delay.ms": "3000"})
    assert statuses(scene.beat()) == statuses(scene.beat(1)) == [ASSIGNMENT_DELAYED]
    scene.world.advance(2000)
    scene.world.restore(write_cluster(scene.world.cluster))
    scene.client = scene.world.client()
    assert scene.describe().group_state == "Assigning"
    scene.world.advance(1000)
    assert [each.partitions for each in scene.beat(1).active_tasks or []] == [[0, 1]]


def test_group_control_shows_partitions_of_active_tasks(scene: Scene) -> None:
    from odradek.broker.controls.group_descriptions import describe_group

    scene.beat(topology=WORD_COUNT)
    scene.beat(2)
    info = describe_group(scene.world.cluster.groups.get("g"), scene.world.cluster)  # type: ignore[arg-type]
    [member] = info.members
    assert (info.type, info.state, info.protocol, info.epoch) == ("streams", "Stable", "sticky", 3)
    assert (member.topics, member.assignment) == (["r", "t"], {"r": [0, 1], "t": [0, 1]})
