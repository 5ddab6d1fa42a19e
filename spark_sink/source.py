"""`spark.read.format("odradek")`: the columns, options and errors of Spark's own Kafka source, without a jar.

Done: batch reads. Not done: streams, writing.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import DataSource
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

from .decoder import COLUMN_TYPES
from .options import read_options
from .reader import BatchReader

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
    """Reads from Kafka, or from odradek's emulator of it. docs/spark.md has the options."""

    @classmethod
    def name(cls) -> str:
        """What `format` takes."""
        return "odradek"

    def schema(self) -> StructType:
        """The columns; the options are checked here, as `load()` asks for nothing else. Raises ValueError."""
        return columns(read_options(self.options).include_headers)

    def reader(self, schema: StructType) -> BatchReader:
        """A batch read of the columns of `schema`, which may be fewer than there are. Raises ValueError, KafkaCondition."""
        options = read_options(self.options)
        return BatchReader(options, arrow_schema(schema, columns(options.include_headers)))


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
