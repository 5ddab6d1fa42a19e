"""The base of frozen data classes whose methods are compiled when one of them is first used.

`dataclasses.dataclass` compiles the methods of a class when the class is declared, which takes about half a millisecond. The import of
`Cluster` declares some forty of these classes and uses few, so that this was a quarter of its time.

    class TopicInfo(FrozenData):
        name: str
        internal: bool = False

is a data class like one with `@dataclass(frozen=True)`; further options stand behind the base, as in `FrozenData, kw_only=True`. Only
`slots` is impossible, because it needs a new class.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass, field
from threading import RLock
from typing import Any, ClassVar, dataclass_transform

_MADE = (
    *("__init__", "__repr__", "__eq__", "__hash__", "__setattr__", "__delattr__", "__replace__"),
    *("__dataclass_fields__", "__dataclass_params__", "__match_args__"),
)
"""The attributes that `dataclass` gives a class, `__replace__` from Python 3.13 on."""
_LOCK = RLock()  # of threads that use a class for the first time at once; a class may need its base


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class FrozenData:
    """A frozen data class.

    A subclass of a data class is completed when it is declared, because it would otherwise inherit the methods of its base.
    """

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    _options: ClassVar[Mapping[str, bool]]

    def __init_subclass__(cls, **options: bool) -> None:
        cls._options = options
        if FrozenData not in cls.__bases__:
            _complete(cls)


def _complete(cls: type[FrozenData]) -> None:
    """Makes the methods of a class, unless it has them."""
    with _LOCK:
        if cls is not FrozenData and "__dataclass_fields__" not in vars(cls):
            dataclass(frozen=True, **cls._options)(cls)


class _Deferred:
    """Stands for an attribute of classes that are not complete: whoever gets it completes the class, and gets the attribute itself."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type[Any]) -> Any:
        """Returns the attribute. Raises AttributeError if the class has none, because its options leave it out."""
        cls = owner if issubclass(owner, FrozenData) else instance  # inspect.signature of Python 3.14 binds a class like an instance
        _complete(cls)
        for each in cls.__mro__:
            found = vars(each).get(self._name, self)
            if found is not self:
                return found.__get__(instance, owner) if hasattr(found, "__get__") else found
        raise AttributeError(f"{cls.__name__} has no attribute {self._name!r}")


for _name in _MADE:
    setattr(FrozenData, _name, _Deferred(_name))
