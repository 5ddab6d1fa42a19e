"""Classes that take the places of `datetime` and `date` during a run, because theirs read the clock of the machine in C.

Their instances are those of the original classes, so that only `now`, `utcnow` and `today` differ.
"""

from __future__ import annotations

import copyreg
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, tzinfo
from typing import Any


class _StandIn(type):
    """The type of a class that stands for another one. Classes that derive from it are ordinary ones."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        original = vars(cls).get("stands_for")
        return super().__call__(*args, **kwargs) if original is None else original(*args, **kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        original = vars(cls).get("stands_for")
        return super().__instancecheck__(instance) if original is None else isinstance(instance, original)

    def __subclasscheck__(cls, subclass: type) -> bool:
        original = vars(cls).get("stands_for")
        return super().__subclasscheck__(subclass) if original is None else issubclass(subclass, original)


class SimulatedDatetime(datetime, metaclass=_StandIn):
    """Stands for `datetime`."""

    stands_for = datetime

    @classmethod
    def now(cls, tz: tzinfo | None = None) -> Any:
        return datetime.fromtimestamp(time.time(), tz)

    @classmethod
    def utcnow(cls) -> Any:
        return datetime.fromtimestamp(time.time(), UTC).replace(tzinfo=None)

    @classmethod
    def today(cls) -> Any:
        return cls.now()


class SimulatedDate(date, metaclass=_StandIn):
    """Stands for `date`."""

    stands_for = date

    @classmethod
    def today(cls) -> Any:
        return date.fromtimestamp(time.time())  # noqa: DTZ012  (as `date.today` does)


STAND_INS: dict[Callable[..., Any], Callable[..., Any]] = {datetime: SimulatedDatetime, date: SimulatedDate}
"""The class that takes the place of each original."""
_KINDS: dict[str, type[date]] = {"datetime": datetime, "date": date}


@contextmanager
def picklable_dates() -> Iterator[None]:
    """Lets dates be pickled until the end of the block, because pickle refuses classes whose names mean another one."""
    before = {kind: copyreg.dispatch_table.get(kind) for kind in _KINDS.values()}
    for kind in _KINDS.values():
        copyreg.pickle(kind, _reduce)
    try:
        yield
    finally:
        for kind, reduce in before.items():
            if reduce is None:
                del copyreg.dispatch_table[kind]
            else:
                copyreg.pickle(kind, reduce)


def _reduce(value: date) -> tuple[Any, ...]:
    return _restore, (type(value).__name__, *value.__reduce_ex__(4)[1])


def _restore(name: str, *arguments: Any) -> date:
    return _KINDS[name](*arguments)
