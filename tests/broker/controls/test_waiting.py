"""`wait_until` of both kinds of clusters, and results that are made in turns of the event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator

import pytest

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import ControlTimeout, InvalidControl
from odradek.broker.controls.waiting import in_turns
from odradek.broker.scheduling import turns

pytestmark = pytest.mark.sockets


def test_wait_until_calls_the_cluster_in_its_predicate() -> None:
    with Cluster(nodes=1, topics={"orders": 1}) as cluster:
        writer = threading.Thread(target=lambda: [cluster.produce("orders", [str(number)]) for number in range(3)])
        writer.start()
        found = cluster.wait_until(lambda: [each.value for each in cluster.records("orders")][2:], timeout_s=30)
        writer.join()
        assert found == [b"2"]


def test_wait_until_that_times_out_names_the_predicate() -> None:
    def three_topics() -> bool:
        return len(cluster.topics()) == 3

    with Cluster(nodes=1) as cluster, pytest.raises(ControlTimeout, match=r"three_topics has not returned a true value \(waited 0 s\)"):
        cluster.wait_until(three_topics, timeout_s=0)


def test_async_wait_until_accepts_functions_and_coroutines() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, topics={"orders": 1}) as cluster:

            async def has_records() -> bool:
                return len(await cluster.records("orders")) == 1

            waiting = asyncio.create_task(cluster.wait_until(has_records, timeout_s=30))
            await cluster.produce("orders", ["a"])
            assert await waiting
            assert await cluster.wait_until(lambda: 7) == 7
            with pytest.raises(ControlTimeout, match="has not returned a true value"):
                await cluster.wait_until(lambda: False, timeout_s=0)
            with pytest.raises(InvalidControl, match="timeout_s: must be 0 or more seconds, not -1"):
                await cluster.wait_until(lambda: False, timeout_s=-1)

    asyncio.run(scenario())


def test_wait_in_a_stopped_cluster_ends() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1) as cluster:
            waiting = asyncio.create_task(cluster.wait_for_records("orders", 1, timeout_s=30))
            await asyncio.sleep(0)
        with pytest.raises(ValueError, match="the cluster is not running"):
            await waiting

    asyncio.run(scenario())


def test_other_work_gets_a_turn_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "TURN_S", -1.0)
    happened: list[str] = []

    async def scenario() -> list[int]:
        asyncio.get_running_loop().call_soon(happened.append, "other work")
        return await in_turns(items())

    def items() -> Iterator[int]:
        for number in range(3):
            happened.append(str(number))
            yield number

    assert asyncio.run(scenario()) == [0, 1, 2]
    assert happened == ["0", "other work", "1", "2"]
