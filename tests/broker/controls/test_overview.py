"""Describing the cluster and its nodes in all states that nodes can have."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AdminClient

import odradek
from odradek import Cluster
from odradek.broker.cluster.startup_topics import TopicOptions
from odradek.broker.scheduling import turns

pytestmark = pytest.mark.sockets


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    topics: dict[str, int | TopicOptions] = {
        "orders": {"partitions": 4, "replication_factor": 3},
        "single": {"partitions": 1, "replication_factor": 1},
    }
    with Cluster(nodes=3, topics=topics, seed=1) as running:
        running.clock.freeze()
        yield running


def test_status_of_a_healthy_cluster_has_no_problems(cluster: Cluster) -> None:
    cluster.produce("orders", ["value"])
    status = cluster.status()
    assert (status.version, status.bootstrap_servers) == (odradek.__version__, cluster.bootstrap_servers)
    assert (status.nodes, status.topics, status.partitions, status.groups, status.controller) == (3, 2, 5, 0, 1)
    assert status.log_bytes == sum(each.size_bytes for topic in cluster.topics() for each in topic.partitions) > 0
    assert (status.max_memory_bytes, status.problems) == (None, [])


def test_status_has_the_cluster_id_that_clients_see(cluster: Cluster) -> None:
    client = AdminClient({"bootstrap.servers": cluster.bootstrap_servers})
    assert cluster.status().cluster_id == client.list_topics(timeout=30).cluster_id


def test_connections_are_counted_by_node(cluster: Cluster) -> None:
    host, port = cluster.nodes()[1].listeners[0].advertised.split(":")
    with socket.create_connection((host, int(port))), socket.create_connection((host, int(port))):
        cluster.wait_until(lambda: cluster.status().connections == 2)
        assert [each.connections for each in cluster.nodes()] == [0, 2, 0]


def test_status_names_each_problem(cluster: Cluster) -> None:
    (single,) = next(topic for topic in cluster.topics() if topic.name == "single").partitions
    cluster.stop_node(single.leader)
    expected = [
        f"node {single.leader} is stopped",
        "1 partition has no leader",
        "1 partition has fewer in-sync replicas than min.insync.replicas",
        "5 partitions have replicas that are not in sync",
    ]
    assert cluster.status().problems == expected
    cluster.start_node(single.leader)
    assert cluster.status().problems == []


def test_status_reports_full_memory() -> None:
    from odradek.storage.memory import LogMemory

    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        server = cluster._cluster._server
        server.cluster.log_memory = LogMemory(0, lambda: None)
        status = cluster.status()
        assert (status.max_memory_bytes, status.problems) == (0, ["the memory for logs is full"])
        server.cluster.log_memory = None


def test_nodes_have_listeners_leaders_and_replicas(cluster: Cluster) -> None:
    nodes = cluster.nodes()
    assert [(each.node, each.state, each.fenced, each.rack) for each in nodes] == [(node, "running", False, None) for node in (1, 2, 3)]
    assert [each.controller for each in nodes] == [True, False, False]
    assert ",".join(listener.advertised for each in nodes for listener in each.listeners) == cluster.bootstrap_servers
    assert {(listener.name, listener.security_protocol, listener.host) for each in nodes for listener in each.listeners} == {
        ("PLAINTEXT", "PLAINTEXT", "127.0.0.1")
    }
    partitions = [partition for topic in cluster.topics() for partition in topic.partitions]
    for each in nodes:
        assert each.leaders == sum(partition.leader == each.node for partition in partitions)
        assert each.replicas == sum(each.node in partition.replicas for partition in partitions)
        assert each.out_of_sync == 0


def test_nodes_show_that_a_failure_is_noticed_late(cluster: Cluster) -> None:
    cluster.isolate(3)
    cluster.pause_node(2)
    assert [(each.state, each.fenced) for each in cluster.nodes()] == [("running", False), ("paused", False), ("isolated", False)]
    cluster.clock.advance("1m")
    assert [(each.state, each.fenced) for each in cluster.nodes()] == [("running", False), ("paused", True), ("isolated", True)]
    assert cluster.nodes()[1].out_of_sync == cluster.nodes()[1].replicas > 0
    cluster.resume_node(2)
    cluster.rejoin(3)
    cluster.stop_node(1)
    assert [(each.state, each.controller) for each in cluster.nodes()] == [("stopped", False), ("running", True), ("running", False)]


def test_many_partitions_are_counted_in_slices(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", 0)
    cluster.create_topic("large", 500)
    assert cluster.status().partitions == 505
    assert sum(each.leaders for each in cluster.nodes()) == 505


def test_nodes_of_racks_are_described(cluster: Cluster) -> None:
    added = cluster.add_node(rack="r1")
    assert [(each.node, each.rack) for each in cluster.nodes()][-1] == (added, "r1")
