"""The Spark data source: `spark.read.format("odradek")`. `spark.dataSource.register(OdradekDataSource)` where Spark does not find it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .source import OdradekDataSource

__all__ = ["OdradekDataSource"]


def __getattr__(name: str) -> object:
    """Loads Spark's side when it is asked for: the client and the decoder work without."""
    if name in __all__:
        from . import source

        return getattr(source, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
