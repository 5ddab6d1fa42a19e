"""ElectLeaders: the answers of Apache Kafka 4.3.1."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest, TopicPartitions
from tests.broker.harness import World, produce


@pytest.fixture
def world() -> World:
    world = World()
    world.cluster.topics.create("t", assignments=[[1, 2], [1, 2]])
    return world


def elect(world: World, kind: int, *wanted: tuple[str, int], node: int = 1) -> dict[tuple[str, int], int]:
    topics = [TopicPartitions(topic=name, partitions=[index]) for name, index in wanted] or None
    response = world.client(node).call(ELECT_LEADERS, 2, ElectLeadersRequest(election_type=kind, topic_partitions=topics))
    assert response.error_code == (ErrorCode.INVALID_REQUEST if kind > 1 else 0)
    return {
        (topic.topic, result.partition_id): result.error_code
        for topic in response.replica_election_results
        for result in topic.partition_result
    }


def test_elect_preferred_returns_leadership(world: World) -> None:
    assert elect(world, 0, ("t", 0), ("t", 7), ("nope", 0)) == {
        ("t", 0): ErrorCode.ELECTION_NOT_NEEDED,
        ("t", 7): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ("nope", 0): ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
    world.cluster.nodes.stop(1)
    assert elect(world, 0, ("t", 0), node=2) == {("t", 0): ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE}
    world.cluster.nodes.start(1)
    assert elect(world, 0) == {("t", 0): 0, ("t", 1): 0}
    assert elect(world, 0) == {}
    assert [partition.leader for partition in world.cluster.topics["t"].partitions] == [1, 1]


def test_elect_unknown_type_is_refused(world: World) -> None:
    assert elect(world, 5, ("t", 0)) == {("t", 0): ErrorCode.INVALID_REQUEST}
    assert elect(world, 5) == {}


def leave_lagging_replica(world: World) -> None:
    """Stops both nodes and starts only node 2, whose replica lacks record b."""
    produce(world, "t", b"a")
    world.cluster.nodes.stop(2)
    produce(world, "t", b"b")
    world.cluster.nodes.stop(1)
    world.cluster.nodes.start(2)


def test_elect_unclean_truncates_to_the_new_leader(world: World) -> None:
    partition = world.cluster.topics["t"].partitions[0]
    assert elect(world, 1, ("t", 0)) == {("t", 0): ErrorCode.ELECTION_NOT_NEEDED}
    leave_lagging_replica(world)
    assert (partition.leader, partition.log.end_offset) == (-1, 2)
    assert elect(world, 1, ("t", 0), node=2) == {("t", 0): 0}
    assert (partition.leader, partition.isr, partition.log.end_offset) == (2, [2], 1)
    world.cluster.nodes.start(1)
    assert (partition.leader, partition.isr, partition.lagging) == (2, [1, 2] if partition.isr[0] == 1 else [2, 1], {})
    assert produce(world, "t", b"c") == 1


def test_elect_unclean_without_running_replica_is_refused() -> None:
    world = World(nodes=3)
    world.cluster.topics.create("t", assignments=[[1, 2]])
    world.cluster.nodes.stop(1)
    world.cluster.nodes.stop(2)
    assert elect(world, 1, ("t", 0), node=3) == {("t", 0): ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE}


def test_unclean_election_enabled_elects_lagging_replica() -> None:
    world = World(settings={"unclean.leader.election.enable": "true"})
    world.cluster.topics.create("t", assignments=[[1, 2]])
    partition = world.cluster.topics["t"].partitions[0]
    leave_lagging_replica(world)
    assert (partition.leader, partition.log.end_offset) == (2, 1)
