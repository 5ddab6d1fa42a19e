"""The handlers of all APIs, one module per family.

A broker imports a module when the first request of its family arrives, because importing all modules and the messages that they use
would take a fifth of its start-up time. `broker/api/handler_families.py`, which `make docs` writes, lists the modules by API key.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..api import registry
from ..api.handler_families import FAMILIES
from ..api.registry import CloseConnection, Handler
from .api_versions import unsupported_version

__all__ = ["HANDLERS", "CloseConnection", "load_handler", "unsupported_version"]


def load_handler(key: int) -> Handler:
    """Imports the module that serves an API, whose decorators register its handlers, and returns the handler."""
    import_module(f".{FAMILIES[key]}", __name__)
    return registry.HANDLERS[key]


if TYPE_CHECKING:
    HANDLERS: dict[int, Handler]
else:

    def __getattr__(name: str) -> object:
        """Returns `registry.HANDLERS` with the handlers of all APIs, for tests. Raises AttributeError for any other name."""
        if name != "HANDLERS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pkgutil import iter_modules

        for found in iter_modules(__path__):
            import_module(f".{found.name}", __name__)
        return registry.HANDLERS
