"""The controller of a cluster with ZooKeeper, and the offsets in it."""

from __future__ import annotations

import pytest

from odradek.broker.releases.zookeeper import ZooKeeper
from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.create_partitions import CREATE_PARTITIONS, CreatePartitionsRequest, CreatePartitionsTopic
from odradek.protocol.messages.create_topics import CREATE_TOPICS, CreatableTopic, CreateTopicsRequest
from odradek.protocol.messages.delete_topics import DELETE_TOPICS, DeleteTopicsRequest
from odradek.protocol.messages.elect_leaders import ELECT_LEADERS, ElectLeadersRequest
from odradek.protocol.messages.list_partition_reassignments import LIST_PARTITION_REASSIGNMENTS, ListPartitionReassignmentsRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest
from tests.broker.harness import Client, World


def test_elect_controller_stays_while_it_is_alive() -> None:
    zookeeper = ZooKeeper()
    assert [zookeeper.elect(alive) for alive in ([1, 2, 3], [2, 3], [1, 2, 3], [], [3])] == [1, 2, 2, -1, 3]


def test_committed_offset_is_that_of_the_partition() -> None:
    zookeeper = ZooKeeper()
    zookeeper.commit("g", "t", 0, 7)
    assert [zookeeper.committed_offset("g", "t", 0), zookeeper.committed_offset("g", "t", 1), zookeeper.committed_offset("h", "t", 0)] == [
        7,
        None,
        None,
    ]


def controller(client: Client) -> int:
    found: int = client.call(METADATA, 5, MetadataRequest(topics=[])).controller_id
    return found


def test_metadata_names_the_same_controller_after_it_returns() -> None:
    world = World(nodes=3, as_version="2.8")
    assert [controller(world.client(node)) for node in (1, 2, 3)] == [1, 1, 1]
    world.cluster.nodes.stop(1)
    assert controller(world.client(3)) == 2
    world.cluster.nodes.start(1)
    assert controller(world.client(1)) == 2


def new_topic() -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[CreatableTopic(name="t", num_partitions=1, replication_factor=1, assignments=[], configs=[])])


def test_create_topics_is_refused_by_other_brokers() -> None:
    world = World(as_version="2.8")
    refused = world.client(2).call(CREATE_TOPICS, 4, new_topic()).topics[0]
    assert (refused.name, refused.error_code) == ("t", ErrorCode.NOT_CONTROLLER)
    assert "t" not in world.cluster.topics
    assert not world.client(1).call(CREATE_TOPICS, 4, new_topic()).topics[0].error_code


def test_create_topics_is_forwarded_with_kraft() -> None:
    assert not World(as_version="3.3").client(2).call(CREATE_TOPICS, 4, new_topic()).topics[0].error_code


@pytest.mark.parametrize("kind", ["delete", "partitions", "elect", "reassignments"])
def test_request_for_the_controller_is_refused_by_others(kind: str) -> None:
    world = World(as_version="2.8")
    world.cluster.topics.create("t", 1, 1)
    client = world.client(2)
    if kind == "delete":
        code = client.call(DELETE_TOPICS, 3, DeleteTopicsRequest(topic_names=["t"], timeout_ms=0)).responses[0].error_code
    elif kind == "partitions":
        topic = CreatePartitionsTopic(name="t", count=2, assignments=None)
        request = CreatePartitionsRequest(topics=[topic], timeout_ms=0, validate_only=False)
        code = client.call(CREATE_PARTITIONS, 1, request).results[0].error_code
    elif kind == "elect":
        code = client.call(ELECT_LEADERS, 2, ElectLeadersRequest(topic_partitions=None)).error_code
    else:
        code = client.call(LIST_PARTITION_REASSIGNMENTS, 0, ListPartitionReassignmentsRequest(topics=None)).error_code
    assert code == ErrorCode.NOT_CONTROLLER
    assert len(world.cluster.topics["t"].partitions) == 1


def test_snapshot_keeps_controller_and_offsets() -> None:
    world = World(as_version="2.8")
    world.cluster.nodes.stop(1)
    assert world.cluster.brokers.controller_id == 2
    world.cluster.nodes.start(1)
    assert world.cluster.zookeeper is not None
    world.cluster.zookeeper.commit("g", "t", 3, 9)
    state = write_cluster(world.cluster)
    world.restore(state)
    assert world.cluster.zookeeper is not None
    assert (world.cluster.brokers.controller_id, world.cluster.zookeeper.committed_offset("g", "t", 3)) == (2, 9)
