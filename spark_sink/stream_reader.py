"""Stream reads: the implementation of PySpark's DataSourceStreamReader, from PySpark 4.0 on. `StreamOffsets` plans what it reads."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from .input_partitions import partitions_of, read_partition
from .offset_options import OffsetJson, from_json, to_json
from .source_options import ReadOptions
from .stream_offsets import StreamOffsets
from .trigger_options import NO_LIMIT, TriggerOptions

if TYPE_CHECKING:
    from pyspark.sql.streaming.datasource import ReadLimit, SupportsTriggerAvailableNow
else:
    try:
        from pyspark.sql.streaming.datasource import SupportsTriggerAvailableNow
    except ImportError:  # before PySpark 4.2

        class SupportsTriggerAvailableNow:
            """Stands in for the missing class; Spark then reads everything in one batch with Trigger.AvailableNow."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads a stream of micro-batches.

    Spark keeps one instance in a Python process next to the driver, which plans all batches of the query, and pickles a copy to each task.
    """

    def __init__(self, options: ReadOptions, trigger: TriggerOptions, schema: Any) -> None:
        """`schema` is the Arrow schema of the rows."""
        self._options, self._trigger, self._schema = options, trigger, schema
        self._offsets = StreamOffsets(options, trigger)
        if not hasattr(DataSourceStreamReader, "getDefaultReadLimit") and trigger != NO_LIMIT:
            warnings.warn(
                "minOffsetsPerTrigger and maxOffsetsPerTrigger need PySpark 4.2; without it, each batch reads all available records",
                stacklevel=2,
            )

    def initialOffset(self) -> OffsetJson:  # noqa: N802
        """Returns the offsets at which a new query starts."""
        return to_json(self._offsets.initial())

    def latestOffset(self, start: OffsetJson | None = None, limit: ReadLimit | None = None) -> OffsetJson:  # noqa: N802
        """Returns the offsets at which the next batch ends.

        Before PySpark 4.2 Spark passes no arguments and, with Trigger.AvailableNow, calls once; the result is then the end of the logs.
        """
        everything = limit is None or limit != self.getDefaultReadLimit()
        return to_json(self._offsets.next_end(None if start is None else from_json(start), everything=everything))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """Returns a ReadLimit which signals that the options apply.

        Spark has no ReadLimit of two numbers, so `StreamOffsets` computes the limit from the options.
        """
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

        if self._trigger.max_offsets is not None:
            return ReadMaxRows(self._trigger.max_offsets)
        return ReadAllAvailable() if self._trigger.min_offsets is None else ReadMinRows(self._trigger.min_offsets)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """Makes the present ends of the logs the end of the query."""
        self._offsets.stop_at_present_end()

    def reportLatestOffset(self) -> OffsetJson | None:  # noqa: N802
        """Returns the ends of the logs as last fetched, which Spark reports in the query's progress as `latestOffset`."""
        return None if self._offsets.latest_seen is None else to_json(self._offsets.latest_seen)

    def partitions(self, start: OffsetJson, end: OffsetJson) -> list[InputPartition]:
        """Returns one input partition for each task of a batch. Raises KafkaCondition, KafkaError, OSError."""
        return partitions_of(self._offsets.ranges(from_json(start), from_json(end)), self._options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """Yields the `pyarrow.RecordBatch`es of one task."""
        return read_partition(partition, self._options, self._schema)
