"""Many groups and large groups: limits, errors, and removal without remains."""

from __future__ import annotations

from collections.abc import Iterator

from odradek.broker.groups.consumer.group import ConsumerGroup
from odradek.broker.groups.consumer.member import ConsumerMember
from odradek.broker.scheduling.revertible import RevertibleDict
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.consumer_group_heartbeat import CONSUMER_GROUP_HEARTBEAT, ConsumerGroupHeartbeatRequest, TopicPartitions
from odradek.protocol.messages.join_group import JOIN_GROUP, JoinGroupRequest, JoinGroupRequestProtocol
from odradek.protocol.messages.list_groups import LIST_GROUPS, ListGroupsRequest
from odradek.protocol.messages.sync_group import SYNC_GROUP, SyncGroupRequest, SyncGroupRequestAssignment
from tests.broker.harness import Client, World

GROUPS, MEMBERS = 10_000, 1_000
SESSION_TIMEOUT_MS, RETENTION_CHECK_MS = 6_000, 600_000


def join(client: Client, group: str, member_id: str = "", version: int = 3) -> None:
    client.send(
        JOIN_GROUP,
        version,
        JoinGroupRequest(
            group_id=group,
            member_id=member_id,
            session_timeout_ms=SESSION_TIMEOUT_MS,
            rebalance_timeout_ms=60_000,
            protocol_type="consumer",
            protocols=[JoinGroupRequestProtocol(name="range", metadata=b"")],
        ),
    )


def world_with_settings(**settings: str) -> World:
    world = World(nodes=1, settings={name.replace("_", "."): value for name, value in settings.items()})
    world.cluster.topics.ensure_internal("__consumer_offsets")
    return world


def test_ten_thousand_groups_expire_without_trace() -> None:
    """Half of the groups have a member, the others have only returned a member id."""
    world = world_with_settings()
    client = world.client()
    for number in range(GROUPS):
        join(client, f"g{number}", version=3 if number % 2 else 4)
        world.advance(0)
        assert client.receive().error_code == (0 if number % 2 else ErrorCode.MEMBER_ID_REQUIRED)
    assert len(client.call(LIST_GROUPS, 5, ListGroupsRequest()).groups) == GROUPS
    world.advance(SESSION_TIMEOUT_MS)
    assert len(client.call(LIST_GROUPS, 5, ListGroupsRequest(states_filter=["Empty"])).groups) == GROUPS
    world.advance(RETENTION_CHECK_MS)
    assert world.client().call(LIST_GROUPS, 5, ListGroupsRequest()).groups == []
    assert not list(world.cluster.groups)


def test_classic_member_above_group_max_size_is_refused() -> None:
    world = world_with_settings(group_max_size=str(MEMBERS))
    clients = [world.client() for _ in range(MEMBERS)]
    for client in clients:
        join(client, "g")
    late = world.client()
    join(late, "g")
    assert late.receive().error_code == ErrorCode.GROUP_MAX_SIZE_REACHED
    world.advance(0)
    joined = [client.receive() for client in clients]
    (leader,) = [answer for answer in joined if answer.members]
    assert {answer.generation_id for answer in joined} == {1} and len(leader.members) == MEMBERS
    assignment = [SyncGroupRequestAssignment(member_id=each.member_id, assignment=each.member_id.encode()) for each in leader.members]
    for client, answer in zip(clients, joined, strict=True):
        assignments = assignment if answer is leader else []
        request = SyncGroupRequest(group_id="g", generation_id=1, member_id=answer.member_id, assignments=assignments)
        client.send(SYNC_GROUP, 3, request)
    assert [client.receive().assignment.decode() for client in clients] == [answer.member_id for answer in joined]


class Unread(RevertibleDict[str, ConsumerMember]):
    """Members that may only be found by their ids."""

    def __iter__(self) -> Iterator[str]:
        raise AssertionError("all members are visited")

    keys = values = items = __iter__  # type: ignore[assignment]


def test_consumer_member_that_joins_visits_no_other() -> None:
    world = world_with_settings()
    world.cluster.topics.create("t", 5)
    client = world.client()
    client.call(CONSUMER_GROUP_HEARTBEAT, 1, consumer_join("m0"))
    client.call(CONSUMER_GROUP_HEARTBEAT, 1, consumer_join("m1"))
    group = world.cluster.groups.get("g")
    assert isinstance(group, ConsumerGroup)
    group.members = Unread(group.members)
    assert client.call(CONSUMER_GROUP_HEARTBEAT, 1, consumer_join("m2")).error_code == 0


def consumer_join(member_id: str) -> ConsumerGroupHeartbeatRequest:
    return ConsumerGroupHeartbeatRequest(
        group_id="g",
        member_id=member_id,
        member_epoch=0,
        rebalance_timeout_ms=60_000,
        subscribed_topic_names=["t"],
        topic_partitions=[],
    )


def test_consumer_member_above_group_max_size_is_refused() -> None:
    """Every partition is assigned to exactly one member."""
    world = world_with_settings(group_consumer_max_size=str(MEMBERS))
    topic = world.cluster.topics.create("t", 2 * MEMBERS)
    client = world.client()
    for number in range(MEMBERS + 1):
        error = client.call(CONSUMER_GROUP_HEARTBEAT, 1, consumer_join(f"m{number}")).error_code
        assert error == (ErrorCode.GROUP_MAX_SIZE_REACHED if number == MEMBERS else 0)
    group = world.cluster.groups.get("g")
    assert isinstance(group, ConsumerGroup)
    world.advance(1_000)
    for _ in range(3):
        for member in list(group.members.values()):
            owned = [TopicPartitions(topic_id=topic.id, partitions=[index for _, index in member.assigned])]
            beat = ConsumerGroupHeartbeatRequest(
                group_id="g", member_id=member.member_id, member_epoch=member.epoch, topic_partitions=owned
            )
            assert client.call(CONSUMER_GROUP_HEARTBEAT, 1, beat).error_code == 0
    assert sorted(index for member in group.members.values() for _, index in member.assigned) == list(range(2 * MEMBERS))
    assert {len(member.assigned) for member in group.members.values()} == {2}
