"""Ends a run in which one step of the event loop does not return, such as `while True: pass`.

The processor time is measured, so that a busy machine ends no run. Python delivers signals to the main thread only; in other threads,
nothing watches.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .errors import Livelock

if TYPE_CHECKING:
    from .loop import SimulatedLoop

MAX_STEP_S = 0.9
"""A step takes at most this processor time, and at least half of it."""


@contextmanager
def watch_for_endless_steps(loop: SimulatedLoop) -> Iterator[None]:
    """Raises Livelock in a step of the loop that takes too long, until the end of the block."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return
    seen = -1

    def look(*_: object) -> None:
        nonlocal seen
        if seen == loop.iterations and loop.failure is None:
            error = Livelock(
                f"one step of the program has taken {MAX_STEP_S / 2} s of processor time without an `await` that waits; let it wait, for "
                "example by `await asyncio.sleep(0.01)`, and import large modules before the run"
            )
            loop.fail(error)
            raise error
        seen = loop.iterations

    before = signal.signal(signal.SIGVTALRM, look)
    signal.setitimer(signal.ITIMER_VIRTUAL, MAX_STEP_S / 2, MAX_STEP_S / 2)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)
