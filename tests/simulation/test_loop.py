"""Time, order and refusals of the event loop."""

from __future__ import annotations

import asyncio
import time

import pytest

from odradek import Simulation, SimulationError
from odradek.simulation.environment import EPOCH_S
from odradek.simulation.errors import Deadlock, Hung, Livelock
from odradek.simulation.run import simulated

from .programs import run


async def _sleeps(sim: Simulation) -> tuple[float, float]:
    began_s = time.time()
    await asyncio.sleep(3600)
    return began_s, time.time() - began_s


def test_sleep_takes_no_time_of_the_machine() -> None:
    cpu_s = time.process_time()
    began_s, took_s = run(_sleeps, limit_s=4000)
    assert began_s == pytest.approx(EPOCH_S, abs=0.001)
    assert took_s == pytest.approx(3600, abs=0.001)
    assert time.process_time() - cpu_s < 5


async def _waits_for_ever(sim: Simulation) -> None:
    await asyncio.Event().wait()


def test_program_without_a_timer_is_a_deadlock() -> None:
    with pytest.raises(Hung, match=r"has not ended within 3600 virtual seconds; waiting: Task-1 at test_loop.py:"):
        run(_waits_for_ever)


def test_loop_without_any_timer_says_what_waits() -> None:
    with simulated(Simulation(0)) as sim, pytest.raises(Deadlock, match=r"no timer is set.*waiting: Task-1 at test_loop.py:"):
        sim._loop.run_until_complete(_waits_for_ever(sim))


async def _turns_in_circles(sim: Simulation) -> None:
    while True:
        await asyncio.sleep(0)


def test_loop_that_never_waits_is_a_livelock() -> None:
    with pytest.raises(Livelock, match=r"without waiting for a timer or the network.*running: Task-1 at test_loop.py:"):
        run(_turns_in_circles)


async def _never_returns(sim: Simulation) -> None:
    number = 0
    while True:
        number += 1


def test_step_that_never_returns_is_a_livelock() -> None:
    cpu_s = time.process_time()
    with pytest.raises(Livelock, match="one step of the program has taken"):
        run(_never_returns)
    assert time.process_time() - cpu_s < 3


async def _polls_the_clock(sim: Simulation) -> None:
    end_s = time.monotonic() + 0.005
    while time.monotonic() < end_s:
        await asyncio.sleep(0)


def test_loop_that_looks_at_the_clock_ends() -> None:
    run(_polls_the_clock)


async def _finishing_order(sim: Simulation) -> list[int]:
    done: list[int] = []

    async def work(number: int) -> None:
        await asyncio.sleep(sim.random.random())
        done.append(number)

    finished, _ = await asyncio.wait([asyncio.create_task(work(number)) for number in range(20)])
    return done + [hash(task) for task in finished]


def test_order_of_tasks_and_sets_follows_from_the_seed() -> None:
    assert run(_finishing_order, 1) == run(_finishing_order, 1) != run(_finishing_order, 2)


async def _in_threads(sim: Simulation) -> int:
    with pytest.raises(ZeroDivisionError):
        await asyncio.to_thread(lambda: 1 / 0)
    return await asyncio.to_thread(sum, [1, 2])


def test_function_for_a_thread_runs_at_once() -> None:
    assert run(_in_threads) == 3


REFUSED = {
    "loop.add_reader": lambda loop: loop.add_reader(0, print),
    "loop.create_datagram_endpoint": lambda loop: loop.create_datagram_endpoint(asyncio.DatagramProtocol, local_addr=("127.0.0.1", 0)),
    "loop.subprocess_exec": lambda loop: loop.subprocess_exec(asyncio.SubprocessProtocol, "true"),
    r"loop.create_connection\(ssl=...\)": lambda loop: loop.create_connection(asyncio.Protocol, "shop", 443, ssl=True),
}


@pytest.mark.parametrize("call", REFUSED)
def test_call_for_the_operating_system_is_refused(call: str) -> None:
    async def main(sim: Simulation) -> None:
        try:
            result = REFUSED[call](asyncio.get_running_loop())
            if result is not None:
                await result
        except SimulationError:
            await asyncio.sleep(10)  # a program that goes on is ended all the same

    with pytest.raises(SimulationError, match=f"^{call}: "):
        run(main)


async def _fails(sim: Simulation) -> None:
    raise KeyError("orders")


def test_error_of_the_program_is_raised() -> None:
    with pytest.raises(KeyError, match="orders"):
        run(_fails)
