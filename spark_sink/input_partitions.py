"""The input partitions of Spark: what one task of a batch or a stream reads, planned in the driver and read in a Python worker."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, cast

from pyspark.sql.datasource import InputPartition

from .client import client_for
from .offset_ranges import OffsetRange
from .source_options import ReadOptions
from .task_reader import read_ranges
from .task_splitting import split_into_tasks
from .workers import freeze_imported_modules


class TaskRanges(InputPartition):
    """The ranges of offsets that one task reads. Spark pickles it from the driver to a worker."""

    @abstractmethod
    def read(self, options: ReadOptions, schema: Any) -> Iterator[Any]:
        """Yields the `pyarrow.RecordBatch`es of the task. Raises KafkaCondition, KafkaError, OSError, InvalidRecords."""


class OffsetRanges(TaskRanges):
    """The ranges of offsets that one task fetches from brokers."""

    def __init__(self, ranges: list[OffsetRange]) -> None:
        super().__init__(ranges)
        self.ranges = ranges

    def read(self, options: ReadOptions, schema: Any) -> Iterator[Any]:
        """Yields the `pyarrow.RecordBatch`es of the task."""
        return read_ranges(client_for(options.client), self.ranges, schema, fail_on_data_loss=options.fail_on_data_loss)


def partitions_of(ranges: Iterable[OffsetRange], options: ReadOptions) -> list[InputPartition]:
    """Returns one input partition for each task that reads from brokers."""
    return [OffsetRanges(of_task) for of_task in split_into_tasks(ranges, options.min_partitions, options.max_records_per_partition)]


def read_partition(partition: InputPartition, options: ReadOptions, schema: Any) -> Iterator[Any]:
    """Yields the `pyarrow.RecordBatch`es of one task. Raises KafkaCondition, KafkaError, OSError, InvalidRecords, ValueError."""
    freeze_imported_modules()
    ranges = cast(TaskRanges, partition)
    if options.column is None:
        yield from ranges.read(options, schema)
    else:
        from .avro_values import with_place

        yield from options.column.decode(ranges.read(options, with_place(schema)), schema)
