"""The batch reader: plans in the driver, reads in Spark's workers."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from .client import client_for
from .input_partitions import partitions_of, read_partition
from .offset_ranges import OffsetRange, plan_batch
from .source_options import ReadOptions

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

PUSHES_FILTERS = "data_source_pushdown_filters"
"""The module that Spark plans with where there are filters and `spark.sql.python.filterPushdown.enabled` allows to push them down."""


class BatchReader(DataSourceReader):
    """Travels pickled from the driver to the workers, so it holds no connection: each process keeps its own."""

    def __init__(self, options: ReadOptions, schema: Any) -> None:
        """`schema` is the Arrow schema of the rows."""
        self._options, self._schema = options, schema

    def partitions(self) -> list[InputPartition]:
        """The tasks. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        return partitions_of(self._ranges(), self._options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """`pyarrow.RecordBatch`es."""
        return read_partition(partition, self._options, self._schema)

    def _ranges(self) -> list[OffsetRange]:
        return plan_batch(client_for(self._options.client), self._options)


class FilteringReader(BatchReader):
    """Reads less where filters allow it."""

    _filters: list[Filter]

    def pushFilters(self, filters: list[Filter]) -> Iterable[Filter]:  # noqa: N802
        """Notes the filters and gives all of them back: Spark is to apply them too."""
        self._filters = filters
        return filters

    def _ranges(self) -> list[OffsetRange]:
        from .filters import narrowed

        return narrowed(client_for(self._options.client), super()._ranges(), self._filters)


def batch_reader(options: ReadOptions, schema: Any) -> BatchReader:
    """The reader that filters only where Spark will push filters down: elsewhere Spark refuses a reader that can do so."""
    pushed = any(PUSHES_FILTERS in argument for argument in sys.argv)
    return (FilteringReader if pushed else BatchReader)(options, schema)
