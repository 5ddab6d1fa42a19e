"""Batch and stream writes with `format("odradek")` in a Spark session, which other clients read back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka.partitioner.default import murmur2
from pyspark.sql.types import StructType

from examples import copy_topic
from odradek.broker import Cluster
from odradek.spark_sink.sink_options import sink_options
from odradek.spark_sink.source import OdradekDataSource
from odradek.spark_sink.writers import StreamRowWriter, stream_writer
from tests.spark.kafka_topics import BROKER_SETTINGS, Body, Broker, Written, bodies, new_topic, produce, records_by_partition
from tests.spark.spark_process import SparkProcess

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ALL_TYPES = "key string, value binary, topic string, partition int, headers array<struct<key:string,value:binary>>, timestamp long"


def save(frame: DataFrame, broker: Broker, **options: Any) -> None:
    broker_options = {"kafka.bootstrap.servers": broker.bootstrap_servers} | {
        name.replace("__", "."): value for name, value in options.items()
    }
    frame.write.format("odradek").options(**broker_options).mode("append").save()


def test_write_all_columns(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 2)
    headers = [("a", b"1"), ("a", None), ("", b"")]
    rows = [
        ("k", b"v", topic, 1, headers, 7),
        (None, None, topic, 1, None, None),
        ("", b"", topic, 1, [], 8),
        ("ключ", b"\xff", topic, 0, [("h", b"x")], 9),
    ]
    save(spark.createDataFrame(rows, ALL_TYPES).coalesce(1), broker)
    found = records_by_partition(broker, topic, 2, 4)
    assert found[1] == [(b"k", b"v", headers), (None, None, []), (b"", b"", [])]
    assert found[0] == [("ключ".encode(), b"\xff", [("h", b"x")])]


def test_write_keys_choose_partitions_of_java_client(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 5)
    frame = spark.range(1000).selectExpr("repeat(string(id), int(id % 7)) key", "string(id) value", "int(NULL) partition")
    save(frame, broker, topic=topic)
    found = records_by_partition(broker, topic, 5, 1000)
    assert all((murmur2(key) & 0x7FFFFFFF) % 5 == number for number, records in enumerate(found) for key, _, _ in records)
    assert sorted(int(value or b"") for records in found for _, value, _ in records) == list(range(1000))


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_write_codecs_are_read_back_in_order(spark: SparkSession, broker: Broker, codec: str) -> None:
    topic = new_topic(broker)
    save(spark.range(3000).selectExpr("string(id) value").coalesce(1), broker, topic=topic, kafka__compression__type=codec)
    assert [value for _, value, _ in records_by_partition(broker, topic, 1, 3000)[0]] == [b"%d" % number for number in range(3000)]


def test_write_topic_option_overrides_the_column(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker)
    save(spark.createDataFrame([(None, "v")], "topic string, value string"), broker, topic=topic)
    records_by_partition(broker, topic, 1, 1)


def test_write_invalid_input_fails_without_records(spark: SparkSession, cluster: Cluster) -> None:
    topic = new_topic(cluster, 2)
    rows = spark.createDataFrame([("v", 9, None)], "value string, partition int, topic string")

    def failure(frame: DataFrame, **options: Any) -> str:
        with pytest.raises(Exception) as caught:
            save(frame, cluster, kafka__max__block__ms=100, **options)
        return str(caught.value)

    assert "Required attribute 'value' not found" in failure(rows.select("topic"))
    assert "KAFKA_NULL_TOPIC_IN_DATA" in failure(rows)
    too_high = f"Partition 9 of topic {topic} with partition count 2 is not present in metadata after 100 ms."
    assert too_high in failure(rows, topic=topic)
    with pytest.raises(Exception, match=r"Save mode Overwrite not allowed for Kafka\. Allowed save modes are Append and ErrorIfExists"):
        rows.write.format("odradek").option("topic", topic).mode("overwrite").save()
    records_by_partition(cluster, topic, 2, 0)


def stream(spark: SparkSession, cluster: Broker, topic: str, **options: Any) -> DataFrame:
    reader = spark.readStream.format("odradek").option("kafka.bootstrap.servers", cluster.bootstrap_servers).option("subscribe", topic)
    return reader.options(startingOffsets="earliest", **options).load()


def copies(source: str, partitions: list[list[Written]]) -> list[Written]:
    """Returns the copies that `copy_topic` makes of the records of a topic, each with a header that names its origin."""
    return [
        (key, value, [*headers, ("copied-from", f"{source}/{partition}/{offset}".encode())])
        for partition, records in enumerate(partitions)
        for offset, (key, value, headers) in enumerate(records)
    ]


@pytest.mark.slow
def test_stream_write_continues_after_a_restart(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = new_topic(broker, 2), new_topic(broker, 3)
    for expected in (300, 600):
        for partition in (0, 1):
            produce(broker, source, bodies(150), partition, **{"batch.num.messages": 20})
        copy_topic.copy(spark, broker.bootstrap_servers, source, target, tmp_path)
        copied = [record for records in records_by_partition(broker, target, 3, expected) for record in records]
        assert sorted(copied, key=repr) == sorted(copies(source, records_by_partition(broker, source, 2, expected)), key=repr)


@pytest.mark.slow
def test_stream_write_broker_restarts_lose_nothing(spark: SparkSession, tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"from": 2, "to": 2}, settings=BROKER_SETTINGS, seed=3) as cluster:
        records: list[Body] = [(b"%d" % number, b"%d" % number, []) for number in range(1200)]
        frame = stream(spark, cluster, "from", maxOffsetsPerTrigger=200).selectExpr("key", "value")
        writer = frame.writeStream.format("odradek").option("kafka.bootstrap.servers", cluster.bootstrap_servers).option("topic", "to")
        query = writer.option("checkpointLocation", str(tmp_path)).start()
        for number in range(6):
            produce(cluster, "from", records[number * 200 : number * 200 + 200], number % 2)
            [cluster.stop_node, cluster.start_node][number % 2](number // 2 % 2 + 1)
        query.processAllAvailable()
        query.stop()
        found = records_by_partition(cluster, "to", 2, 1200)
    assert sorted(int(value or b"") for records in found for _, value, _ in records) == list(range(1200))


def test_stream_write_complete_mode(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = new_topic(broker), new_topic(broker)
    produce(broker, source, [(b"k%d" % (n % 3), b"v", []) for n in range(30)])
    counts = stream(spark, broker, source).groupBy("key").count().selectExpr("key", "string(count) value", f"'{target}' topic")
    writer = counts.writeStream.format("odradek").outputMode("complete").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start().awaitTermination(60)
    assert sorted(records_by_partition(broker, target, 1, 3)[0]) == [(b"k%d" % n, b"10", []) for n in range(3)]


def test_stream_writer_without_arrow_writes_rows(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    from pyspark.sql import Row, datasource

    topic, schema = new_topic(cluster), StructType().add("value", "string").add("other", "integer")
    source = OdradekDataSource({"kafka.bootstrap.servers": cluster.bootstrap_servers, "topic": topic})
    assert not isinstance(source.streamWriter(schema, overwrite=True), StreamRowWriter)
    monkeypatch.delattr(datasource, "DataSourceStreamArrowWriter")
    writer = stream_writer(sink_options(source.options, schema), schema.names)
    assert isinstance(writer, StreamRowWriter)

    def rows() -> Iterator[Row]:
        yield from (Row(value=str(number), other=number) for number in range(10))

    writer.write(rows())
    assert [value for _, value, _ in records_by_partition(cluster, topic, 1, 10)[0]] == [b"%d" % number for number in range(10)]


def test_stream_write_oldest_spark(spark_4_0: SparkProcess, cluster: Cluster, tmp_path: Path) -> None:
    source, target, records = new_topic(cluster), new_topic(cluster), bodies(50)
    produce(cluster, source, records)
    spark_4_0.run(copy_topic.copy, cluster.bootstrap_servers, source, target, tmp_path)
    assert records_by_partition(cluster, target, 1, 50) == [copies(source, [records])]
