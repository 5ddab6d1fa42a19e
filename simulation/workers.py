"""The tasks of a program that a run ends and starts again, each on a host of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextvars import copy_context
from typing import Any

from .errors import SimulationError
from .loop import SimulatedLoop, SimulatedTask
from .network import SimulatedHost, here

Work = Callable[[], Coroutine[Any, Any, Any]]


class Worker:
    """A part of the program that runs on a host of its own, such as one instance of a service."""

    def __init__(self, loop: SimulatedLoop, name: str, work: Work) -> None:
        self._loop, self._work = loop, work
        self.name = name
        self.starts = 0
        self.start()

    def __repr__(self) -> str:
        return f"<Worker {self.name}>"

    def start(self) -> None:
        """Starts the work on a host that has just been started. Does nothing if it is running."""
        if self.starts and self.is_running:
            return
        self.starts += 1
        self.place = place = SimulatedHost(self.name)
        context = copy_context()
        context.run(here.set, place)
        self.task = self._loop.create_task(self._work(), name=f"{self.name} ({self.starts})", context=context)
        self.task.add_done_callback(lambda task: self._ended(task, place))

    @property
    def is_running(self) -> bool:
        """Whether the work has been started and has not ended."""
        return not self.task.done() and self.place.is_alive

    def _ended(self, task: asyncio.Task[Any], place: SimulatedHost) -> None:
        """Ends the run if the work has failed by itself, and not because its host was killed."""
        if not place.is_alive or self._loop.is_ending or (task.cancelled() and task.cancelling()):
            return
        if task.cancelled():
            text = "ended with a CancelledError, although nobody has cancelled it; catch asyncio.CancelledError of what it has awaited"
            self._loop.fail(SimulationError(f"worker {self.name} has {text}"))
        elif (error := task.exception()) is not None:
            self._loop.fail(error)

    def kill(self) -> None:
        """Ends the work as SIGKILL does: what it still does while it is cancelled has no effect outside."""
        self._loop.network.kill(self.place)
        for task in self._loop.tasks():
            if isinstance(task, SimulatedTask) and task.place is self.place:
                task.cancel()

    async def stop(self) -> None:
        """Ends the work as SIGTERM does: its task is cancelled, and this returns when it has ended."""
        self.task.cancel()
        await asyncio.wait([self.task])
