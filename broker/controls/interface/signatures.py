"""The parameters of a control, from the signature of its method, and how arguments are bound to them."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, Union, get_args, get_origin, get_type_hints

from ...control_errors import MAX_NAME_CHARACTERS, InvalidControl, unknown
from ..declaration import Control, PythonOnly
from .annotations import shape_of
from .shapes import Shape


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
    return {each.name: _parameter(each, hint) for each, hint in _declared(control) if not _python_only(hint)}


def python_only_of(control: Control) -> dict[str, str]:
    """Returns the names of the parameters that only Python can express, with their help texts."""
    return {each.name: _help_of(hint) for each, hint in _declared(control) if _python_only(hint)}


def result_of(control: Control) -> Any:
    """Returns the annotation of a control's result."""
    return get_type_hints(control.method, include_extras=True)["return"]


def bound(control: Control, values: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the arguments for a control from the fields of a JSON object. Raises InvalidControl."""
    parameters = _checked(control, values)
    return {name: parameters[name].shape.of_json(name, value) for name, value in values.items()}


def bound_texts(control: Control, pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Returns the arguments for a control from pairs of a parameter's name and a text. Raises InvalidControl."""
    texts: dict[str, list[str]] = {}
    for name, text in pairs:
        texts.setdefault(name, []).append(text)
    parameters = _checked(control, texts)
    return {name: parameters[name].shape.of_texts(name, each) for name, each in texts.items()}


def _checked(control: Control, names: Mapping[str, Any]) -> dict[str, Parameter]:
    """Returns the parameters of a control. Raises InvalidControl for an unknown name, and for a required parameter that is missing."""
    parameters = parameters_of(control)
    for name in names:
        if name not in parameters:
            raise unknown(name[:MAX_NAME_CHARACTERS], "parameter", name, parameters)
    for parameter in parameters.values():
        if parameter.required and parameter.name not in names:
            raise InvalidControl(parameter.name, f"is required ({parameter.help})")
    return parameters


def _declared(control: Control) -> list[tuple[inspect.Parameter, Any]]:
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


def _python_only(hint: Any) -> bool:
    return get_origin(hint) is Annotated and any(each is PythonOnly or isinstance(each, PythonOnly) for each in get_args(hint)[1:])
