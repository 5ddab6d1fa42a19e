"""The methods of a blocking cluster for asynchronous tests: each call runs in a thread, so that the event loop of the test goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .. import Cluster


class Awaitable:
    """An object whose methods are those of another one, to be awaited. Other attributes are passed on as they are."""

    def __init__(self, blocking: Cluster | object) -> None:
        self._blocking = blocking

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._blocking, name)
        if name == "clock":
            return Awaitable(value)
        return _awaited(value) if callable(value) else value


def _awaited(method: Callable[..., Any]) -> Callable[..., Any]:
    async def call(*args: Any, **kwargs: Any) -> Any:
        return await asyncio.to_thread(method, *args, **kwargs)

    return call
