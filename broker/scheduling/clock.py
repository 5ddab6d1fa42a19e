"""The time of a cluster, which users can freeze, move forward and speed up.

Time is a linear function of a monotonic clock, `offset_ms + seconds * ms_per_s`: 1000 ms per second while it runs like the wall clock, 0
while it is frozen. It never goes back, because timers, record timestamps and sessions depend on that.
"""

from __future__ import annotations

from collections.abc import Callable

MS_PER_S = 1000


class Clock:
    """A clock that shows `now_ms` (milliseconds since the Unix epoch) when it is created. `seconds` is a monotonic clock."""

    __slots__ = ("ms_per_s", "offset_ms", "seconds", "targets")

    def __init__(self, now_ms: float, seconds: Callable[[], float]) -> None:
        self.seconds = seconds
        self.ms_per_s: float = MS_PER_S
        self.offset_ms = now_ms - seconds() * MS_PER_S
        self.targets: list[float] = []
        """The times (ms) to which users are moving the clock at present."""

    @property
    def now_ms(self) -> int:
        """The current time."""
        return int(self.offset_ms + self.seconds() * self.ms_per_s)

    @property
    def speed(self) -> float:
        """How many times as fast as the wall clock the time passes; 0 while it is frozen."""
        return self.ms_per_s / MS_PER_S

    def run(self, speed: float) -> None:
        """Lets the time pass `speed` times as fast as the wall clock from now on; with 0 it stands still."""
        seconds = self.seconds()
        now_ms = self.offset_ms + seconds * self.ms_per_s
        self.ms_per_s = speed * MS_PER_S
        # A frozen clock shows the same millisecond for all of its time, so the fraction is dropped.
        self.offset_ms = now_ms - seconds * self.ms_per_s if speed else float(int(now_ms))

    def move_to(self, now_ms: float) -> None:
        """Moves the time forward to `now_ms`. Does nothing if it is later already."""
        self.offset_ms += max(0, now_ms - (self.offset_ms + self.seconds() * self.ms_per_s))

    def seconds_until(self, deadline_ms: int) -> float | None:
        """Returns the seconds of the monotonic clock until the time is `deadline_ms`; None while it is frozen before that."""
        missing_ms = deadline_ms - (self.offset_ms + self.seconds() * self.ms_per_s)
        if missing_ms <= 0:
            return 0.0
        return missing_ms / self.ms_per_s if self.ms_per_s else None
