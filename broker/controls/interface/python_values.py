"""Arguments of controls that Python gives: they are compared with the annotations of the parameters before the method runs.

Python accepts what HTTP and the command line accept, such as a time as ISO 8601 text, and in addition objects that only Python has. A value
of another type raises `InvalidControl` with the name of the parameter, so that nothing is half done. An unknown keyword raises TypeError,
as in every Python function, with the nearest name. Values inside of records and other objects are checked by the controls that read them.
"""

from __future__ import annotations

import inspect
import operator
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import cache
from types import NoneType, SimpleNamespace, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints, is_typeddict

from ...control_errors import InvalidControl, unknown_keyword
from .shapes import Boolean, Choice, Integer, IsoTime, Shape, Text, short_json
from .signatures import shape_of

_OF_JSON: dict[Any, Shape] = {bool: Boolean(), str: Text(), datetime: IsoTime()}
_BINARY = (bytes, bytearray, memoryview)
_ITEMS = (int, str)
"""The types of the items that are compared. Of other lists, such as those of records, the controls check the items."""


def arguments_of(method: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> inspect.BoundArguments:
    """Returns the arguments of a call of a method, `self` included. Raises InvalidControl for a wrong type, TypeError for a wrong name."""
    signature, hints = _declaration_of(method)
    for name in kwargs:
        if name not in signature.parameters:
            raise TypeError(unknown_keyword(method.__name__, name, list(signature.parameters)[1:]))
    bound = signature.bind(*args, **kwargs)
    for name in bound.arguments.keys() & hints.keys():
        bound.arguments[name] = python_value(name, hints[name], bound.arguments[name])
    return bound


@cache
def _declaration_of(method: Callable[..., Any]) -> tuple[inspect.Signature, dict[str, Any]]:
    """Returns the signature of a method and the annotations of its parameters, without that of the result, which need not be imported."""
    function: Any = inspect.unwrap(method)
    annotations = {name: hint for name, hint in function.__annotations__.items() if name != "return"}
    hints = get_type_hints(SimpleNamespace(__annotations__=annotations), function.__globals__, include_extras=True)
    return inspect.signature(function), hints


def python_value(place: str, hint: Any, value: Any) -> Any:
    """Returns the value of a parameter or of an item of one, converted if its annotation says so. Raises InvalidControl."""
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return python_value(place, parts[0], value)
    if origin in (Union, UnionType):
        return _alternative(place, hint, value)
    if origin is Literal:
        return Choice(parts).of_json(place, value)
    if hint is int:
        return Integer().of_json(place, _index(value))
    if hint in _OF_JSON and not isinstance(value, datetime):
        return _OF_JSON[hint].of_json(place, value)
    if not _is_instance(origin or hint, value):
        raise _refusal(place, hint, value)
    if (
        inspect.isclass(origin)
        and origin is not tuple
        and issubclass(origin, Iterable)
        and parts
        and parts[0] in _ITEMS
        and isinstance(value, list | tuple)
    ):
        return [python_value(f"{place}[{number}]", parts[0], each) for number, each in enumerate(value)]
    return value


def _index(value: Any) -> Any:
    """Returns a number of another library, such as numpy's int64, as an int; other values as they are."""
    return operator.index(value) if hasattr(value, "__index__") and not isinstance(value, bool) else value


def _is_instance(kind: Any, value: Any) -> bool:
    if kind is NoneType:
        return value is None
    if kind is float:
        return isinstance(value, int | float) and not isinstance(value, bool)
    if kind is bytes:
        return isinstance(value, _BINARY)
    if is_typeddict(kind):
        return isinstance(value, Mapping)
    if kind is tuple:
        return isinstance(value, tuple | list)
    if kind in (Any, object) or not inspect.isclass(kind):
        return True
    if issubclass(kind, Iterable) and not issubclass(kind, Mapping | os.PathLike):
        return isinstance(value, kind) and not isinstance(value, (str, *_BINARY, Mapping))
    return isinstance(value, kind)


def _alternative(place: str, hint: Any, value: Any) -> Any:
    """Returns the first conversion that succeeds. The error is that of an item of the value if only that is wrong."""
    inner: InvalidControl | None = None
    members = get_args(hint)
    for member in members:
        if member is str and datetime in members:
            continue  # only the text of a time is accepted
        try:
            return python_value(place, member, value)
        except InvalidControl as error:
            if str(error).startswith(f"{place}["):
                inner = error
            elif get_origin(member) is Literal and isinstance(value, str):
                inner = error  # names the nearest one of the choices
    raise inner or _refusal(place, hint, value)


def _refusal(place: str, hint: Any, value: Any) -> InvalidControl:
    try:
        return shape_of(hint).refuse(place, value)
    except TypeError:  # a type that only Python can express
        wanted = "a function" if "Callable" in str(hint) else f"a {getattr(hint, '__name__', hint)}"
        return InvalidControl.at(place, f"must be {wanted}, not {short_json(value)}")
