"""Batch and stream writes: implementations of PySpark's writer classes, created in the driver and run in Python workers.

Delivery is at least once, like that of Spark's own sink: records of a failed task stay in the log and its next attempt writes them again.
Commit and abort, which Spark calls in the driver, therefore do nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import datasource
from pyspark.sql.datasource import DataSourceArrowWriter, DataSourceStreamWriter, WriterCommitMessage

from .sink_options import SinkOptions
from .task_writer import arrow_batches, write
from .workers import freeze_imported_modules


def _write(batches: Iterator[Any], options: SinkOptions) -> WriterCommitMessage:
    freeze_imported_modules()
    write(batches, options.producer, options.topic)
    return WriterCommitMessage()


class BatchWriter(DataSourceArrowWriter):
    """Appends the rows of a data frame."""

    def __init__(self, options: SinkOptions) -> None:
        self._options = options

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Writes the `pyarrow.RecordBatch`es of one task. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        return _write(iterator, self._options)


class StreamRowWriter(DataSourceStreamWriter):
    """Appends the rows of each batch of a stream in Spark 4.0, which passes Python rows instead of Arrow batches."""

    def __init__(self, options: SinkOptions, names: list[str]) -> None:
        """`names` are the names of the columns."""
        self._options, self._names = options, names

    def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
        """Writes the rows of one task. Raises KafkaCondition, KafkaError, OSError, ValueError."""
        return _write(arrow_batches(iterator, self._names), self._options)


if hasattr(datasource, "DataSourceStreamArrowWriter"):  # from Spark 4.1 on

    class StreamArrowWriter(datasource.DataSourceStreamArrowWriter):
        """Appends the rows of each batch of a stream."""

        def __init__(self, options: SinkOptions) -> None:
            self._options = options

        def write(self, iterator: Iterator[Any]) -> WriterCommitMessage:
            """Writes the `pyarrow.RecordBatch`es of one task. Raises KafkaCondition, KafkaError, OSError, ValueError."""
            return _write(iterator, self._options)


def stream_writer(options: SinkOptions, names: list[str]) -> DataSourceStreamWriter:
    """Returns a writer of Arrow batches, or of rows when this Spark does not have that class."""
    return StreamArrowWriter(options) if hasattr(datasource, "DataSourceStreamArrowWriter") else StreamRowWriter(options, names)
