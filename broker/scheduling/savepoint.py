"""Reverts a failed step of a group or a transaction, so that a refused request changes nothing.

Kafka's coordinators revert their timeline data structures in the same way if the records of a step cannot be written.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .timers import Timers

_ABSENT = object()


@contextmanager
def taken_back_on_failure(timers: Timers, *parts: object) -> Iterator[None]:
    """Restores the attributes of the objects `parts`, and the timers, if the body of the `with` raises.

    Attributes that are dicts, sets or lists are copied, but not the objects in them. An object that is changed in place must be passed
    as one of the parts.
    """
    saved = [(part, _values(part)) for part in parts]
    try:
        with timers.taken_back_on_failure():
            yield
    except BaseException:
        for part, values in saved:
            _restore(part, values)
        raise


def _values(part: object) -> dict[str, Any]:
    names = getattr(part, "__slots__", None) or vars(part)
    values = {name: getattr(part, name, _ABSENT) for name in names}
    return {name: value.copy() if isinstance(value, dict | set | list) else value for name, value in values.items()}


def _restore(part: object, values: dict[str, Any]) -> None:
    for name, value in values.items():
        if value is not _ABSENT:
            setattr(part, name, value)
        elif hasattr(part, name):
            delattr(part, name)
