from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import subprocess
import sys
from collections.abc import Callable
from threading import Barrier, Thread
from typing import Any

import pytest

from odradek.broker.frozen_data import FrozenData


class Point(FrozenData):
    """A point."""

    x: int
    y: int = 0
    names: list[str] = dataclasses.field(default_factory=list, compare=False)


def fresh(**options: bool) -> type[Any]:
    """Returns a class that has not been used."""

    class Fresh(FrozenData, **options):
        x: int
        y: int = 0

    return Fresh


def is_complete(cls: type[Any]) -> bool:
    return "__init__" in vars(cls)


def test_class_is_completed_by_its_first_object() -> None:
    cls = fresh()
    assert not is_complete(cls)
    assert cls(1).y == 0
    assert is_complete(cls)


@pytest.mark.parametrize(
    "use",
    [
        dataclasses.is_dataclass,
        dataclasses.fields,
        inspect.signature,
        lambda cls: cls.__match_args__,
        lambda cls: repr(object.__new__(cls)).startswith("<"),
    ],
)
def test_class_is_completed_by_other_uses(use: Callable[[Any], object]) -> None:
    cls = fresh(repr=False)
    use(cls)
    assert is_complete(cls)


def test_objects_are_those_of_a_frozen_dataclass() -> None:
    point = Point(1, y=2)
    assert (repr(point), point, hash(point)) == ("Point(x=1, y=2, names=[])", Point(1, 2, ["other"]), hash((1, 2)))
    assert point != Point(1)
    assert dataclasses.replace(point, x=3) == Point(3, 2)
    assert dataclasses.asdict(point) == {"x": 1, "y": 2, "names": []}
    assert list(inspect.signature(Point).parameters) == ["x", "y", "names"]
    assert copy.deepcopy(point) == point
    match point:
        case Point(x, 2):
            assert x == 1
        case _:
            pytest.fail("the class has no __match_args__")
    with pytest.raises(dataclasses.FrozenInstanceError):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        del point.y
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        Point()  # type: ignore[call-arg]


def test_object_from_another_process_completes_its_class() -> None:
    """Pickle makes objects without `__init__`."""
    code = f"""
import pickle
from tests.broker.test_frozen_data import Point
point = pickle.loads({pickle.dumps(Point(1, 2))!r})
print(point, point == pickle.loads(pickle.dumps(point)), "__init__" in vars(Point))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "Point(x=1, y=2, names=[]) True True\n"


def test_options_leave_out_what_dataclass_leaves_out() -> None:
    cls = fresh(eq=False, repr=False, kw_only=True)
    first, second = cls(x=1), cls(x=1)
    assert first != second and len({first, second}) == 2
    assert repr(first).startswith("<")
    assert cls.__match_args__ == ()
    with pytest.raises(TypeError):
        cls(1)


def test_base_itself_is_no_dataclass() -> None:
    assert not dataclasses.is_dataclass(FrozenData)
    with pytest.raises(AttributeError, match="FrozenData has no attribute '__match_args__'"):
        _ = FrozenData.__match_args__


def test_subclass_has_the_fields_of_its_base() -> None:
    base = fresh()

    class Derived(base):  # type: ignore[misc, valid-type]
        z: int = 3

    assert repr(Derived(1)) == f"{Derived.__qualname__}(x=1, y=0, z=3)"
    assert isinstance(Derived(1), base)


def test_threads_that_use_a_class_at_once_all_succeed() -> None:
    cls, barrier, made = fresh(), Barrier(8), []

    def make() -> None:
        barrier.wait()
        made.append(cls(1))

    threads = [Thread(target=make) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [cls(1)] * 8
