"""Describing the connections of clients, and what their requests wait for."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka import Consumer, Producer

from odradek import Cluster
from odradek.broker.controls.connections import STANDS_STILL, WaitingRequest

pytestmark = [pytest.mark.sockets, pytest.mark.clients]

QUICK = {"group.initial.rebalance.delay.ms": 0, "group.min.session.timeout.ms": 1000}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": {"partitions": 1, "replication_factor": 2}}, settings=QUICK) as cluster:
        yield cluster


def consumer(cluster: Cluster, name: str, **config: str | int) -> Consumer:
    consumer = Consumer({
        "bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "client.id": name, "log_level": 0, **config,
    })  # fmt: skip
    consumer.subscribe(["orders"])
    return consumer


def waiting(cluster: Cluster, api: str, name: str, client: Consumer | None = None) -> WaitingRequest:
    """Returns the request of an API that waits, once there is one. A consumer goes on while it is polled."""

    def found() -> list[WaitingRequest]:
        if client is not None:
            client.poll(0)
        return [each for each in cluster.waiting_requests() if each.api == api and each.client_id == name]

    return cluster.wait_until(found, timeout_s=30)[0]


def test_fetch_waits_for_bytes_and_the_clock(cluster: Cluster) -> None:
    reader = consumer(cluster, "reader", **{"fetch.min.bytes": 1000, "fetch.wait.max.ms": 400})
    found = waiting(cluster, "Fetch", "reader", reader)
    assert found.waits_for == ["records of orders-0, at least 1000 bytes"]
    assert found.left_ms is not None
    assert found.left_ms <= 400
    assert found.software.startswith("confluent-kafka-python ")
    assert found.peer.startswith("127.0.0.1:")
    cluster.clock.freeze()
    assert waiting(cluster, "Fetch", "reader").waits_for[1:] == [STANDS_STILL]
    cluster.clock.run()
    reader.close()


def test_join_group_waits_for_the_members_that_are_missing(cluster: Cluster) -> None:
    first = consumer(cluster, "first", **{"heartbeat.interval.ms": 60_000, "session.timeout.ms": 120_000, "max.poll.interval.ms": 300_000})
    while not first.assignment():
        first.poll(0.1)
    second = consumer(cluster, "second")
    (reason,) = waiting(cluster, "JoinGroup", "second", second).waits_for
    assert reason.startswith("a rebalance of billing, which waits for first (first-")
    assert reason.endswith(") to join again")
    cluster.clock.advance(minutes=10)  # so that the rebalance ends and closing need not wait for it
    second.close()
    first.close()


def test_new_group_waits_for_more_members() -> None:
    with Cluster(nodes=1, topics={"orders": 1}, settings={"group.initial.rebalance.delay.ms": 60_000}) as cluster:
        reader = consumer(cluster, "reader")
        found = waiting(cluster, "JoinGroup", "reader", reader)
        assert found.waits_for == ["a rebalance of billing, which waits for more members to join"]
        cluster.clock.advance(minutes=10)
        reader.close()


def test_produce_waits_for_replicas(cluster: Cluster) -> None:
    (topic,) = [each for each in cluster.topics() if each.name == "orders"]
    leader = topic.partitions[0].leader
    cluster.lag("orders", 0, 3 - leader, records=0)
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop"})
    producer.produce("orders", b"value")
    producer.poll(0)
    assert waiting(cluster, "Produce", "shop").waits_for == [f"replicas of orders-0: node {3 - leader}"]
    cluster.catch_up("orders", 0, 3 - leader)
    assert producer.flush(20) == 0


def test_fault_and_paused_node_are_named(cluster: Cluster) -> None:
    with cluster.fault(api="Produce", hang=True) as fault:
        producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop", "log_level": 0})
        producer.produce("orders", b"value")
        producer.poll(0)
        found = waiting(cluster, "Produce", "shop")
        assert found.waits_for == [f"the end of fault {fault.number}, which lets requests hang"]
        cluster.pause_node(found.node)
        found = waiting(cluster, "Produce", "shop")
        assert found.waits_for[1:] == [f"node {found.node}, which is paused; use resume_node"]
        cluster.resume_node(found.node)
    assert producer.flush(20) == 0


def test_connection_to_a_silent_node_is_listed(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers, "client.id": "shop", "log_level": 0})
    producer.produce("orders", b"value")
    assert producer.flush(20) == 0
    assert [each for each in cluster.waiting_requests() if each.client_id == "shop"] == []
    (topic,) = [each for each in cluster.topics() if each.name == "orders"]
    leader = topic.partitions[0].leader
    cluster.isolate(leader)
    (found,) = [each for each in cluster.waiting_requests() if each.client_id == "shop"]
    assert (found.api, found.node, found.left_ms) == ("", leader, None)
    assert found.waits_for == [f"node {leader}, which is isolated; use rejoin"]
    cluster.rejoin(leader)


def test_connections_name_client_and_waiting_request() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "g", "client.id": "reader"})
        consumer.subscribe(["orders"])
        consumer.poll(0.1)
        found = cluster.wait_until(lambda: [each for each in cluster.connections() if each.waits_for], timeout_s=30)[0]
        assert (found.node, found.listener, found.host, found.client_id) == (1, "PLAINTEXT", "127.0.0.1", "reader")
        assert found.software_name == "confluent-kafka-python"
        assert "rdkafka" in found.software_version
        assert found.principal == "User:ANONYMOUS"
        assert found.waits_for in ("Fetch", "JoinGroup", "FindCoordinator", "Metadata")
        numbers = [each.connection for each in cluster.connections()]
        assert numbers == sorted(numbers)
        consumer.close()
