"""Drives the core of a cluster by an event loop: each callback is one turn, and one alarm rings at the next deadline.

`begin_turn` sets the cluster's time, then bytes are received or put-off work is done, and `after_turn` resumes woken requests, writes
output, sets the alarm and schedules the next turn. The rules themselves are in `connections/core.py`, without I/O.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from functools import partial
from math import inf
from types import ModuleType
from typing import cast

from ..connections.core import Core
from ..scheduling.clock import Clock

uvloop: ModuleType | None
try:
    import uvloop
except ImportError:  # on Windows, or without the extra; asyncio works too, but is slower
    uvloop = None


def new_event_loop() -> asyncio.AbstractEventLoop:
    """Returns a uvloop event loop if uvloop is installed, unless ODRADEK_LOOP=asyncio is set, and otherwise one of asyncio."""
    if uvloop is None or os.environ.get("ODRADEK_LOOP") == "asyncio":
        # The default loop of Windows reads ahead, which would overwrite the buffer that the connections share.
        return asyncio.SelectorEventLoop()
    return cast(asyncio.AbstractEventLoop, uvloop.new_event_loop())


class Driver:
    """Drives `core` on the running event loop. A restored state replaces the core.

    `before_alarm` is called before the timers that an alarm runs may change the cluster.
    """

    core: Core

    def __init__(self, before_alarm: Callable[[], object]) -> None:
        # The wall clock at start plus the monotonic clock: timers and record timestamps use one time, and it never jumps.
        self.clock = Clock(time.time() * 1000, time.monotonic)
        self._before_alarm = before_alarm
        self._loop = asyncio.get_running_loop()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_ms: float = inf
        self._next_turn: asyncio.Handle | None = None
        self._late_end: asyncio.Handle | None = None
        self._after_change: list[Callable[[], object]] = []

    @property
    def rest_s(self) -> float:
        """How many seconds ago the last turn began."""
        return time.monotonic() - self.core.now_s

    def begin_turn(self) -> None:
        """Sets the cluster's time to the current time and runs the timers that are due."""
        core, clock = self.core, self.clock
        core.now_s = now_s = time.monotonic()
        now_ms = int(clock.offset_ms + now_s * clock.ms_per_s)  # as `clock.now_ms`, without a call, because each turn reads it
        if now_ms > core.timers.now_ms:
            core.advance(now_ms)

    def after_turn(self) -> None:
        """Resumes woken requests, writes output, sets the alarm, and schedules the next turn if anything is put off."""
        core = self.core
        timers = core.timers
        try:
            core.run_ready()
            if timers.earliest_ms <= timers.now_ms:
                core.advance(timers.now_ms)  # a timer that was set in this turn without delay, such as a rebalance of a group's only member
            core.flush()
            if self._after_change:
                self.announce_change()
        finally:
            # The alarm is set after the flush, because the flush may start held requests, which may set deadlines. It is set in
            # `finally`, because without an alarm no timer would fire any more.
            if timers.earliest_ms < self._alarm_ms:
                self.set_alarm()
            if self._next_turn is None and core.turns.has_more:
                self._next_turn = self._loop.call_soon(self._take_next_turn)

    def end_turn_late(self) -> None:
        """Calls `after_turn` when the event loop has received from all sockets that are ready.

        The turns of these sockets then share one write to each file of a data directory.
        """
        if self._late_end is None:
            self._late_end = self._loop.call_soon(self._end_turns)

    def _end_turns(self) -> None:
        self._late_end = None
        self.after_turn()

    def set_alarm(self) -> None:
        """Sets the alarm to the next deadline, also after the time was moved or has got another speed.

        `_alarm_ms` is that deadline even if there is no alarm because the time is frozen.
        """
        deadline_ms = self.core.timers.next_deadline()
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._alarm_ms = inf if deadline_ms is None else deadline_ms
        delay_s = None if deadline_ms is None else self.clock.seconds_until(deadline_ms)
        if delay_s is not None:
            # One millisecond later, because the clock may still be before the deadline if the alarm comes early.
            self._alarm = self._loop.call_later(delay_s + 0.001, self._ring)

    def _ring(self) -> None:
        self._alarm, self._alarm_ms = None, inf
        self._before_alarm()
        self.begin_turn()
        self.after_turn()

    def _take_next_turn(self) -> None:
        self._next_turn = None
        self.begin_turn()
        self.core.next_turn()
        self.after_turn()

    def next_change(self) -> asyncio.Future[None]:
        """Returns a future that is done after the next turn, when the cluster may have changed."""
        future = self._loop.create_future()
        self.call_after_change(partial(_complete, future))
        return future

    def call_after_change(self, callback: Callable[[], object]) -> None:
        """Calls a function once at the end of the next turn, when the cluster may have changed. It must not raise an exception."""
        self._after_change.append(callback)

    def cancel(self) -> None:
        """Cancels the alarm, the next turn and the late end of turns."""
        for handle in (self._alarm, self._next_turn, self._late_end):
            if handle is not None:
                handle.cancel()

    def announce_change(self) -> None:
        """Calls the functions that wait for a change."""
        waiting, self._after_change = self._after_change, []
        for callback in waiting:
            callback()


def _complete(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
