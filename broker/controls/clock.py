"""Controls of the cluster's time: `cluster.clock` freezes it, moves it forward and changes its speed.

Sessions, rebalances, transaction time-outs, delayed responses, retention, compaction, idle connections and faults follow this clock, and so
do LogAppendTime and the expiry of offsets. Clients keep their own clocks: a member whose session the cluster ends by `advance` learns that
from its next heartbeat, and a frozen clock lets no fetch time out, so that an empty fetch waits until records arrive or the time is moved.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

from ..control_errors import InvalidControl
from ..frozen_data import FrozenData
from .declaration import Blocking, Part, blocking, control
from .parameters import Duration, duration_ms, duration_text, moment_ms

if TYPE_CHECKING:
    from ..scheduling.turns import Turns

MAX_SPEED = 1_000_000
_SPEEDS: dict[float, str] = {0: "the time stands still", 1: "the time passes at its usual speed"}
MAX_MS = 253_402_300_799_999
"""The last millisecond of the year 9999, after which `datetime` cannot express the time."""
_SECONDS = {"weeks": 604_800, "days": 86_400, "hours": 3600, "minutes": 60, "seconds": 1, "milliseconds": 0.001}


class ClockState(FrozenData):
    """The cluster's time, and how many times as fast as the wall clock it passes (0 while it is frozen).

    `moving_to` is the time to which `advance` or `set` is moving the clock at the moment.
    """

    now: datetime
    speed: float
    moving_to: datetime | None = None


class AsyncClock(Part):
    """The time of an `AsyncCluster`."""

    @control("clock show", reads=True, owner="clock")
    async def state(self) -> ClockState:
        """Returns the cluster's time and its speed."""
        return self._state()

    @control("clock freeze", owner="clock")
    async def freeze(self) -> ClockState:
        """Stops the time. It then passes only by `advance` and `set`, until `run` is called."""
        return self._run_at(0)

    @control("clock run", owner="clock")
    async def run(self, speed: Annotated[float, "how many times as fast as the wall clock the time passes"] = 1) -> ClockState:
        """Lets the time pass, after `freeze` or at another speed: with a speed of 60, an hour passes in a minute."""
        if not 0 < speed <= MAX_SPEED:
            raise InvalidControl("speed", f"must be above 0 and at most {MAX_SPEED}, not {speed}; use freeze to stop the time")
        return self._run_at(speed)

    @control("clock advance", owner="clock", may_stop=True)
    async def advance(
        self,
        duration: Duration | None = None,
        *,
        weeks: Annotated[float, "weeks to add"] = 0,
        days: Annotated[float, "days to add"] = 0,
        hours: Annotated[float, "hours to add"] = 0,
        minutes: Annotated[float, "minutes to add"] = 0,
        seconds: Annotated[float, "seconds to add"] = 0,
        milliseconds: Annotated[float, "milliseconds to add"] = 0,
    ) -> ClockState:
        """Moves the time forward by a duration, such as 10m, and returns when all is done.

        Everything that becomes due in between happens at its own moment: time-outs, delayed responses, retention, compaction, faults.
        Fractions are allowed. If the caller gives up, by Ctrl-C or by ending the connection, the time stops where it is.
        """
        units = {"weeks": weeks, "days": days, "hours": hours, "minutes": minutes, "seconds": seconds, "milliseconds": milliseconds}
        if duration is None and not any(units.values()):
            raise InvalidControl("duration", "say how far to advance, such as minutes=10 or 10m")
        total_ms = 0.0 if duration is None else duration_ms("duration", duration)
        for name, value in units.items():
            total_ms += duration_ms(name, value * _SECONDS[name])
        await self._move_to("duration", self._server.now_ms + round(total_ms))
        return self._state()

    @control("clock set", owner="clock", may_stop=True)
    async def set(self, moment: Annotated[datetime | str, "the new time; without a time zone, it is local time"]) -> ClockState:
        """Moves the time forward to a moment, like `advance`. Going back is refused."""
        target_ms = moment_ms(moment)
        if target_ms < self._server.now_ms:
            given = moment if isinstance(moment, str) else moment.isoformat()
            raise InvalidControl("moment", f"{given} is before the cluster's time {self._state().now.isoformat()}")
        await self._move_to("moment", target_ms)
        return self._state()

    def _state(self) -> ClockState:
        server = self._server
        targets = server.clock.targets
        return ClockState(_moment(server.now_ms), server.clock.speed, _moment(max(targets)) if targets else None)

    def _run_at(self, speed: float) -> ClockState:
        server = self._server
        with server.turn("changing the speed of the clock"):
            server.core.tell("clock", _SPEEDS.get(speed, f"the time passes {speed:g} times as fast"))
            server.clock.run(speed)
            server.driver.set_alarm()
        return self._state()

    async def _move_to(self, parameter: str, target_ms: float) -> None:
        """Moves the time to each deadline in turn, and finally to `target_ms`. Other connections are served in between.

        If it is cancelled, the time stays where it is.
        """
        if target_ms > MAX_MS:
            raise InvalidControl(parameter, "the time cannot be moved beyond the year 9999")
        server = self._server
        core, clock = server.core, server.clock
        core.tell("clock", f"the time moves forward by {duration_text(target_ms - server.now_ms)}", to_ms=int(target_ms))
        clock.targets.append(target_ms)
        try:
            await self._move_over_deadlines(target_ms)
            with server.turn("moving the clock"):
                clock.move_to(target_ms)
            await _settle(core.turns)
        finally:
            clock.targets.remove(target_ms)
            server.driver.set_alarm()

    async def _move_over_deadlines(self, target_ms: float) -> None:
        from ..scheduling.turns import TurnTime

        server = self._server
        core, clock = server.core, server.clock
        turn = TurnTime(clock.seconds)
        while (deadline_ms := core.timers.next_event(target_ms)) is not None:
            with server.turn("moving the clock"):
                clock.move_to(deadline_ms)
                core.advance(deadline_ms)
            if core.turns.has_more or turn.is_over:
                core.timers.resume_checks()
                await _settle(core.turns)
                turn = TurnTime(clock.seconds)
        core.timers.resume_checks()


def _moment(now_ms: float) -> datetime:
    return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=now_ms)


async def _settle(turns: Turns[Any]) -> None:
    """Lets the event loop take turns until no work is put off."""
    import asyncio

    await asyncio.sleep(0)
    while turns.has_more:
        await asyncio.sleep(0)


class Clock(Blocking):
    """The time of a `Cluster`."""

    state = blocking(AsyncClock.state)
    freeze = blocking(AsyncClock.freeze)
    run = blocking(AsyncClock.run)
    advance = blocking(AsyncClock.advance)
    set = blocking(AsyncClock.set)
