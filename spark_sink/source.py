"""Entry point of the data source `format("odradek")`, with the columns, options and errors of Spark's own Kafka source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource, DataSourceStreamWriter
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    DataType,
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
from .sink_options import sink_options
from .source_options import ReadOptions, batch_options, read_options, stream_options
from .stream_reader import StreamReader
from .user_options import UserOptions
from .workers import choose_interpreter
from .writers import BatchWriter, stream_writer

BINARY = BinaryType()
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
    """Reads from and writes to Kafka brokers, including odradek's emulator. docs/spark.md lists the options.

    Spark creates an instance with the options of each query, and calls the methods below to obtain readers and writers.
    """

    @classmethod
    def name(cls) -> str:
        """Returns the name that is passed to `format`."""
        # `spark.dataSource.register` calls this before it records which Python executable the workers run.
        choose_interpreter()
        return "odradek"

    def schema(self) -> StructType:
        """Returns the columns. The options are checked here, because `load()` calls no other method. Raises ValueError."""
        warn_of_unknown(UserOptions(self.options))
        options = read_options(self.options)
        if options.registry is None:
            return columns(options.include_headers)
        from .avro_values import latest_column

        return columns(options.include_headers, latest_column(options.registry, options.topic).spark_type)

    def reader(self, schema: StructType) -> BatchReader:
        """Returns a batch reader of the columns in `schema`, all of them or a part. Raises ValueError, KafkaCondition."""
        return batch_reader(*_decoding(batch_options(self.options), schema))

    def streamReader(self, schema: StructType) -> StreamReader:  # noqa: N802
        """Returns a stream reader of the columns in `schema`, all of them or a part. Raises ValueError."""
        options, trigger = stream_options(self.options)
        decoding, wanted = _decoding(options, schema)
        return StreamReader(decoding, trigger, wanted)

    def writer(self, schema: StructType, overwrite: bool) -> BatchWriter:
        """Returns a writer that appends rows of `schema`. Raises ValueError for `overwrite` and invalid options, KafkaCondition."""
        if overwrite:
            raise ValueError("Save mode Overwrite not allowed for Kafka. Allowed save modes are Append and ErrorIfExists (default).")
        return BatchWriter(sink_options(self.options, schema))

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:  # noqa: ARG002, N802
        """Returns a writer that appends the rows of each batch, in output mode complete too. Raises ValueError, KafkaCondition."""
        return stream_writer(sink_options(self.options, schema), schema.names)


def columns(include_headers: bool, value: DataType = BINARY) -> StructType:
    """Returns all columns of the source, with the type of the values."""
    fields = [StructField("value", value) if each.name == "value" else each for each in COLUMNS]
    return StructType([*fields, HEADERS] if include_headers else fields)


def _decoding(options: ReadOptions, wanted: StructType) -> tuple[ReadOptions, Any]:
    """Returns the options with the column for decoded values, if `wanted` has one, and the Arrow schema of `wanted`. Raises ValueError."""
    value = next((field.dataType for field in wanted if field.name == "value"), BINARY)
    if options.registry is None or value == BINARY:
        return options, arrow_schema(wanted, columns(options.include_headers))
    from .avro_values import column_of_type, latest_column

    latest = latest_column(options.registry, options.topic)
    column = column_of_type(latest, value) or latest
    available = columns(options.include_headers, column.spark_type)
    return replace(options, column=column), arrow_schema(wanted, available, {"value": column.type})


def arrow_schema(wanted: StructType, available: StructType, decoded: Mapping[str, Any] = MappingProxyType({})) -> Any:
    """Returns the Arrow schema of `wanted`, which Spark compares exactly. Raises ValueError for a column that is not `available`.

    `decoded` has the types of columns that are not bytes.
    """
    types = {field.name: field.dataType for field in available}
    for field in wanted:
        if types.get(field.name) != field.dataType:
            raise ValueError(
                f"[USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH] There is no column {field.name} {field.dataType.simpleString()}; "
                f"there are: {', '.join(f'{field.name} {field.dataType.simpleString()}' for field in available)}"
            )
    arrow_types = {**COLUMN_TYPES, **decoded}
    return pa.schema([pa.field(field.name, arrow_types[field.name], nullable=field.nullable) for field in wanted])
