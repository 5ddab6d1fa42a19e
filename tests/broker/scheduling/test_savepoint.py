"""A failed step restores attributes and timers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from odradek.broker.scheduling.revertible import RevertibleDict
from odradek.broker.scheduling.savepoint import reverted_on_failure
from odradek.broker.scheduling.timers import Timers


class Slotted:
    __slots__ = ("items", "unset")
    unset: int

    def __init__(self) -> None:
        self.items = {1: 2}


class Plain:
    def __init__(self) -> None:
        self.number, self.names = 1, {"a"}
        self.numbers: RevertibleDict[str, Any] = RevertibleDict()


def change(slotted: Slotted, plain: Plain, timers: Timers) -> None:
    slotted.items[3] = 4
    slotted.unset = 5
    plain.number = 2
    plain.names.add("b")
    timers.set("t", 1, lambda: None)


def test_taken_back_on_failure_restores_attributes() -> None:
    slotted, plain, timers = Slotted(), Plain(), Timers(0)
    with pytest.raises(ZeroDivisionError), reverted_on_failure(timers, slotted, plain):
        change(slotted, plain, timers)
        raise ZeroDivisionError
    assert (slotted.items, hasattr(slotted, "unset"), plain.number, plain.names) == ({1: 2}, False, 1, {"a"})
    assert "t" not in timers


def test_taken_back_on_failure_keeps_what_succeeds() -> None:
    slotted, plain, timers = Slotted(), Plain(), Timers(0)
    with reverted_on_failure(timers, slotted, plain):
        change(slotted, plain, timers)
    assert (slotted.items, slotted.unset, plain.number, plain.names) == ({1: 2, 3: 4}, 5, 2, {"a", "b"})
    assert "t" in timers


class Names(Mapping[str, int]):
    """A class that inherits empty `__slots__`, as subclasses of abstract base classes do."""

    def __init__(self) -> None:
        self.numbers = {"a": 1}

    def __getitem__(self, name: str) -> int:
        return self.numbers[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.numbers)

    def __len__(self) -> int:
        return len(self.numbers)


def test_taken_back_on_failure_restores_subclass_of_mapping() -> None:
    names = Names()
    with pytest.raises(ZeroDivisionError), reverted_on_failure(Timers(0), names):
        names.numbers["b"] = 2
        raise ZeroDivisionError
    assert dict(names) == {"a": 1}


def test_taken_back_on_failure_reverts_revertible_dict() -> None:
    plain, timers = Plain(), Timers(0)
    numbers = plain.numbers = RevertibleDict({"a": 1})
    with pytest.raises(ZeroDivisionError), reverted_on_failure(timers, plain):
        numbers["b"] = 2
        plain.numbers = RevertibleDict({"c": 3})
        raise ZeroDivisionError
    assert plain.numbers is numbers and numbers == {"a": 1}
    with reverted_on_failure(timers, plain):
        numbers["b"] = 2
    assert numbers == {"a": 1, "b": 2}
