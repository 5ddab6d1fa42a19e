"""odradek: a Kafka-compatible broker emulator, and a Spark data source.

The root of the repository is the package `odradek`: pyproject.toml installs it under that name together with the code folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .broker import AsyncCluster, Cluster

__all__ = ["AsyncCluster", "Cluster", "__version__"]

__version__ = "0.1.0"  # pyproject.toml reads the version from here

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns `Cluster` or `AsyncCluster`, which are imported on first use because Spark's workers need neither.

        Raises AttributeError for any other name.
        """
        if name in __all__:
            from . import broker

            return getattr(broker, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
