"""The messages: one file for each API, holding its request, its response and its `Api`.

`APIS` is the registry: what is served, documented, round-tripped and fuzzed follows from it. A new file in this folder is found by itself.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..schema import Api


def _declared() -> list[Api]:
    modules = [import_module(f".{found.name}", __name__) for found in iter_modules(__path__)]
    return [api for module in modules for api in vars(module).values() if isinstance(api, Api)]


APIS: dict[int, Api] = {api.key: api for api in sorted(_declared(), key=lambda api: api.key)}
"""Every API by its key, in the order of the keys."""
