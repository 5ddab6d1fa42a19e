"""The time that all readers of streams may take from the event loop together, however many they are."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ...scheduling.turns import TURN_S


class Budget:
    """Lets readers work one after the other, in the order in which they ask, at most half of the time."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._worked_s = 0.0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[float]:
        """Waits for the turn of the caller, whose body must not wait. The value is the time of the loop at which it should end."""
        loop = asyncio.get_running_loop()
        async with self._lock:
            began_s = loop.time()
            try:
                yield began_s + TURN_S
            finally:
                self._worked_s += loop.time() - began_s
            pause_s = self._worked_s if self._worked_s >= TURN_S else 0.0
            self._worked_s -= pause_s
            await asyncio.sleep(pause_s)
