"""The reader of streams: Spark's side of `StreamOffsets`, from PySpark 4.0 on."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSourceStreamReader, InputPartition

from .input_partitions import partitions_of, read_partition
from .offset_json import OffsetJson, from_json, to_json
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
            """Spark then has AvailableNow take everything in one batch."""


class StreamReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Spark has one in a process of the driver that plans, and a copy in every task, which only reads."""

    def __init__(self, options: ReadOptions, trigger: TriggerOptions, schema: Any) -> None:
        """`schema` is the Arrow schema of the rows."""
        self._options, self._trigger, self._schema = options, trigger, schema
        self._stream = StreamOffsets(options, trigger)
        if not hasattr(DataSourceStreamReader, "getDefaultReadLimit") and trigger != NO_LIMIT:
            warnings.warn("minOffsetsPerTrigger and maxOffsetsPerTrigger need PySpark 4.2: here a batch takes all there is", stacklevel=2)

    def initialOffset(self) -> OffsetJson:  # noqa: N802
        """Where a new query starts."""
        return to_json(self._stream.initial())

    def latestOffset(self, start: OffsetJson | None = None, limit: ReadLimit | None = None) -> OffsetJson:  # noqa: N802
        """Where the next batch ends. Before PySpark 4.2 there are no arguments, and Trigger.AvailableNow asks once: so it is the end."""
        everything = limit is None or limit != self.getDefaultReadLimit()
        return to_json(self._stream.next_end(None if start is None else from_json(start), everything=everything))

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        """A sign that the options limit batches: how is for them to say, since Spark knows no limit with two numbers."""
        from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

        if self._trigger.max_offsets is not None:
            return ReadMaxRows(self._trigger.max_offsets)
        return ReadAllAvailable() if self._trigger.min_offsets is None else ReadMinRows(self._trigger.min_offsets)

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802
        """What comes after now is not read."""
        self._stream.stop_at_present_end()

    def reportLatestOffset(self) -> OffsetJson | None:  # noqa: N802
        """The ends of the logs when last asked for; they stand in the query's progress as `latestOffset`."""
        return None if self._stream.latest_seen is None else to_json(self._stream.latest_seen)

    def partitions(self, start: OffsetJson, end: OffsetJson) -> list[InputPartition]:
        """The tasks of one batch. Raises KafkaCondition, KafkaError, OSError."""
        return partitions_of(self._stream.ranges(from_json(start), from_json(end)), self._options)

    def read(self, partition: InputPartition) -> Iterator[Any]:
        """`pyarrow.RecordBatch`es."""
        return read_partition(partition, self._options, self._schema)
