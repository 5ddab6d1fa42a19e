"""Batch reads: implementations of PySpark's DataSourceReader, which plan in the driver and read in Python workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from .client import client_for
from .input_partitions import partitions_of, read_partition
from .offset_ranges import Logs, OffsetRange, plan_batch
from .source_options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

PUSHES_FILTERS = "data_source_pushdown_filters"
"""Name of the module in which Spark plans a read with filters, when `spark.sql.python.filterPushdown.enabled` is true."""


class BatchReader(DataSourceReader):
    """Reads the ranges of offsets that the options name.

    Spark pickles the reader from the driver to the workers, so it holds no connection; each process keeps its own (`client_for`).
    """

    def __init__(self, options: ReadOptions, schema: Any) -> None:
        """`schema` is the Arrow schema of the rows."""
        self._options, self._schema = options, schema

    def partitions(self) -> list[InputPartition]:
        """Returns one input partition for each task. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        options = self._options
        if options.directories:
            from .stored_logs import StoredLogs
            from .stored_partitions import stored_partitions_of

            logs = StoredLogs(options.directories, options.client.isolation_level)
            return stored_partitions_of(self._ranges(logs), logs, options)
        return partitions_of(self._ranges(client_for(options.client)), options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yields the `pyarrow.RecordBatch`es of one task."""
        return read_partition(partition, self._options, self._schema)

    def _ranges(self, logs: Logs) -> list[OffsetRange]:
        return plan_batch(logs, self._options)


class FilteringReader(BatchReader):
    """Reads smaller ranges when the filters of the query allow it."""

    _filters: list[Filter]

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Stores the filters and returns all of them, so that Spark applies them to the rows as well."""
        self._filters = filters
        return filters

    def _ranges(self, logs: Logs) -> list[OffsetRange]:
        from .filters import narrow_ranges

        return narrow_ranges(logs, super()._ranges(logs), self._filters)


def batch_reader(options: ReadOptions, schema: Any) -> BatchReader:
    """Returns a FilteringReader in the process in which Spark pushes filters down, elsewhere a BatchReader.

    Spark rejects a reader that has `pushFilters` when filter pushdown is disabled.
    """
    pushed = any(PUSHES_FILTERS in argument for argument in sys.argv)
    return (FilteringReader if pushed else BatchReader)(options, schema)
