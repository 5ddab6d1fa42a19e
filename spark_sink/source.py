"""`format("odradek")`: the columns, options and errors of Spark's own Kafka source, without a jar."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from .batch_reader import BatchReader, batch_reader
from .client_options import warn_of_unknown
from .decoder import COLUMN_TYPES
from .interpreter import choose_interpreter
from .sink_options import sink_options
from .source_options import batch_options, read_options, stream_options
from .stream_reader import StreamReader
from .user_options import UserOptions
from .writers import BatchWriter, stream_writer

HEADERS = StructField("headers", ArrayType(StructType([StructField("key", StringType()), StructField("value", BinaryType())])))
COLUMNS = StructType(
    [
        StructField("key", BinaryType()),
        StructField("value", BinaryType()),
        StructField("topic", StringType()),
        StructField("partition", IntegerType()),
        StructField("offset", LongType()),
        StructField("timestamp", TimestampType()),
        StructField("timestampType", IntegerType()),
    ]
)


class OdradekDataSource(DataSource):
    """Reads from and writes to Kafka, or odradek's emulator of it. docs/spark.md has the options."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes. `spark.dataSource.register` asks for it before it notes which Python the workers are to run."""
        choose_interpreter()
        return "odradek"

    def schema(self) -> StructType:
        """The columns; the options are checked here, as `load()` asks for nothing else. Raises ValueError."""
        warn_of_unknown(UserOptions(self.options))
        return columns(read_options(self.options).include_headers)

    def reader(self, schema: StructType) -> BatchReader:
        """A batch read of the columns of `schema`, which may be fewer than there are. Raises ValueError, KafkaCondition."""
        options = batch_options(self.options)
        return batch_reader(options, arrow_schema(schema, columns(options.include_headers)))

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        """A stream of the columns of `schema`, which may be fewer than there are. Raises ValueError."""
        options, trigger = stream_options(self.options)
        return StreamReader(options, trigger, arrow_schema(schema, columns(options.include_headers)))

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        """Appends the rows of `schema`. Raises ValueError, KafkaCondition."""
        if overwrite:
            raise ValueError("Save mode Overwrite not allowed for Kafka. Allowed save modes are Append and ErrorIfExists (default).")
        return BatchWriter(sink_options(self.options, schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: N802
        """Appends the rows of each batch, in complete mode too. Raises ValueError, KafkaCondition."""
        return stream_writer(sink_options(self.options, schema), schema.names)


def columns(include_headers: bool) -> StructType:
    """All columns there are."""
    return StructType([*COLUMNS, HEADERS]) if include_headers else COLUMNS


def arrow_schema(wanted: StructType, available: StructType) -> Any:
    """The same for Arrow, as Spark compares it: exactly. Raises ValueError for a column that is not available so."""
    types = {field.name: field.dataType for field in available}
    for field in wanted:
        if types.get(field.name) != field.dataType:
            raise ValueError(
                f"[USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH] There is no column {field.name} {field.dataType.simpleString()}; "
                f"there are: {', '.join(f'{field.name} {field.dataType.simpleString()}' for field in available)}"
            )
    return pa.schema([pa.field(field.name, COLUMN_TYPES[field.name], nullable=field.nullable) for field in wanted])
