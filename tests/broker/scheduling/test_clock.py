"""The clock of a cluster: running, frozen, faster, and moved forward."""

from __future__ import annotations

from odradek.broker.scheduling.clock import Clock


class Monotonic:
    """Seconds that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def test_clock_passes_like_its_source() -> None:
    source = Monotonic()
    clock = Clock(5000, source)
    source.now += 1.5
    assert (clock.now_ms, clock.speed) == (6500, 1)
    assert clock.seconds_until(7500) == 1
    assert clock.seconds_until(6000) == 0


def test_frozen_clock_stands_still_until_it_is_moved() -> None:
    source = Monotonic()
    clock = Clock(5000.7, source)
    clock.run(0)
    source.now += 60
    assert (clock.now_ms, clock.speed, clock.seconds_until(5001)) == (5000, 0, None)
    clock.move_to(9000)
    assert clock.now_ms == 9000
    assert clock.seconds_until(9000) == 0
    clock.run(1)
    source.now += 1
    assert clock.now_ms == 10_000


def test_fast_clock_passes_a_minute_per_second() -> None:
    source = Monotonic()
    clock = Clock(0, source)
    clock.run(60)
    source.now += 2
    assert clock.now_ms == 120_000
    assert clock.seconds_until(180_000) == 1


def test_clock_moved_to_the_past_stays() -> None:
    clock = Clock(5000, Monotonic())
    clock.move_to(1000)
    assert clock.now_ms == 5000
