"""Compiles the `__init__` of message classes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..fields import has_default, specs
from .source import Source, default_expression

_UNSET = object()
"""The default of arguments for fields with a default factory. It is not None, because None may be passed as a value."""


def compile_init(cls: type[Any]) -> Callable[..., None]:
    """Returns an `__init__` that takes keyword arguments only, which are required unless the field has a default."""
    source = Source(0, False)
    arguments = []
    for spec in specs(cls):
        declared = spec.declared
        if declared.default_factory is not None:
            unset = source.constant("U", _UNSET)
            arguments.append(f"{spec.name}={unset}")
            source.add(f"self.{spec.name} = {default_expression(source, spec)} if {spec.name} is {unset} else {spec.name}")
        else:
            arguments.append(f"{spec.name}={default_expression(source, spec)}" if has_default(declared) else spec.name)
            source.add(f"self.{spec.name} = {spec.name}")
    star = "*, " if arguments else ""
    source.add("pass")
    return source.compile(f"def __init__(self, {star}{', '.join(arguments)}):", "__init__")
