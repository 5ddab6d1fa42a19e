"""SIGTERM and SIGINT: the first one ends the cluster in order, the second one ends the process at once."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import Callable
from types import FrameType


def end_by_signals(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Sets `ended` at the first SIGTERM or SIGINT. The second one ends the process at once, even if the event loop is blocked."""

    def first(number: int, frame: object) -> None:
        _handle_signals(lambda number, frame: os._exit(128 + number))
        loop.call_soon_threadsafe(ended.set)

    _handle_signals(first)


def _handle_signals(handler: Callable[[int, FrameType | None], object]) -> None:
    # The event loop's own handlers would need a loop that is not blocked, and the system's default handlers do nothing in the first
    # process of a container (PID 1).
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, handler)
