from __future__ import annotations

from typing import Any

import pytest

from odradek.protocol.errors import ErrorCode
from odradek.protocol.messages.describe_cluster import DESCRIBE_CLUSTER, DescribeClusterRequest
from odradek.protocol.messages.metadata import METADATA, MetadataRequest, MetadataRequestTopic
from odradek.protocol.schema import ZERO_UUID
from tests.broker.handlers.topic_pages import pages
from tests.broker.harness import World

VERSIONS = range(METADATA.versions.first, METADATA.versions.last + 1)


@pytest.fixture
def world() -> World:
    return World().with_topic("t", 2)


def named(*names: str) -> list[MetadataRequestTopic]:
    return [MetadataRequestTopic(name=name, topic_id=ZERO_UUID) for name in names]


def ask(world: World, version: int = 13, topics: list[MetadataRequestTopic] | None = None, **options: Any) -> Any:
    return world.client().call(METADATA, version, MetadataRequest(topics=topics, **options))


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_describes_brokers_and_topics(world: World, version: int) -> None:
    response = ask(world, version, named("t"))
    assert [(broker.node_id, broker.host, broker.port) for broker in response.brokers] == [(1, "127.0.0.1", 9092), (2, "127.0.0.1", 9093)]
    (topic,) = response.topics
    assert (topic.error_code, topic.name, topic.is_internal) == (0, "t", False)
    assert sorted(partition.leader_id for partition in topic.partitions) == [1, 2]
    assert all(sorted(partition.replica_nodes) == sorted(partition.isr_nodes) == [1, 2] for partition in topic.partitions)
    if version >= 1:
        assert response.controller_id == 1
    if version >= 2:
        assert response.cluster_id == world.cluster.cluster_id
        assert len(response.cluster_id) == 22
    if version >= 10:
        assert topic.topic_id == world.cluster.topics["t"].id


def test_metadata_of_all_topics_and_of_none(world: World) -> None:
    assert [topic.name for topic in ask(world, 0, []).topics] == ["t"]
    assert [topic.name for topic in ask(world, 1, None).topics] == ["t"]
    assert ask(world, 1, []).topics == []


def test_metadata_by_topic_id(world: World) -> None:
    topic = world.cluster.topics["t"]
    wanted = [MetadataRequestTopic(name=None, topic_id=topic.id), MetadataRequestTopic(name=None, topic_id=b"?" * 16), *named("ignored")]
    unknown, found = ask(world, 12, wanted).topics
    assert (found.error_code, found.name) == (0, "t")
    assert (unknown.error_code, unknown.name, unknown.topic_id) == (ErrorCode.UNKNOWN_TOPIC_ID, None, b"?" * 16)


@pytest.mark.parametrize(
    "wanted", [MetadataRequestTopic(name=None, topic_id=ZERO_UUID), MetadataRequestTopic(name="t", topic_id=b"x" * 16)]
)
def test_metadata_by_topic_id_before_v12_is_refused(world: World, wanted: MetadataRequestTopic) -> None:
    assert [topic.error_code for topic in ask(world, 11, [wanted]).topics] == [ErrorCode.INVALID_REQUEST]


@pytest.mark.parametrize("version", VERSIONS)
def test_metadata_of_an_unknown_topic_creates_and_describes_it(world: World, version: int) -> None:
    """Apache Kafka describes the topic only tens of milliseconds later: see known_differences.txt."""
    (topic,) = ask(world, version, named("new")).topics
    assert (topic.error_code, topic.name) == (0, "new")
    (partition,) = topic.partitions
    assert (partition.error_code, partition.leader_id, sorted(partition.replica_nodes)) == (
        0,
        world.cluster.topics["new"].partitions[0].leader,
        [1, 2],
    )
    assert [topic.error_code for topic in ask(world, version, named("new")).topics] == [0]


def test_metadata_of_an_internal_topic_creates_it_as_configured(world: World) -> None:
    for name in ("__consumer_offsets", "__transaction_state"):
        (topic,) = ask(world, 13, named(name)).topics
        assert (topic.error_code, len(topic.partitions), topic.is_internal) == (0, 50, True)


def test_metadata_creates_topics_in_different_racks() -> None:
    world = World(nodes=4, settings={"default.replication.factor": "2", "num.partitions": "8"})
    racks = {1: "a", 2: "a", 3: "b", 4: "b"}
    for node, rack in racks.items():
        world.cluster.brokers[node].rack = rack
    (topic,) = ask(world, 13, named("new")).topics
    assert all({racks[node] for node in partition.replica_nodes} == {"a", "b"} for partition in topic.partitions)
    assert {partition.leader_id for partition in topic.partitions} == {1, 2, 3, 4}


def test_metadata_without_auto_creation_creates_nothing(world: World) -> None:
    for _ in range(2):
        (topic,) = ask(world, 13, named("new"), allow_auto_topic_creation=False).topics
        assert topic.error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    forbidden = World(settings={"auto.create.topics.enable": "false"})
    for _ in range(2):
        assert ask(forbidden, 13, named("new")).topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "ä", "x" * 250])
def test_metadata_of_invalid_topic_names_gets_errors(world: World, name: str) -> None:
    for automatic in (True, False):
        (topic,) = ask(world, 13, named(name), allow_auto_topic_creation=automatic).topics
        assert topic.error_code == ErrorCode.INVALID_TOPIC_EXCEPTION


def test_metadata_of_a_partition_without_a_leader() -> None:
    world = World(settings={"default.replication.factor": "1"})
    world.cluster.topics.create("t", 2)
    world.cluster.nodes.stop(2)
    partitions = {partition.replica_nodes[0]: partition for partition in ask(world, 13, named("t")).topics[0].partitions}
    assert (partitions[1].error_code, partitions[1].leader_id) == (0, 1)
    assert (partitions[2].error_code, partitions[2].leader_id) == (ErrorCode.LEADER_NOT_AVAILABLE, -1)
    assert (partitions[2].isr_nodes, partitions[2].offline_replicas) == ([], [2])
    described = {partition.replica_nodes[0]: partition for partition in pages(world, "t").topics[0].partitions}
    assert (described[2].error_code, described[2].leader_id) == (0, -1)
    assert (described[2].isr_nodes, described[2].eligible_leader_replicas, described[2].last_known_elr) == ([], [2], [2])


TWO_LISTENERS = {
    "listeners": "INTERNAL://127.0.0.1:29092,EXTERNAL://127.0.0.1:9092",
    "advertised.listeners": "INTERNAL://odradek:29092,EXTERNAL://localhost:9092",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


@pytest.mark.parametrize(("listener", "first"), [("INTERNAL", ("odradek", 29092)), ("EXTERNAL", ("localhost", 9092))])
def test_metadata_has_the_addresses_of_the_clients_listener(listener: str, first: tuple[str, int]) -> None:
    world = World(settings=TWO_LISTENERS)
    host, port = first
    client = world.client(listener=listener)
    response = client.call(METADATA, 9, MetadataRequest(topics=[]))
    assert [(broker.host, broker.port) for broker in response.brokers] == [(host, port), (host, port + 1)]
    described = client.call(DESCRIBE_CLUSTER, 1, DescribeClusterRequest(include_cluster_authorized_operations=False))
    assert [(broker.host, broker.port) for broker in described.brokers] == [(host, port), (host, port + 1)]


def test_metadata_lists_operations_on_request(world: World) -> None:
    response = ask(world, 8, named("t"), include_topic_authorized_operations=True, include_cluster_authorized_operations=True)
    assert response.cluster_authorized_operations > 0
    assert response.topics[0].topic_authorized_operations > 0
    response = ask(world, 8, named("t"))
    assert response.cluster_authorized_operations == response.topics[0].topic_authorized_operations == -(1 << 31)


def describe_cluster(world: World, version: int, **options: Any) -> Any:
    return world.client().call(DESCRIBE_CLUSTER, version, DescribeClusterRequest(include_cluster_authorized_operations=True, **options))


def test_describe_cluster_lists_brokers(world: World) -> None:
    world.cluster.nodes.stop(2)
    response = describe_cluster(world, 2)
    assert [broker.broker_id for broker in response.brokers] == [1]
    assert (response.cluster_id, response.controller_id) == (world.cluster.cluster_id, 1)
    assert response.cluster_authorized_operations > 0
    fenced = describe_cluster(world, 2, include_fenced_brokers=True).brokers
    assert [(broker.broker_id, broker.is_fenced, broker.host, broker.port) for broker in fenced] == [
        (1, False, "127.0.0.1", 9092),
        (2, True, "127.0.0.1", 9093),
    ]


def test_describe_cluster_of_controllers_is_refused(world: World) -> None:
    assert describe_cluster(world, 1, endpoint_type=2).error_code == ErrorCode.MISMATCHED_ENDPOINT_TYPE


def test_metadata_internal_topic_no_brokers_unknown() -> None:
    world = World(nodes=1)
    client = world.client()
    world.cluster.nodes.unregister(1)
    response = client.call(METADATA, 9, MetadataRequest(topics=named("__transaction_state")))
    assert response.topics[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
