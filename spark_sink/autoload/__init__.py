"""Installed as the top-level module `pyspark_odradek`: Spark looks into every module of such a name for a data source."""

from __future__ import annotations

from odradek.spark_sink.source import OdradekDataSource as DefaultSource

__all__ = ["DefaultSource"]
