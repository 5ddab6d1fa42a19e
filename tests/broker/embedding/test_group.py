"""Handles of groups show the present state, and wait for one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from odradek import AsyncCluster, Cluster, assert_committed
from odradek.broker.client.cluster_client import ClusterClient
from odradek.broker.client.groups import describe_groups
from odradek.broker.commands.options import addresses
from odradek.broker.control_errors import ControlTimeout, InvalidControl
from odradek.broker.controls.http.reports import Metrics

pytestmark = [pytest.mark.sockets, pytest.mark.clients]


def test_group_shows_members_offsets_and_lag() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        billing = cluster.group("billing")
        with pytest.raises(InvalidControl, match="there is no group 'billing'"):
            _ = billing.members
        with pytest.raises(ControlTimeout, match="group 'billing' does not exist"):
            billing.wait_until_stable(members=1, timeout_s=0)
        cluster.topic("orders").produce_all(["a", "b", "c"])
        config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest"}
        consumer = Consumer({**config, "enable.auto.commit": False})
        consumer.subscribe(["orders"])
        assert len(consumer.consume(2, timeout=30)) == 2
        stable = billing.wait_until_stable(members=1, timeout_s=30)
        assert (stable.state, billing.state, billing.type, len(billing.members)) == ("Stable", "Stable", "classic", 1)
        assert (billing.committed, billing.lag) == ({}, 3)
        consumer.commit(asynchronous=False)
        assert (billing.committed, billing.lag) == ({("orders", 0): 2}, 1)
        assert (billing.protocol, billing.epoch, billing.coordinator) == ("range", 1, 1)
        consumer.close()
        assert billing.state == "Empty"
        assert billing.offsets[0].committed == 2


@pytest.fixture
def read_cluster() -> Iterator[Cluster]:
    """A cluster of which the group `billing` has read two records of two partitions, and has committed nothing."""
    with Cluster(nodes=1, topics={"orders": 2, "other": 1}) as cluster:
        cluster.produce("orders", [{"value": "a", "partition": 0}, {"value": "b", "partition": 1}])
        consumer = Consumer(uncommitted(cluster))
        consumer.subscribe(["orders"])
        assert len(consumer.consume(2, timeout=30)) == 2
        consumer.close()
        yield cluster


def uncommitted(cluster: Cluster) -> dict[str, Any]:
    config = {"bootstrap.servers": cluster.bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest"}
    return {**config, "enable.auto.commit": False}


def commit(cluster: Cluster, partition: int, offset: int) -> None:
    consumer = Consumer(uncommitted(cluster))
    consumer.commit(offsets=[TopicPartition("orders", partition, offset)], asynchronous=False)
    consumer.close()


def test_lag_of_a_group_without_commits_is_unknown(read_cluster: Cluster) -> None:
    billing = read_cluster.group("billing")
    with pytest.raises(InvalidControl, match="the lag of group 'billing' is unknown, because it has committed no offset and no member"):
        assert billing.lag == 0
    assert billing.info().lag is None
    with pytest.raises(ControlTimeout, match=r"did not reach lag=0: it is Empty with 0 members \(none\) and an unknown lag"):
        billing.wait_for(lag=0, timeout_s=0)


def test_partition_without_a_commit_counts_from_its_start(read_cluster: Cluster) -> None:
    billing = read_cluster.group("billing")
    commit(read_cluster, 0, 1)
    assert [(each.partition, each.committed, each.lag) for each in billing.offsets] == [(0, 1, 0), (1, None, 1)]
    assert billing.lag == 1
    commit(read_cluster, 1, 1)
    assert billing.wait_for(lag=0, timeout_s=0).lag == billing.lag == 0


def test_partitions_that_a_consumer_assigns_itself_count() -> None:
    with Cluster(nodes=1, topics={"orders": 2}) as cluster:
        cluster.produce("orders", [{"value": "a", "partition": 0}, {"value": "b", "partition": 1}])
        commit(cluster, 0, 1)
        assert (cluster.group("billing").committed, cluster.group("billing").lag) == ({("orders", 0): 1}, 0)


def test_committed_offset_is_awaited_and_asserted(read_cluster: Cluster) -> None:
    billing = read_cluster.group("billing")
    with pytest.raises(ControlTimeout, match="did not reach topic=orders, partition=1, committed=1: it is Empty"):
        billing.wait_for(topic="orders", partition=1, committed=1, timeout_s=0)
    assert_committed(billing, "orders", None, partition=1)
    assert_committed(read_cluster.group("nobody"), "orders", None)
    commit(read_cluster, 1, 1)
    found = billing.wait_for(topic="orders", partition=1, committed=1, timeout_s=0)
    for group in (billing, found):
        assert_committed(group, "orders", 1, partition=1)
        with pytest.raises(AssertionError, match=r"group billing: expected offset 2 in orders-1 and found offset 1; all its offsets: "):
            assert_committed(group, "orders", 2, partition=1)
        with pytest.raises(AssertionError, match="expected offset 1 in other and found nothing committed"):
            assert_committed(group, "other", 1)
        with pytest.raises(InvalidControl, match="partition: is required, because topic 'orders' has 2 partitions"):
            assert_committed(group, "orders", 1)
    with pytest.raises(AssertionError, match="there is no group 'nobody'"):
        assert_committed(read_cluster.group("nobody"), "orders", 1)


@pytest.mark.parametrize(
    ("conditions", "message"),
    [({"committed": 1}, "topic: is required with committed"), ({"partition": 1}, "topic: is required with partition")],
)
def test_committed_offset_without_topic_is_refused(read_cluster: Cluster, conditions: Any, message: str) -> None:
    with pytest.raises(InvalidControl, match=message):
        read_cluster.group("billing").wait_for(**conditions)


def test_every_view_says_the_same_lag(read_cluster: Cluster) -> None:
    commit(read_cluster, 0, 0)
    with ClusterClient(addresses(read_cluster.bootstrap_servers)) as client:
        (described,) = describe_groups(client, ["billing"])
    (listed,) = read_cluster.groups()
    metrics = "".join(Metrics(read_cluster._controls).pieces())
    assert (read_cluster.group("billing").lag, described.lag, listed.lag) == (2, 2, 2)
    assert 'odradek_group_lag{group="billing"} 2\n' in metrics
    assert [(each.committed, each.lag) for each in described.offsets] == [(0, 1), (None, 1)]


def test_group_of_async_cluster_is_awaited() -> None:
    async def use() -> None:
        async with AsyncCluster(nodes=1) as cluster:
            with pytest.raises(InvalidControl, match="there is no group 'billing'"):
                await cluster.group("billing")
            with pytest.raises(ControlTimeout):
                await cluster.group("billing").wait_until_stable(timeout_s=0)
            with pytest.raises(ControlTimeout, match="group 'billing' does not exist, wanted lag=0"):
                await cluster.group("billing").wait_for(lag=0, timeout_s=0)

    asyncio.run(use())
