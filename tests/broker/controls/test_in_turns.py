"""Results that are made in turns of the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from odradek.broker.controls import in_turns as module
from odradek.broker.controls.in_turns import in_turns


def test_other_work_gets_a_turn_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "TURN_S", -1.0)
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
