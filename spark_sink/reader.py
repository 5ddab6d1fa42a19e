"""The batch reader: plans in the driver, reads in Spark's workers."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from .client import KafkaClient, client_for
from .options import ReadOptions, check_batch
from .planning import OffsetRange, plan_batch, shared_tasks
from .reading import read_ranges

READS_WITH_IMPORTS = 3
"""Of a worker process: Spark imports something of its own even after the first."""
_reads = itertools.count()


class OffsetRanges(InputPartition):
    """What one task reads."""

    def __init__(self, ranges: list[OffsetRange]) -> None:
        super().__init__(ranges)
        self.ranges = ranges


class BatchReader(DataSourceReader):
    """Travels pickled from the driver to the workers, so it holds no connection: each process keeps its own."""

    def __init__(self, options: ReadOptions, schema: Any) -> None:
        """`schema` is the Arrow schema of the rows. Raises ValueError, KafkaCondition."""
        check_batch(options)
        self._options, self._schema = options, schema

    def partitions(self) -> list[InputPartition]:
        """The tasks. Raises KafkaCondition, KafkaError, OSError."""
        ranges = plan_batch(self._client(), self._options)
        return [OffsetRanges(shared) for shared in shared_tasks(ranges)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """`pyarrow.RecordBatch`es."""
        assert isinstance(partition, OffsetRanges)
        _spare_the_collector()
        yield from read_ranges(self._client(), partition.ranges, self._schema, fail_on_data_loss=self._options.fail_on_data_loss)

    def _client(self) -> KafkaClient:
        return client_for(self._options.client)


def _spare_the_collector() -> None:
    """Spark's workers collect garbage after every task: what was imported need not be looked through each time (7 ms and more)."""
    if next(_reads) < READS_WITH_IMPORTS:
        gc.freeze()
