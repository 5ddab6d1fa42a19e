"""Programs that the tests run in simulations."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, TypeVar

from odradek import Simulation
from odradek.simulation.run import simulated

T = TypeVar("T")


def run(main: Callable[[Simulation], Coroutine[Any, Any, T]], seed: int = 0, limit_s: float = 3600) -> T:
    """Runs a coroutine function in a simulation and returns its result."""
    with simulated(Simulation(seed)) as sim:
        return sim(main(sim), limit_s=limit_s)


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Sends back what it receives."""
    try:
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
    finally:
        writer.close()


async def until(reached: Callable[[], object]) -> None:
    """Waits until a function returns something true."""
    while not reached():
        await asyncio.sleep(0.05)
