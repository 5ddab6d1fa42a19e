"""Partitions and records of coordinators. Sessions and waiting requests of groups whose coordinator fails or moves."""

from __future__ import annotations

import pytest

from odradek.broker.cluster.silence import Silence
from odradek.broker.groups.classic.group import ClassicGroup
from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest
from odradek.protocol.messages.heartbeat import HEARTBEAT, HeartbeatRequest
from odradek.protocol.messages.join_group import JOIN_GROUP
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest
from odradek.protocol.stored.coordinator_records import CoordinatorRecord
from tests.broker.handlers.group_scene import ELSEWHERE, HERE, Scene, join_request
from tests.broker.harness import World


def test_coordinator_moves_to_a_node_started_later() -> None:
    world = World()
    world.cluster.nodes.stop(2)
    world.cluster.topics.ensure_internal("__consumer_offsets")
    world.cluster.nodes.start(2)
    world.cluster.nodes.stop(1)
    assert world.cluster.coordinator_log.coordinator("g") == 2


def test_coordinator_is_the_leader_of_the_partition() -> None:
    cluster = World(nodes=2).cluster
    assert cluster.coordinator_log.coordinator("g") == -1, "there is no internal topic yet"
    cluster.topics.ensure_internal("__consumer_offsets")
    assert cluster.coordinator_log.coordinator("g") in (1, 2)


def test_append_without_leader_writes_nothing() -> None:
    world = World(nodes=1)
    cluster = world.cluster
    cluster.topics.ensure_internal("__consumer_offsets")
    partition = cluster.coordinator_log.partition("g", "__consumer_offsets")
    assert partition is not None
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1
    cluster.nodes.stop(1)
    cluster.coordinator_log.append("g", "__consumer_offsets", [CoordinatorRecord(b"k", b"v")])
    assert partition.log.end_offset == 1


@pytest.mark.parametrize("pause_ms", [8_999, 9_000])
def test_coordinator_that_failed_leaves_members_a_new_session(pause_ms: int) -> None:
    """The session of the member is shorter than that of the node, and begins again when there is a coordinator again."""
    scene = Scene()
    scene.stable(session_timeout_ms=6_000)
    nodes = scene.world.cluster.nodes
    nodes.silence(HERE, Silence.PAUSED)
    scene.world.advance(pause_ms)
    assert (scene.world.cluster.coordinator_log.coordinator(scene.group) == ELSEWHERE) is (pause_ms == 9_000)
    nodes.start(HERE)
    scene.world.end_turn()
    group = scene.world.cluster.groups.get(scene.group)
    assert isinstance(group, ClassicGroup)
    scene.world.advance(5_999)
    assert len(group.members) == 1
    scene.world.advance(1)
    assert (len(group.members), scene.world.cluster.coordinator_moves.failed) == (0, set())


def test_group_without_coordinator_keeps_its_members() -> None:
    scene = Scene()
    scene.stable()
    for node in (HERE, ELSEWHERE):
        scene.world.cluster.nodes.stop(node)
    scene.world.advance(1_000_000)
    group = scene.world.cluster.groups.get(scene.group)
    assert isinstance(group, ClassicGroup)
    assert len(group.members) == 1
    scene.world.cluster.nodes.start(ELSEWHERE)
    scene.world.end_turn()
    scene.world.advance(9_999)
    assert len(group.members) == 1
    scene.world.advance(1)
    assert len(group.members) == 0


def test_coordinator_moved_refuses_waiting_members() -> None:
    """The member that waits for the other one to join again finds the new coordinator, and joins there."""
    scene = Scene()
    scene.stable()
    second = scene.world.client(HERE)
    second.send(JOIN_GROUP, 3, join_request(scene.group))
    assert second.receive() is None
    partition = scene.world.cluster.coordinator_log.partition(scene.group, "__consumer_offsets")
    assert partition is not None
    scene.world.cluster.replica_control.move_leader(partition, ELSEWHERE)
    scene.world.advance(0)
    assert second.receive().error_code == ErrorCode.NOT_COORDINATOR
    request = HeartbeatRequest(group_id=scene.group, generation_id=1, member_id="m")
    assert scene.client.call(HEARTBEAT, 3, request).error_code == ErrorCode.NOT_COORDINATOR


def test_coordinator_moved_refuses_waiting_sync() -> None:
    scene = Scene()
    first, second = scene.client, scene.world.client(HERE)
    for client in (first, second):
        client.send(JOIN_GROUP, 3, join_request(scene.group))
    scene.world.advance(3_000)
    follower, joined = next((each, answer) for each in (first, second) if not (answer := each.receive()).members)
    follower.send(SYNC_GROUP, 3, SyncGroupRequest(group_id=scene.group, generation_id=1, member_id=joined.member_id, assignments=[]))
    assert follower.receive() is None
    partition = scene.world.cluster.coordinator_log.partition(scene.group, "__consumer_offsets")
    assert partition is not None
    scene.world.cluster.replica_control.move_leader(partition, ELSEWHERE)
    scene.world.advance(0)
    assert follower.receive().error_code == ErrorCode.NOT_COORDINATOR


def test_consumer_group_keeps_members_of_a_failed_coordinator() -> None:
    scene = Scene()
    scene.world.cluster.topics.create("t", 1)
    heartbeat = ConsumerGroupHeartbeatRequest(
        group_id=scene.group, member_id="m", member_epoch=0, rebalance_timeout_ms=1000, subscribed_topic_names=["t"], topic_partitions=[]
    )
    assert scene.client.call(CONSUMER_GROUP_HEARTBEAT, 1, heartbeat).error_code == 0
    scene.world.advance(40_000)
    scene.world.cluster.nodes.silence(HERE, Silence.PAUSED)
    scene.world.advance(9_000)
    group = scene.world.cluster.groups.get(scene.group)
    assert isinstance(group, ConsumerGroup)
    scene.world.advance(44_999)
    assert len(group.members) == 1
    scene.world.advance(1)
    assert len(group.members) == 0


def test_deleted_offsets_topic_is_forgotten() -> None:
    scene = Scene()
    cluster = scene.world.cluster
    cluster.nodes.silence(HERE, Silence.PAUSED)
    assert cluster.coordinator_moves.failed
    cluster.delete_topic(cluster.topics["__consumer_offsets"])
    assert cluster.coordinator_moves.failed == set()
