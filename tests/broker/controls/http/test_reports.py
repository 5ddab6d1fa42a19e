"""/metrics, /healthz and /readyz over HTTP, with and without a token."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from odradek import Cluster
from tests.broker.controls.http.http_requests import get
from tests.broker.metrics.expositions import Labels, labelled, parsed


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 2}, control="127.0.0.1:0", control_token="secret") as cluster:
        yield cluster


def asked(cluster: Cluster, path: str, **headers: str) -> tuple[int, str, str]:
    """Returns the status, the media type and the text of a report."""
    assert cluster.control is not None
    with closing(HTTPConnection(cluster.control, timeout=30)) as connection:
        connection.request("GET", path, headers=headers)
        response = connection.getresponse()
        return response.status, response.headers["Content-Type"], response.read().decode()


def metrics(cluster: Cluster) -> dict[str, dict[Labels, float]]:
    status, media_type, text = asked(cluster, "/metrics", Authorization="Bearer secret", Accept="application/openmetrics-text")
    assert (status, media_type) == (200, "application/openmetrics-text; version=1.0.0; charset=utf-8")
    return parsed(text)


def test_metrics_are_classic_text_without_another_choice(cluster: Cluster) -> None:
    status, media_type, text = asked(cluster, "/metrics", Authorization="Bearer secret")
    assert (status, media_type) == (200, "text/plain; version=0.0.4; charset=utf-8")
    assert "\n# TYPE kafka_brokers gauge\nkafka_brokers 2\n" in text


def test_metrics_agree_with_what_clients_see(cluster: Cluster) -> None:
    producer = Producer({"bootstrap.servers": cluster.bootstrap_servers})
    for number in range(10):
        producer.produce("orders", b"value", partition=int(number > 3))
    producer.flush()
    consumer = Consumer({"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "enable.auto.commit": False})
    with closing(consumer):
        consumer.commit(offsets=[TopicPartition("orders", 0, 3)], asynchronous=False)
        found = metrics(cluster)
        for partition in range(2):
            first, last = consumer.get_watermark_offsets(TopicPartition("orders", partition))
            key = labelled(topic="orders", partition=str(partition))
            assert found["kafka_topic_partition_oldest_offset"][key] == first
            assert found["kafka_topic_partition_current_offset"][key] == last
        described = {each.id: f"{each.host}:{each.port}" for each in consumer.list_topics().brokers.values()}
    assert found["kafka_brokers"] == {labelled(): len(described)}
    assert set(found["kafka_broker_info"]) == {labelled(id=str(node), address=address) for node, address in described.items()}
    lag = found["kafka_consumergroup_lag"]
    assert lag[labelled(consumergroup="billing", topic="orders", partition="0")] == 4 - 3
    assert lag[labelled(consumergroup="billing", topic="orders", partition="1")] == -1


def test_metrics_need_the_token(cluster: Cluster) -> None:
    assert asked(cluster, "/metrics")[0] == 401


def test_healthz_and_readyz_are_public(cluster: Cluster) -> None:
    assert asked(cluster, "/healthz") == (200, "text/plain; charset=utf-8", "ok\n")
    assert asked(cluster, "/readyz") == (200, "text/plain; charset=utf-8", "ready: 2 of 2 nodes serve clients\n")


def test_cluster_without_serving_nodes_is_not_ready(cluster: Cluster) -> None:
    cluster.stop_node(1)
    assert asked(cluster, "/readyz")[::2] == (200, "ready: 1 of 2 nodes serve clients\n")
    cluster.pause_node(2)
    assert asked(cluster, "/readyz")[::2] == (503, "not ready: 0 of 2 nodes serve clients\n")
    assert asked(cluster, "/healthz")[0] == 200
    assert metrics(cluster)["odradek_node_up"] == {labelled(node="1"): 0, labelled(node="2"): 0}
    cluster.start_node(1)
    assert asked(cluster, "/readyz")[0] == 200


def test_reports_accept_only_get(cluster: Cluster) -> None:
    assert cluster.control is not None
    with closing(HTTPConnection(cluster.control, timeout=30)) as connection:
        connection.request("POST", "/readyz")
        assert connection.getresponse().status == 405


def test_problem_names_reports_as_paths() -> None:
    with Cluster(nodes=1, control="127.0.0.1:0") as cluster:
        assert cluster.control is not None
        assert "/metrics" in get(cluster.control, "/metric").body["detail"]
