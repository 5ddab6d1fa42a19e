"""One task of a read, of a batch or of a stream, in a worker of Spark."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

from pyspark.sql.datasource import InputPartition

from .client import client_for
from .offset_ranges import OffsetRange
from .source_options import ReadOptions
from .task_reader import read_ranges
from .task_splitting import tasks

READS_WITH_IMPORTS = 3
"""Of a worker process: Spark imports something of its own even after the first."""
_reads = itertools.count()


class OffsetRanges(InputPartition):
    """What one task reads."""

    def __init__(self, ranges: list[OffsetRange]) -> None:
        super().__init__(ranges)
        self.ranges = ranges


def partitions_of(ranges: Iterable[OffsetRange], options: ReadOptions) -> list[InputPartition]:
    """Spark's partitions, which are its tasks."""
    return [OffsetRanges(of_task) for of_task in tasks(ranges, options.min_partitions, options.max_records_per_partition)]


def read_partition(partition: InputPartition, options: ReadOptions, schema: Any) -> Iterator[Any]:
    """`pyarrow.RecordBatch`es. Raises KafkaCondition, KafkaError, OSError, InvalidRecords."""
    assert isinstance(partition, OffsetRanges)
    spare_the_collector()
    client = client_for(options.client)
    yield from read_ranges(client, partition.ranges, schema, fail_on_data_loss=options.fail_on_data_loss)


def spare_the_collector() -> None:
    """Spark's workers collect garbage after every task: what was imported need not be looked through each time (7 ms and more)."""
    if next(_reads) < READS_WITH_IMPORTS:
        gc.freeze()
