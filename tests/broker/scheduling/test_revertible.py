"""A `RevertibleDict` takes back all changes of a step, and the order of its keys."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest

from odradek.broker.scheduling.revertible import RevertibleDict


def test_revert_restores_replaced_and_removes_added_keys() -> None:
    numbers: RevertibleDict[Any, Any] = RevertibleDict({"a": 1, "b": 2})
    numbers.begin()
    numbers["a"], numbers["c"] = 3, 4
    numbers["a"] = 5
    numbers.revert()
    assert list(numbers.items()) == [("a", 1), ("b", 2)]


def test_revert_restores_removed_keys_in_their_order() -> None:
    numbers: RevertibleDict[Any, Any] = RevertibleDict({"a": 1, "b": 2, "c": 3})
    numbers.begin()
    numbers["b"] = 4
    del numbers["a"]
    assert numbers.pop("b") == 4
    assert numbers.pop("x", None) is None
    numbers["a"] = 5
    numbers.revert()
    assert list(numbers.items()) == [("a", 1), ("b", 2), ("c", 3)]


def test_commit_keeps_changes() -> None:
    numbers: RevertibleDict[Any, Any] = RevertibleDict({"a": 1})
    numbers.begin()
    numbers["b"] = numbers.pop("a")
    numbers.commit()
    assert numbers == {"b": 1}
    numbers.begin()
    numbers.revert()
    assert numbers == {"b": 1}


@pytest.mark.parametrize("seed", range(20))
def test_revert_after_arbitrary_changes_restores_everything(seed: int) -> None:
    random = Random(seed)
    numbers: RevertibleDict[Any, Any] = RevertibleDict(dict.fromkeys(random.sample(range(10), 5), 0))
    before = list(numbers.items())
    numbers.begin()
    for _ in range(random.randrange(20)):
        key = random.randrange(10)
        if random.random() < 0.5:
            numbers[key] = random.random()
        else:
            numbers.pop(key, None)
    numbers.revert()
    assert list(numbers.items()) == before
