"""The parameters of a control, from the signature of its method, with the shapes of their types, and how arguments are bound to them.

A type that neither JSON nor the command line can express, such as a function or a handle, is left out of a union. Alone it raises
TypeError; such a parameter is declared with `PythonOnly`.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from enum import Enum
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NotRequired,
    Required,
    Union,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from ...control_errors import MAX_NAME_CHARACTERS, InvalidControl, unknown
from ..declaration import Control, PythonOnly
from .shapes import Anything, Boolean, BytesOrText, Choice, Duration, FilePath, Integer, IsoTime, Number, Shape, Text
from .structures import Alternatives, ListOf, MappingOf, Null, ObjectOf, TupleOf


class Parameter(NamedTuple):
    """A parameter of a control. `positional` says that the command line accepts it without its name."""

    name: str
    shape: Shape
    help: str
    required: bool
    default: Any
    positional: bool

    @property
    def has_default(self) -> bool:
        """Whether the parameter has a default other than None, which means that it has no effect."""
        return not self.required and self.default is not None


@cache
def parameters_of(control: Control) -> dict[str, Parameter]:
    """Returns the parameters of a control by name, without those that only Python can express."""
    return {each.name: _parameter(each, hint) for each, hint in _declarations(control) if not _is_python_only(hint)}


def python_only_of(control: Control) -> dict[str, str]:
    """Returns the names of the parameters that only Python can express, with their help texts."""
    return {each.name: _help_of(hint) for each, hint in _declarations(control) if _is_python_only(hint)}


def result_of(control: Control) -> Any:
    """Returns the annotation of a control's result."""
    return get_type_hints(control.method, include_extras=True)["return"]


def bind(control: Control, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments for a control from the fields of a JSON object. Raises InvalidControl."""
    parameters = _check_names(control, values)
    return {name: parameters[name].shape.of_json(name, value) for name, value in values.items()}


def bind_texts(control: Control, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Returns the arguments for a control from pairs of a parameter's name and a text. Raises InvalidControl."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    parameters = _check_names(control, texts)
    return {name: parameters[name].shape.of_texts(name, each) for name, each in texts.items()}


def _check_names(control: Control, names: Mapping[str, Any]) -> dict[str, Parameter]:
    """Returns the parameters of a control. Raises InvalidControl for an unknown name, and for a required parameter that is missing."""
    parameters = parameters_of(control)
    for name in names:
        if name not in parameters:
            raise unknown(name[:MAX_NAME_CHARACTERS], "parameter", name, parameters)
    for parameter in parameters.values():
        if parameter.required and parameter.name not in names:
            raise InvalidControl(parameter.name, f"is required ({parameter.help})")
    return parameters


def _declarations(control: Control) -> list[tuple[inspect.Parameter, Any]]:
    """Returns the parameters of the method after `self`, with their annotations."""
    hints = get_type_hints(control.method, include_extras=True)
    return [(each, hints[each.name]) for each in list(inspect.signature(control.method).parameters.values())[1:]]


def _parameter(declared: inspect.Parameter, hint: Any) -> Parameter:
    required = declared.default is inspect.Parameter.empty
    positional = declared.kind is not inspect.Parameter.KEYWORD_ONLY
    return Parameter(declared.name, shape_of(hint), _help_of(hint), required, None if required else declared.default, positional)


def _help_of(hint: Any) -> str:
    """Returns the help text of an annotation, or that of a member if it is a union, such as `NodeId | None`."""
    if get_origin(hint) is Annotated:
        return next((each for each in get_args(hint)[1:] if isinstance(each, str)), "")
    return next(filter(None, map(_help_of, get_args(hint))), "") if get_origin(hint) in (Union, UnionType) else ""


def _is_python_only(hint: Any) -> bool:
    return get_origin(hint) is Annotated and any(each is PythonOnly or isinstance(each, PythonOnly) for each in get_args(hint)[1:])


# The shapes of annotations

_PLAIN: dict[Any, type[Shape]] = {
    NoneType: Null,
    bool: Boolean,
    int: Integer,
    float: Number,
    str: Text,
    bytes: BytesOrText,
    datetime: IsoTime,
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
    if any(isinstance(each, BytesOrText | FilePath | IsoTime) for each in shapes):
        shapes = [each for each in shapes if type(each) is not Text]  # in Python, text stands for bytes, paths and times too
    return Alternatives(shapes) if len(shapes) > 1 else shapes[0]


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
