"""Long work of controls in turns of the event loop, so that a large result does not delay the clients of the brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeVar

from ..scheduling.turns import TurnTime

T = TypeVar("T")


async def in_turns(items: Iterable[T]) -> list[T]:
    """Returns the items as a list. Other work gets a turn whenever making them has taken TURN_S."""
    made: list[T] = []
    turn = TurnTime(asyncio.get_running_loop().time)
    for item in items:
        made.append(item)
        if turn.is_over:
            await turn.begin_next()
    return made
