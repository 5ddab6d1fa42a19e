"""Reads with the option `schema.registry.url`: the types of columns, values of several versions, and errors. Most run without Spark."""

from __future__ import annotations

import datetime as dt
import io
import json
import re
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import fastavro
import pyarrow as pa
import pytest
from pyspark.sql.types import BinaryType, LongType, StringType, StructField, StructType

from odradek import Cluster
from odradek.spark_sink.avro_schemas import load_schema
from odradek.spark_sink.avro_types import column_type
from odradek.spark_sink.avro_values import AvroColumn, column_of_type, latest_column, with_place
from odradek.spark_sink.schema_registry import RegistryConfig, SchemaRequestFailed
from odradek.spark_sink.source import OdradekDataSource, _decoding
from odradek.spark_sink.source_options import batch_options, read_options

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NULLABLE = ["null", "string"]


def order(*fields: Any) -> dict[str, Any]:
    declared = [{"name": name, "type": type_, **({"default": None} if type_ == NULLABLE else {})} for name, type_ in fields]
    return {"type": "record", "name": "shop.Order", "fields": declared}


FIRST = order(("id", "long"))
SECOND = order(("id", "long"), ("note", NULLABLE))


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, schema_registry=True) as running:
        yield running


@pytest.fixture
def registry(cluster: Cluster) -> RegistryConfig:
    cluster.reset()
    return RegistryConfig(cluster.schema_registry_url)


def encoded(schema_id: int, schema: Any, value: Any) -> bytes:
    data = io.BytesIO()
    fastavro.schemaless_writer(data, fastavro.parse_schema(schema), value)
    return b"\0" + schema_id.to_bytes(4, "big") + data.getvalue()


def type_of(cluster: Cluster, registry: RegistryConfig, schema: Any) -> Any:
    schema_id = cluster.schemas.register(f"any-{len(cluster.schemas.subjects())}", schema).id
    return column_type(load_schema(registry, schema_id)).arrow


def test_types_are_those_of_spark(cluster: Cluster, registry: RegistryConfig) -> None:
    logical = {"date": "int", "timestamp-millis": "long", "local-timestamp-micros": "long", "time-millis": "int", "uuid": "string"}
    types: dict[str, Any] = {name: {"type": kind, "logicalType": name} for name, kind in logical.items()}
    types |= {"boolean": "boolean", "bytes": "bytes", "float": "float", "number": ["int", "null", "long"], "real": ["float", "double"]}
    types |= {"decimal": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}, "text": NULLABLE}
    types |= {"huge": {"type": "bytes", "logicalType": "decimal", "precision": 50}, "fixed": {"type": "fixed", "name": "F", "size": 2}}
    types |= {"enum": {"type": "enum", "name": "E", "symbols": ["A"]}, "again": "F", "map": {"type": "map", "values": "E"}}
    types |= {"array": {"type": "array", "items": {"type": "record", "name": "I", "fields": [{"name": "x", "type": {"type": "int"}}]}}}
    schema = {"type": "record", "name": "R", "fields": [{"name": name.replace("-", "_"), "type": each} for name, each in types.items()]}
    found = {field.name: str(field.type) for field in type_of(cluster, registry, schema)}
    assert found == {
        "date": "date32[day]", "timestamp_millis": "timestamp[us, tz=UTC]", "local_timestamp_micros": "timestamp[us]",
        "time_millis": "int32", "uuid": "string", "boolean": "bool", "bytes": "binary", "float": "float", "number": "int64",
        "real": "double", "decimal": "decimal128(9, 2)", "text": "string", "huge": "binary", "fixed": "binary", "enum": "string",
        "again": "binary", "map": "map<string, string>", "array": "list<element: struct<x: int32>>",
    }  # fmt: skip
    assert type_of(cluster, registry, '"string"') == pa.string()


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        (order(("a", ["int", "string"])), "value.a: the union of int, string is no column"),
        (order(("next", ["null", "shop.Order"])), "value.next: the record shop.Order contains itself"),
    ],
)
def test_type_that_spark_lacks_is_an_error(cluster: Cluster, registry: RegistryConfig, schema: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        type_of(cluster, registry, schema)


def decode(column: AvroColumn, *values: bytes | None) -> list[Any]:
    wanted = pa.schema([pa.field("value", column.type)])
    read = with_place(wanted)
    arrays = [pa.array(values, pa.binary()), pa.array([0] * len(values), pa.int32()), pa.array(range(len(values)), pa.int64())]
    (batch,) = column.decode(iter([pa.record_batch(arrays, schema=read)]), wanted)
    assert batch.schema == wanted
    return list(batch.column("value").to_pylist())


def test_versions_are_resolved_to_the_latest(cluster: Cluster, registry: RegistryConfig) -> None:
    first, second = (cluster.schemas.register("orders-value", each).id for each in (FIRST, SECOND))
    column = latest_column(registry, "orders")
    values = [encoded(first, FIRST, {"id": 1}), encoded(second, SECOND, {"id": 2, "note": "x"}), None]
    assert decode(column, *values) == [{"id": 1, "note": None}, {"id": 2, "note": "x"}, None]
    older = column_of_type(column, AvroColumn(registry, "orders-value", 1).spark_type)
    assert older is not None and decode(older, *values) == [{"id": 1}, {"id": 2}, None]
    assert column_of_type(column, "another type") is None


def test_logical_types_and_references_are_decoded(cluster: Cluster, registry: RegistryConfig) -> None:
    price = {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}
    item = {"type": "record", "name": "shop.Item", "fields": [{"name": "price", "type": price}]}
    cluster.schemas.register("item", item)
    when = {"type": "long", "logicalType": "timestamp-millis"}
    fields = [{"name": "when", "type": when}, {"name": "items", "type": {"type": "map", "values": "shop.Item"}}]
    schema = {"type": "record", "name": "shop.Order", "fields": fields}
    references: list[Any] = [{"name": "shop.Item", "subject": "item", "version": 1}]
    schema_id = cluster.schemas.register("orders-value", schema, references=references).id
    moment = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
    fields[1]["type"] = {"type": "map", "values": item}
    value = encoded(schema_id, schema, {"when": moment, "items": {"a": {"price": Decimal("1.20")}}})
    assert decode(latest_column(registry, "orders"), value) == [{"when": moment, "items": [("a", {"price": Decimal("1.20")})]}]


def logical(name: str, kind: str = "long", **attributes: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **attributes}


MOMENT = dt.datetime(2026, 1, 31, tzinfo=dt.UTC)
MILLIS = int(MOMENT.timestamp() * 1000)
PRICE = logical("decimal", "bytes", precision=9, scale=2)
FIXED = {"type": "fixed", "name": "F", "size": 2}
CONVERSIONS = {
    "long as millis": ("long", logical("timestamp-millis"), MILLIS, MOMENT),
    "long as micros": ("long", logical("timestamp-micros"), MILLIS * 1000, MOMENT),
    "int as millis": ("int", logical("local-timestamp-millis"), 1000, dt.datetime(1970, 1, 1, 0, 0, 1)),  # noqa: DTZ001  (it has no zone)
    "int as date": ("int", logical("date", "int"), 1, dt.date(1970, 1, 2)),
    "date as int": (logical("date", "int"), "int", dt.date(1970, 1, 2), 1),
    "millis as long": (logical("timestamp-millis"), "long", MOMENT, MILLIS),
    "bytes as decimal": ("bytes", PRICE, b"\x01\x00", Decimal("2.56")),
    "decimal as bytes": (PRICE, "bytes", Decimal("-0.01"), b"\xff"),
    "fixed as decimal": (FIXED, FIXED | {"logicalType": "decimal", "precision": 4, "scale": 1}, b"\x00\x0f", Decimal("1.5")),
    "other precision": (PRICE, PRICE | {"precision": 12}, Decimal("1.20"), Decimal("1.20")),
    "int as number": ("int", ["long", "int"], 5, 5),
}


@pytest.mark.parametrize("case", CONVERSIONS)
@pytest.mark.parametrize("wrap", ["plain", "array", "map", "union", "record"])
def test_logical_type_is_that_of_the_column(cluster: Cluster, registry: RegistryConfig, case: str, wrap: str) -> None:
    written, read, value, expected = CONVERSIONS[case]
    (writer, data), (reader, shown) = wrapped(wrap, written, value), wrapped(wrap, read, expected)
    first = cluster.schemas.register("orders-value", json.dumps(writer)).id
    cluster.schemas.register("orders-value", json.dumps(reader))
    shown = [("a", expected)] if wrap == "map" else shown
    assert decode(latest_column(registry, "orders"), encoded(first, writer, data)) == [shown]


def wrapped(wrap: str, declared: Any, value: Any) -> tuple[Any, Any]:
    """Returns a schema around a type, and the value around one of the type."""
    return {
        "plain": (declared, value),
        "array": ({"type": "array", "items": declared}, [value]),
        "map": ({"type": "map", "values": declared}, {"a": value}),
        "union": (["null", *(declared if isinstance(declared, list) else [declared])], value),
        "record": ({"type": "record", "name": "R", "fields": [{"name": "a", "type": declared}]}, {"a": value}),
    }[wrap]


@pytest.mark.parametrize(
    ("written", "read", "value"),
    [
        (logical("timestamp-millis"), logical("timestamp-micros"), MOMENT),
        (logical("timestamp-micros"), logical("local-timestamp-millis"), MOMENT),
        (logical("date", "int"), logical("timestamp-millis"), dt.date(1970, 1, 2)),
        (logical("time-millis", "int"), logical("time-micros"), dt.time(1)),
        (PRICE, PRICE | {"scale": 3}, Decimal("1.20")),
    ],
)
@pytest.mark.parametrize("wrap", ["plain", "array", "map", "union", "record"])
def test_other_unit_is_an_error(cluster: Cluster, registry: RegistryConfig, written: Any, read: Any, value: Any, wrap: str) -> None:
    (writer, data), (reader, _) = wrapped(wrap, written, value), wrapped(wrap, read, value)
    first = cluster.schemas.register("orders-value", json.dumps(writer)).id
    cluster.schemas.register("orders-value", json.dumps(reader))
    place = {"array": "value[]", "map": "value[]", "record": "value.a"}.get(wrap, "value")
    with pytest.raises(
        ValueError, match=f"at offset 0 of orders-0 .*: {re.escape(place)} is .* in its schema and .* in that of the column"
    ):
        decode(latest_column(registry, "orders"), encoded(first, writer, data))


def test_unit_of_a_renamed_field_is_compared(cluster: Cluster, registry: RegistryConfig) -> None:
    writer = order(("since", logical("timestamp-millis")))
    reader = order(("from", logical("timestamp-micros")))
    reader["fields"][0]["aliases"] = ["since"]
    first = cluster.schemas.register("orders-value", json.dumps(writer)).id
    cluster.schemas.register("orders-value", json.dumps(reader))
    with pytest.raises(ValueError, match=r"value\.from is timestamp-millis in its schema and timestamp-micros in that of the column"):
        decode(latest_column(registry, "orders"), encoded(first, writer, {"since": MOMENT}))


def test_defaults_are_converted(cluster: Cluster, registry: RegistryConfig) -> None:
    first = cluster.schemas.register("orders-value", FIRST).id
    added = [("when", logical("timestamp-millis"), 1000), ("price", PRICE, "\u0001\u0000"), ("raw", "bytes", "\u00ff")]
    fields = [*FIRST["fields"], *({"name": name, "type": kind, "default": default} for name, kind, default in added)]
    cluster.schemas.register("orders-value", FIRST | {"fields": fields})
    (row,) = decode(latest_column(registry, "orders"), encoded(first, FIRST, {"id": 1}))
    assert row == {"id": 1, "when": dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=dt.UTC), "price": Decimal("2.56"), "raw": b"\xff"}


@pytest.mark.parametrize(
    ("declared", "value", "reason"),
    [
        (logical("timestamp-millis"), 1 << 62, "is too large for Spark"),
        (PRICE | {"precision": 2}, b"\x7f\xff", "has more than 2 digits"),
    ],
)
def test_value_beyond_the_column_is_an_error(cluster: Cluster, registry: RegistryConfig, declared: Any, value: Any, reason: str) -> None:
    raw = cluster.schemas.register("orders-value", json.dumps(declared["type"])).id
    cluster.schemas.register("orders-value", declared)
    with pytest.raises(ValueError, match=f"at offset 0 of orders-0 .* {reason}"):
        decode(latest_column(registry, "orders"), encoded(raw, declared["type"], value))


def test_two_references_to_one_schema_are_resolved(cluster: Cluster, registry: RegistryConfig) -> None:
    def refer(*names: str) -> Any:
        return [{"name": name, "subject": name, "version": 1} for name in names]

    cluster.schemas.register("Leaf", {"type": "record", "name": "Leaf", "fields": [{"name": "x", "type": "int"}]})
    for name in ("Left", "Right"):
        declared = {"type": "record", "name": name, "fields": [{"name": "leaf", "type": "Leaf"}]}
        cluster.schemas.register(name, declared, references=refer("Leaf"))
    cluster.schemas.register(
        "orders-value", order(("left", "Left"), ("right", "Right")) | {"name": "Order"}, references=refer("Left", "Right")
    )
    assert (
        latest_column(registry, "orders").spark_type.simpleString()
        == "struct<left:struct<leaf:struct<x:int>>,right:struct<leaf:struct<x:int>>>"
    )


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (b"text", "it does not begin with the byte 0 and the id of a schema"),
        (b"\0\0\0\0\1", "the data end too early"),
        (b"\0\0\0\0\1\2\2", "bytes are left behind the value"),
        (b"\0\0\0\0\7\2", "refuses /schemas/ids/7: 40403, Schema 7 not found"),
        (b"\0\0\0\0\2\2", "No match|does not match|Schema mismatch"),
    ],
)
def test_value_that_does_not_fit_is_an_error(cluster: Cluster, registry: RegistryConfig, value: bytes, reason: str) -> None:
    cluster.schemas.register("orders-value", FIRST)
    cluster.schemas.register("other", '"int"')
    with pytest.raises(ValueError, match=f"(?i)The value at offset 1 of orders-0 cannot be decoded: .*({reason})"):
        decode(latest_column(registry, "orders"), None, value)


def test_missing_subject_and_other_types_are_errors(cluster: Cluster, registry: RegistryConfig) -> None:
    with pytest.raises(ValueError, match="has no subject orders-value"):
        latest_column(registry, "orders")
    for name, kind, text in (("json", "JSON", "{}"), ("proto", "PROTOBUF", 'syntax = "proto3"; message A {}')):
        cluster.schemas.register(f"{name}-value", text, schema_type=kind)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"is of the type {kind}, but only Avro is decoded: leave out .*from_{name}"):
            _ = latest_column(registry, name).type


def test_registry_that_is_away_is_an_error() -> None:
    away = RegistryConfig("http://alice:secret@127.0.0.1:1/path/")
    with pytest.raises(SchemaRequestFailed, match=r"The schema registry at http://127\.0\.0\.1:1/path does not answer") as failed:
        latest_column(away, "orders")
    assert "secret" not in str(failed.value) and away.shown == "http://127.0.0.1:1/path"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subscribe": "a,b"}, "needs one topic"),
        ({"subscribePattern": "a"}, "needs one topic"),
        ({"assign": '{"a": [0], "b": [0]}'}, "needs one topic"),
        ({"subscribe": "a", "schema.registry.url": "localhost:8081"}, "must be a URL"),
        ({"subscribe": "a", "schema.registry.ssl.ca.location": "/none"}, "has no certificates: /none: No such file"),
    ],
)
def test_options_are_checked(options: dict[str, str], message: str) -> None:
    given = {"kafka.bootstrap.servers": "localhost:1", "schema.registry.url": "http://localhost:8081"} | options
    with pytest.raises(ValueError, match=message):
        read_options(given)


def test_credentials_and_authorities_of_the_registry_are_used() -> None:
    with Cluster(nodes=1, tls=True, users={"alice": "p:w"}, schema_registry=True) as cluster:
        cluster.schemas.register("orders-value", FIRST)
        url = cluster.schema_registry_url.replace("//", "//alice:p%3Aw@")
        options = {"kafka.bootstrap.servers": "localhost:1", "assign": '{"orders": [0]}', "schema.registry.url": url}
        source = OdradekDataSource(options | {"schema.registry.ssl.ca.location": str(cluster.tls.ca_file)})
        assert source.schema()["value"].dataType.simpleString() == "struct<id:bigint>"
        with pytest.raises(SchemaRequestFailed, match="CERTIFICATE_VERIFY_FAILED"):
            OdradekDataSource(options).schema()


def test_only_reads_of_the_value_decode(cluster: Cluster, registry: RegistryConfig) -> None:
    cluster.schemas.register("orders-value", FIRST)
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": "orders", "schema.registry.url": registry.url}
    offset, value = StructField("offset", LongType()), StructField("value", StructType([StructField("id", LongType())]))
    for fields, decodes in (([offset, value], True), ([offset], False), ([StructField("value", BinaryType())], False)):
        decoding, wanted = _decoding(batch_options(options), StructType(fields))
        assert (decoding.column is not None) == decodes and wanted.names == [field.name for field in fields]
    with pytest.raises(ValueError, match="There is no column value string"):
        _decoding(batch_options(options), StructType([StructField("value", StringType())]))


def test_spark_reads_columns_in_batch_and_stream(spark: SparkSession, cluster: Cluster, registry: RegistryConfig, tmp_path: Path) -> None:
    cluster.create_topic("orders", 1)
    first = cluster.schemas.register("orders-value", FIRST).id
    cluster.produce("orders", [encoded(first, FIRST, {"id": 1}), {"key": "a", "value": None}])
    options = {"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": "orders", "schema.registry.url": registry.url}
    old = spark.read.format("odradek").options(**options).load()
    assert old.schema["value"].dataType.simpleString() == "struct<id:bigint>"
    second = cluster.schemas.register("orders-value", SECOND).id
    cluster.produce("orders", [encoded(second, SECOND, {"id": 2, "note": "x"})])
    assert [tuple(row) for row in old.select("offset", "value.*").collect()] == [(0, 1), (1, None), (2, 2)]

    stream = spark.readStream.format("odradek").options(**options, startingOffsets="earliest").load().select("value.*")
    query = stream.writeStream.format("json").option("checkpointLocation", str(tmp_path / "checkpoint"))
    query.trigger(availableNow=True).start(str(tmp_path / "out")).awaitTermination()
    lines = [json.loads(line) for file in (tmp_path / "out").glob("*.json") for line in file.read_text("utf-8").splitlines()]
    assert lines == [{"id": 1}, {}, {"id": 2, "note": "x"}]

    cluster.produce("orders", [b"no schema"])
    with pytest.raises(Exception, match="cannot be decoded: it does not begin with the byte 0"):
        spark.read.format("odradek").options(**options).load().collect()
