"""Clusters, nodes and topics to create, from the settings that describe them."""

from __future__ import annotations

import pytest

from odradek.broker.settings.cluster_config import ClusterConfig, TopicSpec, cluster_of
from odradek.broker.settings.properties import InvalidConfig

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


def test_cluster_of_settings_for_zookeeper_has_listeners() -> None:
    cluster = cluster_of([ZOOKEEPER_ERA])
    assert shown(cluster) == [
        (1, "INTERNAL", "0.0.0.0", 29092, "kafka1:29092"),
        (1, "EXTERNAL", "0.0.0.0", 9092, "localhost:9092"),
    ]
    assert cluster.ignored == ("zookeeper.connect",)
    assert cluster.nodes[0].properties["node.id"] == "1"


def test_cluster_of_misspelt_setting_raises_unless_ignored() -> None:
    settings = ZOOKEEPER_ERA | {"num.partition": "3", "num.io.threads": "2"}
    with pytest.raises(InvalidConfig, match=r"unknown setting num\.partition"):
        cluster_of([settings])
    cluster = cluster_of([settings], ignore_unknown_settings=True)
    assert (cluster.ignored, cluster.unknown) == (("num.io.threads",), ("num.partition", "zookeeper.connect"))


def test_cluster_of_one_config_counts_ids_and_ports_up() -> None:
    cluster = cluster_of([ZOOKEEPER_ERA | {"broker.id": "5"}], nodes=2)
    assert shown(cluster)[2:] == [
        (6, "INTERNAL", "0.0.0.0", 29093, "kafka1:29093"),
        (6, "EXTERNAL", "0.0.0.0", 9093, "localhost:9093"),
    ]
    assert cluster.nodes[1].properties["advertised.listeners"] == "INTERNAL://kafka1:29093,EXTERNAL://localhost:9093"
    assert [node.properties["broker.id"] for node in cluster.nodes] == ["5", "6"]


def test_cluster_of_several_configs_has_a_node_each() -> None:
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
def test_cluster_of_has_number_of_nodes(properties: dict[str, str], nodes: int | None, ids: list[int]) -> None:
    assert [node.node_id for node in cluster_of([properties], nodes=nodes).nodes] == ids


@pytest.mark.parametrize(
    ("properties", "nodes", "message"),
    [
        ({"listeners": "A://h:9092,B://h:9093"}, 2, "port 9093 is used by listener B of node 1 and A of node 2"),
        ({"node.id": "one"}, 1, "Invalid value one for configuration node.id"),
        ({"num.partitions": "0"}, 1, "Invalid value 0 for configuration num.partitions: Value must be at least 1"),
    ],
)
def test_cluster_of_invalid_config_raises(properties: dict[str, str], nodes: int, message: str) -> None:
    with pytest.raises(InvalidConfig) as refused:
        cluster_of([properties], nodes=nodes)
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_cluster_of_conflicting_configs_raises() -> None:
    with pytest.raises(InvalidConfig, match="two nodes have the id 1"):
        cluster_of([{"node.id": "1", "listeners": "A://h:1"}, {"listeners": "A://h:2", "node.id": "1"}])
    with pytest.raises(InvalidConfig, match="got 2 configurations for 3 nodes"):
        cluster_of([{}, {}], nodes=3)
    with pytest.raises(InvalidConfig, match="port 9092 is used"):
        cluster_of([{"listeners": "A://:9092"}, {"listeners": "B://127.0.0.1:9092"}])
    assert len(cluster_of([{"listeners": "A://127.0.0.1:9092"}, {"listeners": "A://127.0.0.2:9092"}]).nodes) == 2


def test_topic_spec_parse_returns_spec() -> None:
    assert TopicSpec.parse("orders:4") == TopicSpec("orders", 4, -1)
    assert TopicSpec.parse("orders:4:2") == TopicSpec("orders", 4, 2)


@pytest.mark.parametrize("text", ["orders", "orders:", "orders:0", "orders:x", "orders:1:0", "orders:1:1:1", ":1"])
def test_topic_spec_parse_invalid_raises(text: str) -> None:
    with pytest.raises(InvalidConfig):
        TopicSpec.parse(text)
