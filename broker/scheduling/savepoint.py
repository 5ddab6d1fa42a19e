"""Reverts a failed step of a group or a transaction, so that a refused request changes nothing.

Kafka's coordinators revert their timeline data structures in the same way if the records of a step cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .revertible import RevertibleDict
from .timers import Timers

_ABSENT = object()
_CONTAINERS = (dict, set, list)


@contextmanager
def reverted_on_failure(timers: Timers, *parts: object) -> Iterator[None]:
    """Restores the attributes of the objects `parts`, and the deadlines of the timers, if the body raises.

    Attributes that are containers are copied, but their elements are not, so every object that the step changes must be one of `parts`.
    A `RevertibleDict` is not copied, because it reverts its own changes.
    """
    revertible: list[RevertibleDict[Any, Any]] = []
    saved = [(part, _values(part, revertible)) for part in parts]
    try:
        with timers.reverted_on_failure():
            yield
    except BaseException:
        for part, values in saved:
            _restore(part, values)
        for value in revertible:
            value.revert()
        raise
    for value in revertible:
        value.commit()


def _values(part: object, revertible: list[RevertibleDict[Any, Any]]) -> dict[str, Any]:
    """Returns the attributes of an object, with copies of containers. Adds each `RevertibleDict` to `revertible` and starts its step."""
    # Abstract base classes such as Mapping have empty __slots__, which their subclasses inherit.
    slots = getattr(part, "__slots__", None)
    values = {name: getattr(part, name, _ABSENT) for name in slots} if slots else dict(vars(part))
    for name, value in values.items():
        if isinstance(value, RevertibleDict):
            value.begin()
            revertible.append(value)
        elif isinstance(value, _CONTAINERS):
            values[name] = value.copy()
    return values


def _restore(part: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if value is not _ABSENT:
            setattr(part, name, value)
        elif hasattr(part, name):
            delattr(part, name)
