"""ShareFetch and ShareAcknowledge: waiting, sessions, errors, leaders that move, and restarts."""

from __future__ import annotations

import pytest

from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.errors import ErrorCode
from tests.broker.harness import World, produce
from tests.broker.share_member import ACCEPT, REJECT, RELEASE, RENEW, ShareMember, partition_of, ranges, share_world

NO_LIMITS = {"max_records": 0, "max_bytes": 0, "max_wait_ms": 0, "min_bytes": 0, "is_renew_ack": True}


@pytest.fixture
def world() -> World:
    world = share_world()
    produce(world, "t", b"a", b"b", b"c")
    return world


def test_fetch_returns_records_and_their_lock_duration(world: World) -> None:
    response = ShareMember(world).fetch()
    assert (response.error_code, response.acquisition_lock_timeout_ms) == (0, 30_000)
    assert ranges(response) == [(0, 2, 1)]
    assert partition_of(response).records[23:27] == (2).to_bytes(4, "big")


def test_fetch_acknowledges_what_it_carries(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    response = member.fetch((0, 1, ACCEPT), (2, 2, RELEASE))
    assert ranges(response) == [(2, 2, 2)]
    assert partition_of(response).acknowledge_error_code == 0
    produce(world, "t", b"d")
    assert member.acquired((2, 2, RELEASE)) == [(3, 3, 1)], "records of others come before those that the request releases"
    assert member.acquired((3, 3, ACCEPT), max_wait_ms=0) == [(2, 2, 3)]


def test_fetch_tells_a_failed_acknowledgement(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    failed = partition_of(member.fetch((0, 9, ACCEPT)))
    assert (failed.error_code, failed.acknowledge_error_code) == (0, ErrorCode.INVALID_REQUEST)
    assert "past the acquired records" in failed.acknowledge_error_message


def test_waiting_fetch_is_answered_by_a_produce(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    member.send()
    assert member.receive() is None
    produce(world, "t", b"d")
    assert ranges(member.receive()) == [(3, 3, 1)]


@pytest.mark.parametrize("way", ["release", "leave", "disconnect", "expire"])
def test_waiting_fetch_is_answered_by_a_release(world: World, way: str) -> None:
    holder, other = ShareMember(world, "holder"), ShareMember(world, "other")
    assert holder.acquired() == [(0, 2, 1)]
    other.send(max_wait_ms=60_000)
    assert other.receive() is None
    if way == "release":
        holder.acknowledge((0, 2, RELEASE))
    elif way == "leave":
        holder.acknowledge(epoch=-1)
    elif way == "disconnect":
        holder.disconnect()
    else:
        world.advance(30_000)
    assert ranges(other.receive()) == [(0, 2, 2)]


def test_waiting_fetch_of_a_full_window_waits_for_its_start() -> None:
    world = share_world(group_share_partition_max_record_locks="100")
    for _ in range(12):
        produce(world, "t", *[b"v"] * 10)
    member, other = ShareMember(world), ShareMember(world, "other")
    assert member.acquired() == [(0, 99, 1)]
    other.send(max_wait_ms=60_000)
    member.acknowledge((50, 99, ACCEPT))
    assert other.receive() is None
    member.acknowledge((0, 49, ACCEPT))
    assert ranges(other.receive()) == [(100, 119, 1)]


def test_waiting_fetch_returns_nothing_after_its_time(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    response = member.fetch()
    assert (response.error_code, response.responses) == (0, [])


def test_waiting_fetch_of_a_closed_connection_acquires_nothing(world: World) -> None:
    holder, gone, other = (ShareMember(world, name) for name in ("holder", "gone", "other"))
    holder.fetch()
    gone.send(max_wait_ms=60_000)
    gone.disconnect()
    holder.acknowledge((0, 2, RELEASE))
    assert other.acquired() == [(0, 2, 2)]


def test_renewal_fetches_nothing(world: World) -> None:
    member = ShareMember(world)
    member.fetch(max_records=1)
    produce(world, "t", b"later")
    world.advance(20_000)
    assert partition_of(member.fetch((0, 2, RENEW), **NO_LIMITS)).acknowledge_error_code == 0
    world.advance(20_000)
    assert member.acknowledge((0, 2, ACCEPT)).responses[0].partitions[0].error_code == 0
    assert member.fetch(**NO_LIMITS | {"max_records": 1}).error_code == ErrorCode.INVALID_REQUEST


def test_session_limit_refuses_after_the_waiting_time() -> None:
    world = share_world(group_share_max_share_sessions="1")
    assert ShareMember(world, "first").fetch(max_wait_ms=0).error_code == 0
    second = ShareMember(world, "second")
    second.send(max_wait_ms=700)
    world.advance(699)
    assert second.receive() is None
    world.advance(1)
    assert second.receive().error_code == ErrorCode.SHARE_SESSION_LIMIT_REACHED


def test_all_sessions_of_a_connection_end_with_it() -> None:
    world = share_world(group_share_max_share_sessions="10")
    produce(world, "t", b"a", b"b", b"c")
    members = [ShareMember(world, f"m{number}") for number in range(10)]
    for member in members:
        member.client = members[0].client
        assert member.fetch(max_wait_ms=0).error_code == 0
    assert ShareMember(world, "refused").fetch(max_wait_ms=0).error_code == ErrorCode.SHARE_SESSION_LIMIT_REACHED
    members[0].disconnect()
    assert len(world.cluster.brokers[1].share_partitions.sessions) == 0
    assert ShareMember(world, "next").acquired() == [(0, 2, 2)]


def test_session_that_was_overtaken_returns_nothing(world: World) -> None:
    member, twin = ShareMember(world), ShareMember(world)
    member.fetch()
    member.send(max_wait_ms=60_000)
    twin.epoch = 2
    twin.acknowledge((0, 2, RELEASE))
    overtaken = member.receive()
    assert (overtaken.error_code, overtaken.responses) == (ErrorCode.INVALID_SHARE_SESSION_EPOCH, [])


def test_unloaded_group_forgets_acquisitions(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    member.acknowledge((0, 0, ACCEPT))
    manager = world.cluster.brokers[1].share_partitions
    partition = world.cluster.topics["t"].partitions[0]
    assert manager.get("g", partition) is not None
    member.disconnect()
    assert manager.get("g", partition) is None
    assert ShareMember(world, "next").acquired() == [(1, 2, 2)]


def test_uninitialized_partition_fails_after_the_waiting_time(world: World) -> None:
    stranger = ShareMember(world, group="other")
    stranger.send()
    assert stranger.receive() is None
    world.advance(500)
    assert partition_of(stranger.receive()).error_code == ErrorCode.UNKNOWN_SERVER_ERROR
    refused = stranger.acknowledge((0, 0, ACCEPT)).responses[0].partitions[0]
    assert refused.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


def test_partition_of_another_leader_names_it() -> None:
    world = share_world(nodes=2)
    partition = world.cluster.topics["t"].partitions[0]
    response = ShareMember(world, node=3 - partition.leader).fetch()
    moved = partition_of(response)
    assert (moved.error_code, moved.current_leader.leader_id) == (ErrorCode.NOT_LEADER_OR_FOLLOWER, partition.leader)
    assert [endpoint.node_id for endpoint in response.node_endpoints] == [partition.leader]


def test_new_leader_continues_with_the_stored_state() -> None:
    world = share_world(nodes=2)
    produce(world, "t", b"a", b"b", b"c", b"d")
    partition = world.cluster.topics["t"].partitions[0]
    former, following = partition.leader, 3 - partition.leader
    member = ShareMember(world, node=former)
    member.fetch()
    member.acknowledge((0, 0, ACCEPT), (2, 2, REJECT))
    world.cluster.replica_control.move_leader(partition, following)
    assert member.acknowledge((1, 1, ACCEPT)).responses[0].partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert partition_of(member.fetch()).error_code == ErrorCode.NOT_LEADER_OR_FOLLOWER
    assert ShareMember(world, "next", node=following).acquired() == [(1, 1, 1), (3, 3, 1)]


def test_restart_and_restore_continue_with_the_stored_state(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    member.acknowledge((0, 0, ACCEPT), (2, 2, RELEASE))
    state = write_cluster(world.cluster)
    world.cluster.nodes.stop(1)
    world.cluster.nodes.start(1)
    expected = [(1, 1, 1), (2, 2, 2)]
    assert ShareMember(world).acquired() == expected
    world.restore(state)
    assert ShareMember(world).acquired() == expected


def test_deleted_topic_is_unknown(world: World) -> None:
    member = ShareMember(world)
    member.fetch()
    topic_id = member.topic_id
    world.cluster.delete_topic(world.cluster.topics["t"])
    world.cluster.topics.create("t", 1, 1)
    response = member.fetch(topics=[])
    assert (response.responses[0].topic_id, partition_of(response).error_code) == (topic_id, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)


def test_settings_of_the_group_apply_at_once(world: World) -> None:
    world.cluster.alter_group("g", {"share.record.lock.duration.ms": "15000"})
    member = ShareMember(world)
    assert member.fetch().acquisition_lock_timeout_ms == 15_000
    world.advance(15_000)
    assert member.acquired() == [(0, 2, 2)]
    world.cluster.alter_group("g", {})
    assert member.acknowledge((0, 0, ACCEPT)).acquisition_lock_timeout_ms == 30_000


def test_partitions_share_the_bytes_of_a_request() -> None:
    world = share_world(partitions=3)
    for index in range(3):
        produce(world, "t", b"v" * 100, partition=index)
        produce(world, "t", b"v" * 100, partition=index)
    member = ShareMember(world)
    response = member.fetch(partitions=range(3), max_bytes=600)
    assert ranges(response) == [(0, 0, 1)] * 3
    assert len(member.acquired(partitions=())) == 3
    assert member.fetch(partitions=(), forget=(0, 1)).responses == []


def test_group_without_permission_is_refused() -> None:
    world = share_world(authorizer_class_name="org.apache.kafka.metadata.authorizer.StandardAuthorizer")
    member = ShareMember(world)
    assert member.fetch().error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED
    assert member.acknowledge().error_code == ErrorCode.GROUP_AUTHORIZATION_FAILED


def test_session_without_partitions_is_empty(world: World) -> None:
    member = ShareMember(world)
    assert member.fetch(partitions=()).responses == []
    assert member.acquired() == [(0, 2, 1)]
