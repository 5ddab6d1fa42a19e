"""Awaiting the methods of a blocking cluster on event loops of asyncio and trio."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from typing import Any

import pytest
import trio

from odradek import AsyncCluster, Cluster, formats

pytestmark = pytest.mark.sockets

Use = Callable[[AsyncCluster], Awaitable[None]]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        yield cluster


@pytest.fixture(params=["asyncio", "trio"])
def run(request: pytest.FixtureRequest, cluster: Cluster) -> Callable[[Use], None]:
    """A function that runs a coroutine function with the cluster on a loop of its own."""

    def on_loop(use: Use) -> None:
        cluster.reset()
        if request.param == "asyncio":
            asyncio.run(use(cluster.awaitable))  # type: ignore[arg-type]  # a coroutine function
        else:
            trio.run(use, cluster.awaitable)

    return on_loop


def test_methods_and_parts_are_awaited(run: Callable[[Use], None], cluster: Cluster) -> None:
    async def use(awaitable: AsyncCluster) -> None:
        assert awaitable.bootstrap_servers == cluster.bootstrap_servers
        assert awaitable.client_config("java")["bootstrap.servers"] == cluster.bootstrap_servers
        assert [each.name for each in await awaitable.topics()] == ["orders"]
        assert (await awaitable.clock.freeze()).speed == 0
        await awaitable.clock.run()
        assert await awaitable.wire.mark() == cluster.wire.mark()
        assert repr(awaitable) == repr(cluster).replace("<Cluster", "<AsyncCluster")

    run(use)


def test_handles_of_topics_and_groups_are_awaited(run: Callable[[Use], None]) -> None:
    async def use(awaitable: AsyncCluster) -> None:
        orders = awaitable.topic("orders", value=formats.json)
        await orders.produce({"total": 5})
        assert [each.value for each in await orders.wait_for(1)] == [{"total": 5}]
        with pytest.raises(ValueError, match="there is no group 'billing'"):
            await awaitable.group("billing")

    run(use)


def test_handles_of_faults_are_awaited(run: Callable[[Use], None], cluster: Cluster) -> None:
    async def use(awaitable: AsyncCluster) -> None:
        fault = await awaitable.fault(api="Produce", error="NOT_LEADER_OR_FOLLOWER")
        assert (fault.hits, fault.described().hits) == (0, 0)
        assert str(fault) == str(cluster.faults[0])
        assert [each.number for each in awaitable.faults] == [fault.number]
        with pytest.raises(TimeoutError, match="expected 1 hit "):
            await fault.wait(timeout_s=0)
        await fault.remove()
        async with awaitable.lost_acks("orders") as lost:
            assert [each.number for each in cluster.faults] == [lost.number]
        assert cluster.faults == []

    run(use)


def test_predicate_may_await_the_cluster(run: Callable[[Use], None]) -> None:
    async def use(awaitable: AsyncCluster) -> None:
        async def topics() -> list[Any]:
            return list(await awaitable.topics())

        assert len(await awaitable.wait_until(topics)) == 1

    run(use)


def test_cluster_that_is_not_running_is_named() -> None:
    async def use(awaitable: AsyncCluster) -> None:
        with pytest.raises(ValueError, match="the cluster is not running"):
            await awaitable.topics()

    asyncio.run(use(Cluster().awaitable))


def test_cancelled_call_ends_on_the_loop_of_the_cluster(cluster: Cluster) -> None:
    async def use(awaitable: AsyncCluster) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await awaitable.wait_for_records("orders", 1000)

    asyncio.run(use(cluster.awaitable))
    assert [each.name for each in cluster.topics()] == ["orders"]
