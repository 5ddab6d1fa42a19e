"""Markers of transactions in partitions that have no leader, a new leader, or no longer exist."""

from __future__ import annotations

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest, TopicPartitions
from tests.broker.harness import World
from tests.broker.transactions.producer import Producer, half_ended_producer
from tests.broker.transactions.reading import read_committed


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def test_marker_of_partition_without_leader_is_written_later() -> None:
    producer = half_ended_producer()
    world = producer.world
    assert producer.write(b"y", version=11) == ErrorCode.NOT_ENOUGH_REPLICAS
    assert read_committed(world, "t", 0) == ([b"x"], 2)
    world.cluster.nodes.start(2)
    assert read_committed(world, "t", 1) == ([b"x"], 2)
    assert producer.write(b"y") == 0


def test_marker_is_written_by_unclean_leader() -> None:
    """The new leader lacks the record of the transaction, which ends nevertheless."""
    world = World(nodes=3)
    world.cluster.topics.create("t", assignments=[[1, 2]])
    world.cluster.nodes.stop(2)
    producer = Producer(world)
    assert producer.write(b"x") == 0
    world.cluster.nodes.stop(1)
    world.cluster.nodes.start(2)
    assert producer.end(commit=True).error_code == 0
    assert producer.init(5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    request = ElectLeadersRequest(election_type=1, topic_partitions=[TopicPartitions(topic="t", partitions=[0])], timeout_ms=1)
    world.client(3).call(ELECT_LEADERS, 2, request)
    assert producer.init(5).error_code == 0
    assert read_committed(world, "t", 0) == ([], 1)


def test_marker_of_deleted_topic_is_not_needed(world: World) -> None:
    world.cluster.topics.create("u", assignments=[[2]])
    producer = Producer(world)
    assert producer.add(3, {"u": [0]}) == [0]
    world.cluster.nodes.stop(2)
    assert producer.end(commit=True).error_code == 0
    assert producer.init(5).error_code == ErrorCode.CONCURRENT_TRANSACTIONS
    world.cluster.delete_topic(world.cluster.topics["u"])
    assert producer.init(5).error_code == 0
