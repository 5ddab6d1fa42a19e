"""Handles of groups show the present state, and wait for one."""

from __future__ import annotations

import asyncio

import pytest
from confluent_kafka import Consumer

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import ControlTimeout, InvalidControl

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


def test_group_of_async_cluster_is_awaited() -> None:
    async def use() -> None:
        async with AsyncCluster(nodes=1) as cluster:
            with pytest.raises(InvalidControl, match="there is no group 'billing'"):
                await cluster.group("billing")
            with pytest.raises(ControlTimeout):
                await cluster.group("billing").wait_until_stable(timeout_s=0)

    asyncio.run(use())
