"""The column `value` of a read with the option `schema.registry.url`: Avro data as columns of Spark.

The column has the type of the latest version of the subject `TOPIC-value` (the reader's schema). A task decodes each record with the
schema whose id it contains (the writer's schema), and fits it to the column by the rules of Avro's schema resolution. Spark's function
from_avro does not serve here, because it knows one writer's schema for all records.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from struct import Struct
from typing import Any

import pyarrow as pa

from .avro_schemas import ParsedAvro, load_schema
from .avro_types import column_type
from .logical_units import check_units
from .schema_registry import URL_OPTION, RegistryConfig, version_of, versions_of

HEADER = Struct(">bI")
"""The byte 0 and the id of the schema, in front of the data (Confluent's wire format)."""
PLACE = {"partition": pa.int32(), "offset": pa.int64()}


@dataclass(frozen=True)
class AvroColumn:
    """The decoded column `value`: the registry, the subject of its schemas, and the version that gives its type."""

    registry: RegistryConfig
    subject: str
    version: int

    @property
    def type(self) -> Any:
        """The Arrow type of the column. Raises SchemaRequestFailed, ValueError."""
        try:
            return column_type(load_schema(self.registry, self.schema_id)).arrow
        except ValueError as error:
            raise ValueError(f"Option {URL_OPTION!r}: {error}") from None

    @property
    def schema_id(self) -> int:
        """The id of the version. Raises SchemaRequestFailed."""
        return int(version_of(self.registry, self.subject, self.version)["id"])

    @property
    def spark_type(self) -> Any:
        """The type of the column in Spark. Raises SchemaRequestFailed, ValueError."""
        from pyspark.sql.pandas.types import from_arrow_type

        return from_arrow_type(self.type, prefer_timestamp_ntz=True)

    def decode(self, batches: Iterator[Any], wanted: Any) -> Iterator[Any]:
        """Yields `pyarrow.RecordBatch`es of the schema `wanted` for those that have the bytes of the values.

        Raises ValueError for a value that has no schema of the registry or does not fit it.
        """
        decoder = _Decoder(self)
        for batch in batches:
            columns = [
                self._decode_values(batch, field.type, decoder) if field.name == "value" else batch.column(field.name) for field in wanted
            ]
            yield pa.record_batch(columns, schema=wanted)

    def _decode_values(self, batch: Any, kind: Any, decoder: _Decoder) -> Any:
        values = []
        for row, data in enumerate(batch.column("value").to_pylist()):
            try:
                values.append(None if data is None else decoder.decode(data))
            except Exception as error:  # noqa: BLE001  (fastavro raises errors of many kinds for damaged data)
                partition, offset = (batch.column(name)[row].as_py() for name in PLACE)
                reason = str(error) or "the data end too early"
                topic = self.subject.removesuffix("-value")
                raise ValueError(f"The value at offset {offset} of {topic}-{partition} cannot be decoded: {reason}") from None
        return pa.array(values, kind)


class _Decoder:
    """Decodes the values of a task, which asks the registry for each schema once.

    Schemas are not kept for later tasks, because a test may reset its registry, after which an id stands for another schema.
    """

    def __init__(self, column: AvroColumn) -> None:
        schema_id = column.schema_id
        self._read = import_reader()
        self._registry = column.registry
        self._reader = load_schema(column.registry, schema_id)
        self._writers = {schema_id: self._reader}
        self._convert = column_type(self._reader).convert

    def decode(self, data: bytes) -> Any:
        """Returns the value of a record. Raises ValueError and SchemaRequestFailed, and what fastavro raises for damaged data."""
        if len(data) < HEADER.size or data[0] != 0:
            raise ValueError("it does not begin with the byte 0 and the id of a schema")
        writer, stream = self._writer(HEADER.unpack_from(data)[1]), BytesIO(data[HEADER.size :])
        value = self._read(stream, writer.record, None if writer is self._reader else self._reader.record)["value"]
        if stream.read(1):
            raise ValueError("bytes are left behind the value")
        return value if self._convert is None else self._convert(value)

    def _writer(self, schema_id: int) -> ParsedAvro:
        if (known := self._writers.get(schema_id)) is None:
            known = load_schema(self._registry, schema_id)
            check_units(known, self._reader)
            self._writers[schema_id] = known
        return known


def with_place(wanted: Any) -> Any:
    """Returns the schema of what has to be read for the schema `wanted`: the bytes of values, and the places of records for errors."""
    fields = [field.with_type(pa.binary()) if field.name == "value" else field for field in wanted]
    return pa.schema([*fields, *(pa.field(name, kind) for name, kind in PLACE.items() if name not in wanted.names)])


def latest_column(registry: RegistryConfig, topic: str) -> AvroColumn:
    """Returns the column of the latest version of the subject of a topic. Raises SchemaRequestFailed, ValueError."""
    import_reader()
    versions = versions_of(registry, f"{topic}-value")
    if not versions:
        raise ValueError(f"The schema registry at {registry.shown} has no subject {topic}-value, of which {URL_OPTION!r} takes the columns")
    return AvroColumn(registry, f"{topic}-value", versions[0])


def column_of_type(latest: AvroColumn, wanted: Any) -> AvroColumn | None:
    """Returns the latest version whose column has a type of Spark, None if no version has.

    A data frame keeps its type when a version is added to the subject.
    """
    for version in versions_of(latest.registry, latest.subject):
        column = AvroColumn(latest.registry, latest.subject, version)
        if column.spark_type == wanted:
            return column
    return None


def import_reader() -> Any:
    """Returns the function of fastavro that decodes data. Raises ValueError if the package is not installed."""
    try:
        from fastavro import schemaless_reader
    except ImportError:
        raise ValueError(f"Option {URL_OPTION!r} needs the package fastavro: pip install 'odradek[spark-avro]'") from None
    return schemaless_reader
