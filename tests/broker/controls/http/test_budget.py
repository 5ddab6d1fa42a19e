"""The time that readers of streams may take together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest

from odradek.broker.controls.http.budget import Budget
from odradek.broker.scheduling.turns import TURN_S


class Loop:
    """A clock that only the test moves, and the pauses of the budget."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now_s = 100.0
        self.pauses: list[float] = []
        monkeypatch.setattr(asyncio, "get_running_loop", lambda: self)
        monkeypatch.setattr(asyncio, "sleep", self._sleep)

    def time(self) -> float:
        return self.now_s

    async def _sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)


def run(scenario: Coroutine[Any, Any, None]) -> None:
    with pytest.raises(StopIteration):
        scenario.send(None)


def test_budget_pauses_for_as_long_as_readers_have_worked(monkeypatch: pytest.MonkeyPatch) -> None:
    loop, shared = Loop(monkeypatch), Budget()

    async def scenario() -> None:
        for worked_s in (TURN_S / 2, TURN_S / 4, TURN_S / 2, 3 * TURN_S, 0):
            async with shared.turn() as end_s:
                assert end_s == loop.now_s + TURN_S
                loop.now_s += worked_s

    run(scenario())
    assert loop.pauses == pytest.approx([0, 0, 1.25 * TURN_S, 3 * TURN_S, 0])


def test_budget_lets_readers_work_in_the_order_of_asking() -> None:
    worked: list[int] = []

    async def read(shared: Budget, number: int) -> None:
        for _ in range(3):
            async with shared.turn():
                worked.append(number)

    async def scenario() -> None:
        shared = Budget()
        await asyncio.gather(*(read(shared, number) for number in range(4)))

    asyncio.run(scenario())
    assert sorted(worked[:4]) == [0, 1, 2, 3]
    assert len(worked) == 12
