"""The rules: one file for each family of APIs. `HANDLERS` says which function answers which key."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..registry import HANDLERS, CloseConnection
from .api_versions import unsupported_version

for _module in iter_modules(__path__):
    import_module(f".{_module.name}", __name__)  # its decorators register what it answers

__all__ = ["HANDLERS", "CloseConnection", "unsupported_version"]
