"""The handlers of all APIs, one module per family. Importing this package imports them all, so that `HANDLERS` is complete."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..registry import HANDLERS, CloseConnection
from .api_versions import unsupported_version

for _module in iter_modules(__path__):
    import_module(f".{_module.name}", __name__)  # its decorators register the handlers

__all__ = ["HANDLERS", "CloseConnection", "unsupported_version"]
