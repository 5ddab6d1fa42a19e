"""Listeners, nodes and first topics, from the settings that describe them."""

from __future__ import annotations

import pytest

from odradek.broker.settings.listeners import ClusterConfig, Listener, TopicSpec, cluster_of
from odradek.broker.settings.values import InvalidConfig

ZOOKEEPER_ERA = {
    "broker.id": "1",
    "zookeeper.connect": "zookeeper:2181",
    "listeners": "INTERNAL://0.0.0.0:29092,EXTERNAL://0.0.0.0:9092",
    "advertised.listeners": "INTERNAL://kafka1:29092,EXTERNAL://localhost:9092",
    "listener.security.protocol.map": "INTERNAL:PLAINTEXT,EXTERNAL:PLAINTEXT",
    "inter.broker.listener.name": "INTERNAL",
}


def shown(cluster: ClusterConfig) -> list[tuple[int, str, str, int, str]]:
    return [(each.node_id, each.name, each.host, each.port, each.advertised) for node in cluster.nodes for each in node.listeners]


def test_a_zookeeper_era_broker() -> None:
    cluster = cluster_of([ZOOKEEPER_ERA])
    assert shown(cluster) == [
        (1, "INTERNAL", "0.0.0.0", 29092, "kafka1:29092"),
        (1, "EXTERNAL", "0.0.0.0", 9092, "localhost:9092"),
    ]
    assert cluster.ignored == ("zookeeper.connect",)
    assert cluster.nodes[0].properties["node.id"] == "1"


def test_one_description_of_several_nodes_counts_ids_and_ports_up() -> None:
    cluster = cluster_of([ZOOKEEPER_ERA | {"broker.id": "5"}], nodes=2)
    assert shown(cluster)[2:] == [
        (6, "INTERNAL", "0.0.0.0", 29093, "kafka1:29093"),
        (6, "EXTERNAL", "0.0.0.0", 9093, "localhost:9093"),
    ]
    assert cluster.nodes[1].properties["advertised.listeners"] == "INTERNAL://kafka1:29093,EXTERNAL://localhost:9093"
    assert [node.properties["broker.id"] for node in cluster.nodes] == ["5", "6"]


def test_several_descriptions_are_a_node_each() -> None:
    other = ZOOKEEPER_ERA | {"broker.id": "2", "listeners": "INTERNAL://0.0.0.0:39092,EXTERNAL://0.0.0.0:9093", "broker.rack": "b"}
    other["advertised.listeners"] = "INTERNAL://kafka2:39092,EXTERNAL://localhost:9093"
    cluster = cluster_of([ZOOKEEPER_ERA, other])
    assert [node.node_id for node in cluster.nodes] == [1, 2]
    assert [node.rack for node in cluster.nodes] == [None, "b"]
    assert [line[4] for line in shown(cluster)] == ["kafka1:29092", "localhost:9092", "kafka2:39092", "localhost:9093"]


@pytest.mark.parametrize(
    ("properties", "nodes", "ids"),
    [
        ({}, None, [1, 2]),
        ({}, 3, [1, 2, 3]),
        ({"node.id": "7"}, None, [7]),
        ({"broker.id": "0"}, None, [0]),
        ({"broker.id": "0"}, 2, [0, 1]),
        ({"broker.id": "-1"}, None, [1, 2]),
        ({"node.id": "3", "broker.id": "4"}, None, [3]),
    ],
)
def test_how_many_nodes(properties: dict[str, str], nodes: int | None, ids: list[int]) -> None:
    assert [node.node_id for node in cluster_of([properties], nodes=nodes).nodes] == ids


@pytest.mark.parametrize(
    ("properties", "listener"),
    [
        ({}, ("PLAINTEXT", "127.0.0.1", 9092, "127.0.0.1:9092")),
        ({"listeners": "PLAINTEXT://:9092"}, ("PLAINTEXT", "0.0.0.0", 9092, "127.0.0.1:9092")),
        ({"listeners": "plaintext://0.0.0.0:1"}, ("PLAINTEXT", "0.0.0.0", 1, "127.0.0.1:1")),
        ({"listeners": "PLAINTEXT://[::1]:1"}, ("PLAINTEXT", "::1", 1, "[::1]:1")),
        ({"listeners": "DOCKER://kafka:1"}, ("DOCKER", "kafka", 1, "kafka:1")),
        ({"advertised.listeners": "PLAINTEXT://kafka:1"}, ("PLAINTEXT", "0.0.0.0", 1, "kafka:1")),
        ({"listeners": "A://127.0.0.1:1,CONTROLLER://:2"}, ("A", "127.0.0.1", 1, "127.0.0.1:1")),
        ({"listeners": "A://127.0.0.1:1,C://:2", "controller.listener.names": "C"}, ("A", "127.0.0.1", 1, "127.0.0.1:1")),
    ],
)
def test_listeners(properties: dict[str, str], listener: tuple[str, str, int, str]) -> None:
    assert shown(cluster_of([properties], nodes=1)) == [(1, *listener)]


def test_port_0_is_filled_in_when_it_is_bound() -> None:
    node = cluster_of([{"listeners": "A://127.0.0.1:0"}], nodes=2).nodes[1]
    (listener,) = node.listeners
    assert listener == Listener(2, "A", "127.0.0.1", 0, "127.0.0.1", 0)
    assert listener.bound(4000) == Listener(2, "A", "127.0.0.1", 4000, "127.0.0.1", 4000)
    assert node.bound([listener.bound(4000)]).properties["advertised.listeners"] == "A://127.0.0.1:4000"
    forwarded = cluster_of([{"listeners": "A://:0", "advertised.listeners": "A://host:9092"}], nodes=1).nodes[0].listeners[0]
    assert forwarded.bound(4000).advertised == "host:9092"


@pytest.mark.parametrize(
    ("properties", "nodes", "message"),
    [
        ({"listeners": "9092"}, 1, "invalid listener '9092' in listeners: write NAME://host:port"),
        ({"listeners": "A://h:1,A://h:2"}, 1, "Each listener must have a different name"),
        ({"listeners": "A://h:1,B://h:1"}, 1, "Each listener must have a different port"),
        ({"listeners": "A://h:65535"}, 2, "Port 65536 in listeners is too high"),
        ({"listeners": "A://h:9092,B://h:9093"}, 2, "Port 9093 is wanted by listener B of node 1 and A of node 2"),
        ({"listeners": "CONTROLLER://:1"}, 1, "Node 1 has no listener for clients"),
        ({"listeners": "A://h:1", "advertised.listeners": "B://h:1"}, 1, "advertised.listeners names B"),
        ({"listeners": "A://:1", "advertised.listeners": "A://0.0.0.0:1"}, 1, "nonroutable meta-address 0.0.0.0"),
        ({"listeners": "A://h:1", "inter.broker.listener.name": "B"}, 1, "inter.broker.listener.name is B"),
        ({"listeners": "A://h:1", "listener.security.protocol.map": "B:PLAINTEXT"}, 1, "No security protocol defined for listener A"),
        ({"listeners": "A://h:1", "listener.security.protocol.map": "A:TLS"}, 1, "invalid pair 'A:TLS' in listener.security.protocol.map"),
        (
            {"listeners": "A://h:1", "listener.security.protocol.map": "A:SASL_SSL"},
            1,
            "Listener A asks for SASL_SSL, which is not supported yet",
        ),
        ({"listeners": "SSL://h:1"}, 1, "Listener SSL asks for SSL, which is not supported yet"),
        ({"node.id": "one"}, 1, "Invalid value one for configuration node.id"),
        ({"num.partitions": "0"}, 1, "Invalid value 0 for configuration num.partitions: Value must be at least 1"),
    ],
)
def test_what_cannot_be_is_refused(properties: dict[str, str], nodes: int, message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        cluster_of([properties], nodes=nodes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_several_descriptions_must_go_together() -> None:
    with pytest.raises(InvalidConfig, match="Two nodes have the id 1"):
        cluster_of([{"node.id": "1", "listeners": "A://h:1"}, {"listeners": "A://h:2", "node.id": "1"}])
    with pytest.raises(InvalidConfig, match="3 nodes do not go with 2 configurations"):
        cluster_of([{}, {}], nodes=3)
    with pytest.raises(InvalidConfig, match="Port 9092 is wanted"):
        cluster_of([{"listeners": "A://:9092"}, {"listeners": "B://127.0.0.1:9092"}])
    assert len(cluster_of([{"listeners": "A://127.0.0.1:9092"}, {"listeners": "A://127.0.0.2:9092"}]).nodes) == 2


def test_topics_to_begin_with() -> None:
    assert TopicSpec.parse("orders:4") == TopicSpec("orders", 4, -1)
    assert TopicSpec.parse("orders:4:2") == TopicSpec("orders", 4, 2)


@pytest.mark.parametrize("text", ["orders", "orders:", "orders:0", "orders:x", "orders:1:0", "orders:1:1:1", ":1"])
def test_what_is_no_topic(text: str) -> None:
    with pytest.raises(InvalidConfig):
        TopicSpec.parse(text)
