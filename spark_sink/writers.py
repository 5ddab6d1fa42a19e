"""The writers of batches and streams: made in the driver, they write in Spark's workers.

At least once, like Spark's own sink: what a failed task has written stays, and its next attempt writes it again. So there is nothing to do
when Spark commits or aborts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamWriter, WriterCommitMessage

from .input_partitions import spare_the_collector
from .sink_options import SinkOptions
from .task_writer import arrow_batches, write


def _write(batches: Iterator[Any], options: SinkOptions) -> WriterCommitMessage:
    spare_the_collector()
    write(batches, options.producer, options.topic)
    return WriterCommitMessage()


class BatchWriter(DataSourceArrowWriter):
    """Appends the rows of a data frame."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """One task's `pyarrow.RecordBatch`es. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        return _write(iterator, self._options)


class StreamRowWriter(DataSourceStreamWriter):
    """Appends the rows of each batch of a stream, as Spark 4.0 hands them out."""

    def __init__(self, options: SinkOptions, names: list[str]) -> None:
        """`names` are those of the columns."""
        self._options, self._names = options, names

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """One task's rows. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        return _write(arrow_batches(iterator, self._names), self._options)


if hasattr(datasource, "DataSourceStreamArrowWriter"):  # Spark 4.1

    class StreamArrowWriter(datasource.DataSourceStreamArrowWriter):
        """Appends the rows of each batch of a stream."""

        def __init__(self, options: SinkOptions) -> None:
            self._options = options

        def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
            """One task's `pyarrow.RecordBatch`es. Raises KafkaCondition, KafkaError, OSError, ValueError."""
            return _write(iterator, self._options)


def stream_writer(options: SinkOptions, names: list[str]) -> DataSourceStreamWriter:
    """The quickest that this Spark knows."""
    return StreamArrowWriter(options) if hasattr(datasource, "DataSourceStreamArrowWriter") else StreamRowWriter(options, names)
