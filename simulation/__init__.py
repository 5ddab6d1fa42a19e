"""Simulation: an asyncio program, its Kafka client and the cluster in one event loop, with virtual time and everything else from a seed.

The package is the decorator `odradek.simulation` too, because an attribute of a package is a submodule once that is imported.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Decorator(ModuleType):
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        from .decorator import simulation

        return simulation(*args, **kwargs)


sys.modules[__name__].__class__ = _Decorator
