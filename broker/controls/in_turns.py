"""Long work of controls in turns of the event loop, so that a large result does not delay the clients of the brokers."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from typing import TypeVar

from ..scheduling.turns import TURN_S

T = TypeVar("T")


async def in_turns(items: Iterable[T]) -> list[T]:
    """Returns the items as a list. Other work gets a turn whenever making them has taken TURN_S."""
    loop = asyncio.get_running_loop()
    made: list[T] = []
    end_s = loop.time() + TURN_S
    for item in items:
        made.append(item)
        if loop.time() > end_s:
            await asyncio.sleep(0)
            end_s = loop.time() + TURN_S
    return made
