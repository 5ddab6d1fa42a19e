from __future__ import annotations

from functools import partial
from math import inf

import pytest

from odradek.broker.scheduling.timers import Check, Timers


def test_timers_fire_in_order_at_their_deadlines() -> None:
    timers = Timers(1000)
    fired: list[tuple[str, int]] = []
    for name, delay in (("b", 20), ("a", 10), ("c", 20)):
        timers.set(name, delay, partial(lambda name: fired.append((name, timers.now_ms)), name))
    assert timers.next_deadline() == 1010
    timers.advance(1019)
    assert fired == [("a", 1010)]
    assert timers.now_ms == 1019
    timers.advance(1100)
    assert fired == [("a", 1010), ("b", 1020), ("c", 1020)]
    assert timers.next_deadline() is None
    assert len(timers) == 0


def test_set_of_a_set_key_replaces_it() -> None:
    timers, fired = Timers(0), []
    timers.set("session", 10, lambda: fired.append("first"))
    timers.set("session", 30, lambda: fired.append("second"))
    timers.advance(20)
    assert fired == []
    assert "session" in timers
    timers.advance(30)
    assert fired == ["second"]


def test_cancel_stops_a_timer_and_accepts_unknown_keys() -> None:
    timers, fired = Timers(0), []
    timers.set("session", 10, lambda: fired.append("session"))
    timers.cancel("session")
    timers.cancel("nobody")
    timers.advance(100)
    assert fired == []


def test_action_may_set_a_timer_due_in_the_same_step() -> None:
    timers, fired = Timers(0), []

    def beat() -> None:
        fired.append(timers.now_ms)
        timers.set("beat", 10, beat)

    timers.set("beat", 10, beat)
    timers.advance(35)
    assert fired == [10, 20, 30]


def test_earliest_deadline_is_a_lower_bound_without_a_search() -> None:
    timers = Timers(0)
    assert timers.earliest_ms == inf
    timers.set("a", 20, lambda: None)
    timers.set("b", 10, lambda: None)
    assert timers.earliest_ms == 10
    timers.cancel("b")
    assert timers.earliest_ms == 10
    assert timers.next_deadline() == timers.earliest_ms == 20
    timers.advance(20)
    assert timers.earliest_ms == inf


def test_earliest_deadline_follows_a_timer_taken_back() -> None:
    timers = Timers(0)
    timers.set("a", 10, lambda: None)
    with pytest.raises(RuntimeError), timers.reverted_on_failure():
        timers.cancel("a")
        assert timers.next_deadline() is None
        raise RuntimeError
    assert timers.earliest_ms == 10


def test_time_never_goes_back() -> None:
    timers, fired = Timers(1000), []
    timers.advance(500)
    assert timers.now_ms == 1000
    timers.set("late", -50, lambda: fired.append(timers.now_ms))
    timers.advance(1000)
    assert fired == [1000]


def test_heap_of_renewed_timers_is_bounded() -> None:
    timers = Timers(0)
    for _ in range(10_000):
        timers.set("session", 1000, lambda: None)
    assert len(timers._heap) <= 70
    assert timers.next_deadline() == 1000


def test_taken_back_on_failure_restores_deadlines() -> None:
    timers = Timers(0)
    fired: list[object] = []
    for name in ("kept", "moved", "cancelled"):
        timers.set(name, 10, partial(lambda name: fired.append((name, timers.now_ms)), name))
    with pytest.raises(ZeroDivisionError), timers.reverted_on_failure():
        timers.set("moved", 50, lambda: fired.append("moved"))
        timers.set("moved", 60, lambda: fired.append("moved"))
        timers.set("new", 5, lambda: fired.append("new"))
        timers.cancel("cancelled")
        raise ZeroDivisionError
    timers.advance(100)
    assert fired == [("kept", 10), ("moved", 10), ("cancelled", 10)]


def test_taken_back_on_failure_keeps_what_succeeds() -> None:
    timers, fired = Timers(0), []
    timers.set("cancelled", 10, lambda: fired.append("cancelled"))
    with timers.reverted_on_failure():
        timers.cancel("cancelled")
        timers.set("new", 5, lambda: fired.append("new"))
    timers.set("later", 6, lambda: fired.append("later"))
    timers.advance(100)
    assert fired == ["new", "later"]


class Counted:
    """A check every 10 ms that counts its runs, and is due from `due_ms` on until it has run."""

    def __init__(self, timers: Timers, due_ms: float) -> None:
        self.runs: list[int] = []
        self.due_ms = due_ms
        self.timers = timers
        self.check = Check(self.run, lambda: 10, lambda: self.due_ms)
        timers.set("check", 10, self.check)

    def run(self) -> None:
        self.runs.append(self.timers.now_ms)
        if self.timers.now_ms >= self.due_ms:
            self.due_ms = inf
        self.timers.set("check", 10, self.check)


def test_check_runs_at_its_first_interval_when_it_is_due() -> None:
    timers = Timers(0)
    counted = Counted(timers, due_ms=1_000_001)
    timers.advance(10_000_000)
    assert counted.runs == [1_000_010]
    assert timers.remaining() == [("check", 10)]


def test_check_keeps_its_intervals_when_it_is_postponed() -> None:
    timers = Timers(3)
    counted = Counted(timers, due_ms=inf)
    timers.advance(1_000_000)
    assert (counted.runs, timers.next_deadline()) == ([], 1_000_003)
    timers.advance(1_000_003)
    assert (counted.runs, timers.next_deadline()) == ([], 1_000_013)
    counted.due_ms = 0
    timers.advance(1_000_013)
    assert counted.runs == [1_000_013]


def test_check_is_asked_again_after_another_timer() -> None:
    timers = Timers(0)
    counted = Counted(timers, due_ms=inf)
    timers.set("event", 55, lambda: setattr(counted, "due_ms", 0))
    timers.advance(1_000_000)
    assert counted.runs == [60]


def test_resume_checks_returns_checks_to_their_intervals() -> None:
    timers = Timers(0)
    Counted(timers, due_ms=500)
    assert timers.next_event(100) is None
    assert timers.next_event(1000) == 500
    timers.resume_checks()
    assert timers.next_deadline() == 10


def test_cancelled_check_is_not_resumed() -> None:
    timers = Timers(0)
    Counted(timers, due_ms=inf)
    timers.set("event", 55, lambda: timers.cancel("check"))
    timers.advance(100)
    assert "check" not in timers
