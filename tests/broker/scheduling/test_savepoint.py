"""A failed step restores attributes and timers."""

from __future__ import annotations

import pytest

from odradek.broker.scheduling.savepoint import taken_back_on_failure
from odradek.broker.scheduling.timers import Timers


class Slotted:
    __slots__ = ("items", "unset")
    unset: int

    def __init__(self) -> None:
        self.items = {1: 2}


class Plain:
    def __init__(self) -> None:
        self.number, self.names = 1, {"a"}


def change(slotted: Slotted, plain: Plain, timers: Timers) -> None:
    slotted.items[3] = 4
    slotted.unset = 5
    plain.number = 2
    plain.names.add("b")
    timers.set("t", 1, lambda: None)


def test_taken_back_on_failure_restores_attributes() -> None:
    slotted, plain, timers = Slotted(), Plain(), Timers(0)
    with pytest.raises(ZeroDivisionError), taken_back_on_failure(timers, slotted, plain):
        change(slotted, plain, timers)
        raise ZeroDivisionError
    assert (slotted.items, hasattr(slotted, "unset"), plain.number, plain.names) == ({1: 2}, False, 1, {"a"})
    assert "t" not in timers


def test_taken_back_on_failure_keeps_what_succeeds() -> None:
    slotted, plain, timers = Slotted(), Plain(), Timers(0)
    with taken_back_on_failure(timers, slotted, plain):
        change(slotted, plain, timers)
    assert (slotted.items, slotted.unset, plain.number, plain.names) == ({1: 2, 3: 4}, 5, 2, {"a", "b"})
    assert "t" in timers
