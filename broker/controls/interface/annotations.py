"""Finds the `Shape` of a type annotation.

A type that neither JSON nor the command line can express, such as a function or a handle, is left out of a union. Alone it raises
TypeError; such a parameter is declared with `PythonOnly`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, Required, Union, get_args, get_origin, get_type_hints, is_typeddict

from .shapes import Anything, Boolean, Bytes, Choice, Duration, FilePath, Integer, Moment, Number, Shape, Text
from .structures import ListOf, MappingOf, Null, ObjectOf, OneOf, TupleOf

_PLAIN: dict[Any, type[Shape]] = {
    NoneType: Null,
    bool: Boolean,
    int: Integer,
    float: Number,
    str: Text,
    bytes: Bytes,
    datetime: Moment,
    timedelta: Duration,
    Path: FilePath,
    os.PathLike: FilePath,
    Any: Anything,
    object: Anything,
}
_LISTS = (list, Sequence, Collection, Iterable)


def shape_of(annotation: Any) -> Shape:
    """Returns the shape of a type. Raises TypeError if only Python can express its values."""
    if annotation in _PLAIN:
        return _PLAIN[annotation]()
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Annotated, Required, NotRequired):
        return shape_of(arguments[0])
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is Literal:
        return Choice(arguments)
    if origin in (tuple, *_LISTS):
        return _list(origin, arguments)
    if origin in (dict, Mapping):
        return MappingOf(shape_of(arguments[1]))
    if origin is os.PathLike:
        return FilePath()
    return _class(annotation)


def _union(members: Iterable[Any]) -> Shape:
    shapes: list[Shape] = []
    unknown: list[TypeError] = []
    for member in members:
        try:
            shapes.append(shape_of(member))
        except TypeError as error:
            unknown.append(error)
    if not [each for each in shapes if not isinstance(each, Null)]:
        raise unknown[0]
    if any(isinstance(each, Duration) for each in shapes):
        shapes = [each for each in shapes if type(each) not in (Number, Text)]  # in Python, numbers and text are durations too
    if any(isinstance(each, Bytes | FilePath | Moment) for each in shapes):
        shapes = [each for each in shapes if type(each) is not Text]  # in Python, text stands for bytes, paths and times too
    return OneOf(shapes) if len(shapes) > 1 else shapes[0]


def _list(origin: Any, arguments: tuple[Any, ...]) -> Shape:
    if origin is tuple and arguments[1:] != (...,):
        return TupleOf([shape_of(each) for each in arguments])
    return ListOf(shape_of(arguments[0]))


def _class(kind: Any) -> Shape:
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return Choice([member.value for member in kind])
    if is_typeddict(kind):
        return _typed_dict(kind)
    raise TypeError(f"{kind!r} cannot be written in JSON; declare the parameter with PythonOnly")


def _typed_dict(kind: Any) -> ObjectOf:
    # `__required_keys__` is wrong for a class whose annotations are strings.
    hints = get_type_hints(kind, include_extras=True)
    optional = () if kind.__total__ else (name for name, hint in hints.items() if get_origin(hint) is not Required)
    not_required = (name for name, hint in hints.items() if get_origin(hint) is NotRequired)
    fields = {name: shape_of(hint) for name, hint in hints.items()}
    return ObjectOf(kind.__name__, inspect.getdoc(kind) or "", fields, frozenset(hints) - {*optional, *not_required})
