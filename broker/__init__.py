"""The emulated brokers. `Cluster` runs them inside a Python program; `odradek serve` as a program of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .embedded import AsyncCluster, Cluster

__all__ = ["AsyncCluster", "Cluster"]


def __getattr__(name: str) -> object:
    """Loads the event loop's side when it is asked for: a health check has no use for it."""
    if name in __all__:
        from . import embedded

        return getattr(embedded, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
