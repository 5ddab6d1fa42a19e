"""The two queues of a cluster: requests that wait for a key, and work that is put off to the next turn of the event loop.

A turn is one callback of the event loop. No callback may run for long, so long work is divided into pieces, each of which is
queued for the next turn: the remaining requests of a connection that has used up its share of a turn, a handler that yields
NEXT_TURN, and background work. `next_turn` runs the work that was queued before the call, in order, until TURN_S seconds have passed.

A `Turns` is created before the cluster and the core and is passed to both, so that the cluster wakes requests and the core resumes
them without either holding a reference to the other.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Generator, Hashable
from functools import partial
from types import coroutine
from typing import Generic, Protocol, TypeVar

from .timers import Timers
from .waiting import Background, Wait

TURN_S = 0.0005

log = logging.getLogger("kafka.server.KafkaServer")


class Waiter(Hashable, Protocol):
    """A request that may wait. `wait` is None while it is not registered, and `keys` are the distinct keys of `wait`."""

    wait: Wait | None
    keys: tuple[Hashable, ...]


W = TypeVar("W", bound=Waiter)


class TurnTime:
    """The time that a coroutine may take in one turn of the event loop. `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._end_s = clock() + TURN_S

    @property
    def is_over(self) -> bool:
        """Whether the coroutine has taken TURN_S seconds."""
        return self._clock() > self._end_s

    async def begin_next(self) -> None:
        """Lets other work have a turn, and begins the next one."""
        await _yield_turn()
        self._end_s = self._clock() + TURN_S


@coroutine
def _yield_turn() -> Generator[None, None, None]:
    """Does what `asyncio.sleep(0)` does, because this folder does not depend on the kind of event loop."""
    yield


class Turns(Generic[W]):
    """Waiting requests by key, woken requests, and the queue for the next turn. `clock` returns seconds and limits a turn's work."""

    def __init__(self, timers: Timers, clock: Callable[[], float]) -> None:
        self.timers = timers
        self.clock = clock
        self._waiting: dict[Hashable, dict[W, None]] = {}
        self.woken: list[W] = []
        """The requests to resume after the current one, in the order in which they were woken. A request may occur twice."""
        self._put_off: deque[Callable[[], None]] = deque()

    # Waiting requests

    def register(self, waiter: W, wait: Wait) -> None:
        """Registers `waiter` to be woken by each key of `wait` and at its deadline. Registering the same `wait` again changes nothing."""
        if waiter.wait is not None:
            if wait is waiter.wait:
                return
            self.withdraw(waiter)
        waiter.wait = wait
        waiter.keys = tuple(dict.fromkeys(wait.keys))
        for key in waiter.keys:
            self._waiting.setdefault(key, {})[waiter] = None
        if wait.deadline_ms is not None:
            self.timers.set(waiter, wait.deadline_ms - self.timers.now_ms, lambda: self.woken.append(waiter))

    def withdraw(self, waiter: W) -> None:
        """Removes `waiter` from all its keys and cancels its deadline."""
        self.timers.cancel(waiter)
        for key in waiter.keys:
            waiting = self._waiting.get(key, {})
            waiting.pop(waiter, None)
            if not waiting:
                self._waiting.pop(key, None)
        waiter.keys, waiter.wait = (), None

    def wake(self, key: Hashable) -> None:
        """Wakes every request that waits for `key`. They are resumed after the current request."""
        waiting = self._waiting.get(key)
        if waiting:
            self.woken += waiting
            for waiter in waiting:
                if waiter.wait is not None and waiter.wait.woken is not None:
                    waiter.wait.woken.append(key)

    def take_woken(self) -> list[W]:
        """Empties `woken` and returns its requests in order, each once."""
        woken, self.woken = self.woken, []
        return list(dict.fromkeys(woken))

    # The next turn

    @property
    def has_more(self) -> bool:
        """Whether anything is queued for the next turn."""
        return bool(self._put_off)

    def put_off(self, action: Callable[[], None]) -> None:
        """Queues `action` for the next turn. It runs in a later turn if the actions that were queued before it use up the time."""
        self._put_off.append(action)

    def next_turn(self) -> None:
        """Runs the actions that were queued before this call, in order, until TURN_S seconds have passed; the rest stays in the queue."""
        end_s = self.clock() + TURN_S
        for _ in range(len(self._put_off)):
            self._put_off.popleft()()
            if self.clock() >= end_s:
                break

    def background(self, work: Background) -> None:
        """Runs one slice of `work` in each of the following turns until it ends. An exception ends it and is logged."""
        self.put_off(partial(self._run_slice, work))

    def _run_slice(self, work: Background) -> None:
        try:
            next(work)
        except StopIteration:
            return
        except Exception:
            log.exception("background work has failed: %r", work)
        else:
            self.background(work)
