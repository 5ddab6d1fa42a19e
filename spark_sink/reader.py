"""The batch reader: plans in the driver, reads in Spark's workers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql.datasource import DataSourceReader, InputPartition

from .client import client_for
from .options import ReadOptions, check_batch
from .planning import OffsetRange, plan_batch, shared_tasks
from .reading import read_range


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
        ranges = plan_batch(client_for(self._options.client), self._options)
        return [OffsetRanges(shared) for shared in shared_tasks(ranges)]

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """`pyarrow.RecordBatch`es."""
        assert isinstance(partition, OffsetRanges)
        client = client_for(self._options.client)
        for wanted in partition.ranges:
            yield from read_range(client, wanted, self._schema, fail_on_data_loss=self._options.fail_on_data_loss)
