"""The messages of the Kafka protocol: one file per API, with its request, its response and its `Api`.

Names of messages and fields are those of Kafka's message schemas in snake case. `APIS` is the registry of all `Api` objects in this
folder. The served versions, the README's table (`make docs`) and the round-trip tests follow from it, so that a new file needs no
registration.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from ..schema import Api


def _declared_apis() -> list[Api]:
    modules = [import_module(f".{found.name}", __name__) for found in iter_modules(__path__)]
    return [api for module in modules for api in vars(module).values() if isinstance(api, Api)]


APIS: dict[int, Api] = {api.key: api for api in sorted(_declared_apis(), key=lambda api: api.key)}
"""All APIs by key, in ascending order."""
