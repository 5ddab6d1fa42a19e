"""`cluster.clock`: freezing, advancing, speed, and the errors of its arguments."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from odradek import AsyncCluster, Cluster
from odradek.broker.control_errors import InvalidControl
from odradek.broker.controls.parameters import duration_text

pytestmark = pytest.mark.sockets


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1) as running:
        running.clock.freeze()
        yield running


@pytest.mark.parametrize(
    ("arguments", "milliseconds"),
    [
        ({"minutes": 10}, 600_000),
        ({"minutes": 0.5}, 30_000),
        ({"weeks": 1, "days": 1, "hours": 1, "seconds": 1, "milliseconds": 1}, 694_801_001),
        ({"duration": "10m"}, 600_000),
        ({"duration": "1.5h"}, 5_400_000),
        ({"duration": "250ms"}, 250),
        ({"duration": "7"}, 7000),
        ({"duration": 2.5}, 2500),
        ({"duration": timedelta(days=7)}, 604_800_000),
    ],
)
def test_advance_moves_a_frozen_clock_exactly(cluster: Cluster, arguments: dict[str, Any], milliseconds: int) -> None:
    before = cluster.clock.state()
    after = cluster.clock.advance(**arguments)
    assert after.now - before.now == timedelta(milliseconds=milliseconds)
    assert (before.speed, after.speed) == (0, 0)


@pytest.mark.parametrize(
    ("call", "parameter", "message"),
    [
        (lambda clock: clock.advance(), "duration", "say how far to advance, such as minutes=10 or 10m"),
        (lambda clock: clock.advance(minutes=-1), "minutes", "must not be negative or infinite"),
        (lambda clock: clock.advance(days=float("nan")), "days", "must not be negative or infinite"),
        (lambda clock: clock.advance(weeks=1e30), "duration", "beyond the year 9999"),
        (lambda clock: clock.advance("10 parsecs"), "duration", "invalid duration '10 parsecs'; use a number with ms, s, m, h, d, w"),
        (lambda clock: clock.advance("-1s"), "duration", "invalid duration '-1s'"),
        (lambda clock: clock.set(datetime(1999, 1, 1, tzinfo=UTC)), "moment", "1999-01-01T00:00:00.00:00 is before the cluster's time"),
        (lambda clock: clock.run(0), "speed", "must be above 0 and at most 1000000, not 0; use freeze to stop the time"),
        (lambda clock: clock.run(float("inf")), "speed", "at most 1000000"),
    ],
)
def test_invalid_argument_names_the_parameter(cluster: Cluster, call: Callable[[Any], object], parameter: str, message: str) -> None:
    before = cluster.clock.state()
    with pytest.raises(InvalidControl, match=message) as caught:
        call(cluster.clock)
    assert caught.value.parameter == parameter
    assert cluster.clock.state() == before


def test_set_fires_every_timer_at_its_own_moment() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, seed=1) as cluster:
            await cluster.clock.freeze()
            timers, fired = cluster._server.core.timers, []
            began = (await cluster.clock.state()).now
            began_ms = timers.now_ms

            def fire(again: int) -> None:
                fired.append(timers.now_ms - began_ms)
                if again:
                    timers.set("test", 1000, lambda: fire(again - 1))

            timers.set("test", 1000, lambda: fire(3))
            assert (await cluster.clock.set(began + timedelta(seconds=3.5))).now == began + timedelta(seconds=3.5)
            assert fired == [1000, 2000, 3000]

    asyncio.run(scenario())


def test_cancelled_advance_leaves_the_time_where_it_is() -> None:
    async def scenario() -> None:
        async with AsyncCluster(nodes=1, seed=1) as cluster:
            before = await cluster.clock.freeze()
            timers = cluster._server.core.timers

            def tick() -> None:
                timers.set("test", 1, tick)

            tick()
            advance = asyncio.create_task(cluster.clock.advance(weeks=520))
            while (moving := await cluster.clock.state()).now == before.now:
                await asyncio.sleep(0)
            assert moving.moving_to == before.now + timedelta(weeks=520)
            advance.cancel()
            with pytest.raises(asyncio.CancelledError):
                await advance
            stopped = await cluster.clock.state()
            assert before.now < stopped.now < before.now + timedelta(weeks=1)
            assert stopped.moving_to is None
            timers.cancel("test")
            assert (await cluster.clock.advance(hours=1)).now == stopped.now + timedelta(hours=1)

    asyncio.run(scenario())


def test_interrupted_call_ends_what_it_began(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    began, cancelled = threading.Event(), threading.Event()

    async def wait() -> None:
        began.set()
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.set()
            raise

    def interrupted(future: Future[Any], timeout: float | None = None) -> None:
        assert began.wait(10)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Future, "result", interrupted)
        with pytest.raises(KeyboardInterrupt):
            cluster._run_in_thread(wait())
    assert cancelled.wait(10)


def test_run_after_freeze_lets_the_time_pass() -> None:
    with Cluster(nodes=1) as cluster:
        frozen = cluster.clock.freeze()
        assert cluster.clock.state() == frozen
        assert cluster.clock.run(speed=1000).speed == 1000
        began = cluster.clock.state().now
        while cluster.clock.state().now - began < timedelta(seconds=1):
            pass
        assert cluster.clock.run().speed == 1


def test_clock_of_a_stopped_cluster_raises() -> None:
    with pytest.raises(ValueError, match="the cluster is not running"):
        Cluster(nodes=1).clock.freeze()


def test_blocking_call_in_the_own_thread_raises() -> None:
    with Cluster(nodes=1) as cluster:

        async def call_inside() -> str:
            with pytest.raises(ValueError, match="a blocking call in the cluster's own thread would never return") as caught:
                cluster.clock.freeze()
            return str(caught.value)

        assert "use AsyncCluster" in cluster._run_in_thread(call_inside())


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(691_200_000, "8 d"), (600_000, "10 min"), (5_400_500, "1 h 30 min 500 ms"), (1000, "1 s"), (0, "0 ms"), (0.6, "1 ms")],
)
def test_duration_is_shown_in_its_units(milliseconds: float, text: str) -> None:
    assert duration_text(milliseconds) == text
