"""The input partitions of a batch that reads log directories."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import InputPartition

from .input_partitions import TaskRanges
from .offset_ranges import OffsetRange
from .source_options import ReadOptions
from .stored_logs import StoredLogs
from .stored_ranges import StoredRange, read_stored_ranges
from .task_splitting import split_into_tasks


class StoredRanges(TaskRanges):
    """The ranges of offsets that one task reads from the files of log directories."""

    def __init__(self, ranges: list[StoredRange]) -> None:
        super().__init__(ranges)
        self.ranges = ranges

    def read(self, options: ReadOptions, schema: Any) -> Iterator[Any]:
        """Yields the `pyarrow.RecordBatch`es of the task."""
        return read_stored_ranges(self.ranges, options.client, schema, fail_on_data_loss=options.fail_on_data_loss)


def stored_partitions_of(ranges: Iterable[OffsetRange], logs: StoredLogs, options: ReadOptions) -> list[InputPartition]:
    """Returns one input partition for each task. Unless an option sets the number of tasks, large ranges are split by their bytes.

    Raises KafkaCondition for offsets that are not in the logs with `failOnDataLoss`, KafkaError, DamagedFile, OSError.
    """
    stored = [logs.stored_part(one, fail_on_data_loss=options.fail_on_data_loss) for one in ranges if one.size > 0]
    if options.min_partitions is None and options.max_records_per_partition is None:
        stored = [piece for one in stored for piece in logs.split(one)]
    tasks = split_into_tasks(stored, options.min_partitions, options.max_records_per_partition)
    return [StoredRanges([logs.located(one) for one in of_task]) for of_task in tasks]
