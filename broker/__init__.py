"""The emulated brokers. `Cluster` runs them inside a Python program; `odradek serve` as a program of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .embedded import AsyncCluster, Cluster

__all__ = ["AsyncCluster", "Cluster"]

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns a name of `__all__`, imported on first use because a health check needs no event loop. Raises AttributeError."""
        if name in __all__:
            from . import embedded

            return getattr(embedded, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
