"""odradek: a Kafka-compatible broker emulator, and a Spark data source.

The root of the repository is the package `odradek`: pyproject.toml installs it under that name together with the code folders.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .broker import AsyncCluster, Cluster
    from .broker.handles import formats
    from .broker.handles.assertions import assert_records, record
    from .broker.handles.formats import Format

__all__ = ["AsyncCluster", "Cluster", "Format", "__version__", "assert_records", "formats", "record"]

__version__ = "0.1.0"  # pyproject.toml reads the version from here

_MODULES = {
    "AsyncCluster": "broker.embedded",
    "Cluster": "broker.embedded",
    "Format": "broker.handles.formats",
    "assert_records": "broker.handles.assertions",
    "record": "broker.handles.assertions",
}
"""The module of each name, which is imported on first use because Spark's workers need none of them."""

if not TYPE_CHECKING:  # type checkers would accept every name otherwise

    def __getattr__(name: str) -> object:
        """Returns a name of `__all__` from its module. Raises AttributeError for any other name."""
        from importlib import import_module

        if name == "formats":
            return import_module(".broker.handles.formats", __name__)
        if name in _MODULES:
            return getattr(import_module(f".{_MODULES[name]}", __name__), name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
