"""Creating, deleting and describing topics without a client."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from odradek import Cluster
from odradek.broker.control_errors import InvalidControl

pytestmark = pytest.mark.sockets


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, topics={"orders": 2}, seed=1) as running:
        yield running


def test_create_topic_returns_its_description(cluster: Cluster) -> None:
    created = cluster.create_topic("payments", 3, replication_factor=2, configs={"cleanup.policy": "compact", "retention.ms": 1000})
    assert (created.name, created.internal, created.configs) == ("payments", False, {"cleanup.policy": "compact", "retention.ms": "1000"})
    assert [each.partition for each in created.partitions] == [0, 1, 2]
    assert {tuple(sorted(each.isr)) for each in created.partitions} == {(1, 2)}
    assert {(each.start_offset, each.high_watermark, each.end_offset, each.size_bytes) for each in created.partitions} == {(0, 0, 0, 0)}
    assert cluster.topics()[-1] == created


def test_create_topic_without_options_uses_the_defaults(cluster: Cluster) -> None:
    assert len(cluster.create_topic("defaults").partitions) == 1


def test_delete_topic_removes_it(cluster: Cluster) -> None:
    cluster.delete_topic("orders")
    assert cluster.topics() == []


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda cluster: cluster.create_topic("orders"), "topic", "topic: TOPIC_ALREADY_EXISTS: Topic 'orders' already exists."),
        (lambda cluster: cluster.create_topic("a b"), "topic", "invalid topic name: 'a b' contains one or more characters other than"),
        (lambda cluster: cluster.create_topic("new", 0), "partitions", "partitions must be at least 1, not 0"),
        (lambda cluster: cluster.create_topic("new", "2"), "partitions", "partitions: must be an integer, not '2'"),
        (
            lambda cluster: cluster.create_topic("new", 1 << 31),
            "partitions",
            "partitions must be at most 10000, as in one request to Kafka",
        ),
        (lambda cluster: cluster.create_topic("new", replication_factor=3), "replication_factor", "exceeds the number of nodes"),
        (lambda cluster: cluster.create_topic("new", configs={"retention": 1}), "configs", "unknown config retention"),
        (lambda cluster: cluster.create_topic("new", configs={"retention.ms": "x"}), "configs", "Invalid value x for configuration"),
        (lambda cluster: cluster.delete_topic("ordrs"), "topic", "topic: there is no topic 'ordrs'; did you mean 'orders'?"),
    ],
)
def test_invalid_topic_control_changes_nothing(cluster: Cluster, call: Callable[[Cluster], object], parameter: str, message: str) -> None:
    before = cluster.topics()
    with pytest.raises(InvalidControl, match=message.replace("?", r"\?")) as caught:
        call(cluster)
    assert caught.value.parameter == parameter
    assert cluster.topics() == before
