"""The messages of the Kafka protocol: one file per API, with its request, its response and its `Api`.

Names of messages and fields are those of Kafka's message schemas in snake case. The served versions, docs/apis.md and the round-trip tests
follow from the `Api` objects in this folder. A broker imports a file when the first request of its API arrives, because importing
all files would take a tenth of its start-up time. `protocol/served_apis.py`, which `make docs` writes, lists the files by key.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from ..schema import Api
from ..served_apis import SERVED

__all__ = ["APIS", "LOADED", "load_api"]

LOADED: dict[int, Api] = {}
"""The APIs that `load_api` has returned, by key."""


def load_api(key: int) -> Api | None:
    """Imports and returns an API. Returns None if it is not served."""
    if key not in SERVED:
        return None
    (LOADED[key],) = (api for api in _apis_of(SERVED[key][0]) if api.key == key)
    return LOADED[key]


def _apis_of(module: str) -> list[Api]:
    return [value for value in vars(import_module(f".{module}", __name__)).values() if isinstance(value, Api)]


if TYPE_CHECKING:
    APIS: dict[int, Api]
else:

    def __getattr__(name: str) -> object:
        """Returns `APIS`, all APIs by key in ascending order, for tests and documents. Raises AttributeError for any other name."""
        if name != "APIS":
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pkgutil import iter_modules

        declared = [api for found in iter_modules(__path__) for api in _apis_of(found.name)]
        return {api.key: api for api in sorted(declared, key=lambda api: api.key)}
