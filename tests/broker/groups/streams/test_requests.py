"""Errors of topics that could not be created."""

from __future__ import annotations

from odradek.broker.groups.streams.requests import MAX_ERRORS, CreationErrors
from odradek.broker.scheduling.timers import Timers


def test_error_is_returned_until_it_expires() -> None:
    timers = Timers(1000)
    errors = CreationErrors(timers)
    errors.add("t", "no room", 100)
    assert errors.of(["t", "u"]) == {"t": "no room"}
    timers.advance(1099)
    assert errors.of(["t"]) == {"t": "no room"}
    timers.advance(1100)
    assert errors.of(["t"]) == {}


def test_error_added_again_replaces_the_former_one() -> None:
    errors = CreationErrors(Timers(0))
    errors.add("t", "first", 100)
    errors.add("t", "second", 100)
    assert errors.of(["t"]) == {"t": "second"}


def test_error_that_expires_first_is_dropped_at_the_limit() -> None:
    errors = CreationErrors(Timers(0))
    names = [f"t{number}" for number in range(MAX_ERRORS + 1)]
    for number, name in enumerate(names):
        errors.add(name, "wrong", 1000 - number % 2 * 500 + number)
    assert names[1] not in errors.of(names)
    assert len(errors.of(names)) == MAX_ERRORS


def test_expired_errors_make_room_for_others() -> None:
    timers = Timers(0)
    errors = CreationErrors(timers)
    for number in range(MAX_ERRORS):
        errors.add(f"t{number}", "wrong", 10)
    timers.advance(10)
    errors.add("new", "wrong", 10)
    assert errors.of(["t0", "new"]) == {"new": "wrong"}
