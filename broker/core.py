"""Bytes and the time in, bytes and the next alarm out. No I/O: `server.py` moves the bytes and sets the alarm.

The core holds what concerns more than one connection: requests that wait, output that is to be written, and work that is put off to the
next turn. A turn is one callback of the event loop. Whatever takes long is put off piece by piece, so that others are served between:
a connection whose requests have used up their share of a turn, a handler that yields NEXT_TURN, and background work.

An exception never leaves the connection that it concerns: it is logged once, the connection is closed, and the turn goes on.
"""

from __future__ import annotations

import logging
from collections import deque
from collections.abc import Callable, Hashable
from functools import partial

from .cluster.state import Broker, ClusterState
from .connection import TURN_S, Connection, Parked
from .context import Client
from .scheduling.waiting import NEXT_TURN, Background, Wait

STAGING_BYTES = 256 * 1024

log = logging.getLogger("kafka.server.KafkaServer")


class Core:
    """The brokers of a cluster without their sockets. `clock` counts seconds; it limits how long a turn works."""

    def __init__(self, cluster: ClusterState, clock: Callable[[], float]) -> None:
        self.cluster = cluster
        self.timers = cluster.timers
        self.clock = clock
        # Receiving and parsing are one step, so all connections share the memory that the kernel writes to.
        self.staging = memoryview(bytearray(STAGING_BYTES))
        self.unflushed: list[Connection] = []
        self._waiting: dict[Hashable, dict[Parked, None]] = {}
        self._ready: list[Parked] = []
        self._put_off: deque[Callable[[], None]] = deque()
        cluster.wake = self.wake
        cluster.background = self.background

    def connect(
        self, broker: Broker, listener_name: str, host: str, port: int, on_output: Callable[[], None], on_abort: Callable[[], None]
    ) -> Connection:
        """A new connection of a client at host:port to one of the broker's listeners.

        `on_output` is called at the end of a turn in which there is output to write or the connection is to be closed, `on_abort` when the
        transport has to be closed at once because writing failed.
        """
        return Connection(self, broker, Client(listener_name, host, port), on_output, on_abort)

    def advance(self, now_ms: int) -> None:
        """Moves the time, fires the timers that are due and resumes the requests that they woke."""
        self.timers.advance(now_ms)
        self.run_ready()

    def wake(self, key: Hashable) -> None:
        """Every request that waits for `key` is resumed when the present request is done."""
        waiting = self._waiting.get(key)
        if waiting:
            self._ready += waiting
            for parked in waiting:
                if parked.wait is not None and parked.wait.woken is not None:
                    parked.wait.woken.append(key)

    def run_ready(self) -> None:
        """Resumes the requests that were woken, until none is left."""
        while self._ready:
            ready, self._ready = self._ready, []
            for parked in dict.fromkeys(ready):
                self._resume(parked)

    def _resume(self, parked: Parked) -> None:
        connection = parked.connection
        if connection.parked is parked:
            connection.parked = None
            connection.resume(parked)
            if connection.parked is not parked:
                self._withdraw(parked)
            connection.proceed()

    def flush(self) -> None:
        """Has every connection with new output written."""
        while self.unflushed:
            unflushed, self.unflushed = self.unflushed, []
            for connection in unflushed:
                try:
                    connection.on_output()
                except Exception as error:
                    connection.abort(error, "writing its answers")

    # Requests that wait

    def park(self, parked: Parked, wait: Wait) -> None:
        """Keeps a request until one of its keys is woken, its deadline has come or, for NEXT_TURN, the next turn."""
        parked.connection.parked = parked
        if wait is NEXT_TURN:
            self._withdraw(parked)
            parked.in_slices = True
            self.put_off(partial(self._resume, parked))
            return
        if parked.wait is not None and wait is parked.wait:
            return
        self._withdraw(parked)
        parked.wait = wait
        parked.keys = tuple(dict.fromkeys(wait.keys))
        for key in parked.keys:
            self._waiting.setdefault(key, {})[parked] = None
        if wait.deadline_ms is not None:
            self.timers.set(parked, wait.deadline_ms - self.timers.now_ms, lambda: self._ready.append(parked))

    def _withdraw(self, parked: Parked) -> None:
        """Has a request wait for nothing any more."""
        self.timers.cancel(parked)
        for key in parked.keys:
            waiting = self._waiting.get(key, {})
            waiting.pop(parked, None)
            if not waiting:
                self._waiting.pop(key, None)
        parked.keys, parked.wait = (), None

    def abandon(self, parked: Parked) -> None:
        """Forgets a request whose connection is gone; its handler's `finally` runs."""
        parked.connection.parked = None
        self._withdraw(parked)
        try:
            parked.generator.close()
        except Exception as error:
            parked.connection.log_failure(error, "withdrawing a request that waited")

    # The next turn

    @property
    def has_more(self) -> bool:
        """Whether anything is put off to the next turn."""
        return bool(self._put_off)

    def put_off(self, action: Callable[[], None]) -> None:
        """Has `action` called once in the next turn, or a later one while others that were put off before it take long."""
        self._put_off.append(action)

    def next_turn(self) -> None:
        """Takes up what was put off before this turn, in order and each once, for TURN_S seconds; the rest stays for the turn after."""
        end_s = self.clock() + TURN_S
        for _ in range(len(self._put_off)):
            self._put_off.popleft()()
            if self.clock() >= end_s:
                break
        self.run_ready()

    def background(self, work: Background) -> None:
        """Runs one slice of `work` in each of the following turns, until it ends. If it raises, it is logged and ends."""
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
