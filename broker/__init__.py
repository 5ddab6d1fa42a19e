"""The emulated brokers. `Cluster` runs them inside a Python program; `odradek serve` runs them as a separate process."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .embedding.cluster import AsyncCluster, Cluster

__all__ = ["AsyncCluster", "Cluster"]

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Imports the names of `__all__` on first use, so that a health check does not import asyncio. Raises AttributeError."""
        if name in __all__:
            from .embedding import cluster

            return getattr(cluster, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
