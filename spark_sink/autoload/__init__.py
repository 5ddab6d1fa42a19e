"""Installed as the top-level module `pyspark_odradek`.

Spark imports every top-level module whose name starts with `pyspark_` and registers its `DefaultSource`.
"""

from __future__ import annotations

from odradek.spark_sink.source import OdradekDataSource as DefaultSource

__all__ = ["DefaultSource"]
