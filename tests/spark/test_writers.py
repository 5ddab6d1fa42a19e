"""`format("odradek")` as a sink in a real Spark session: Spark's own rules, batches and streams, read back by other clients."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from kafka.partitioner.default import murmur2
from pyspark.sql.types import StructType, _parse_datatype_string

from examples import copy_topic
from odradek.broker import Cluster
from odradek.protocol.compression import Compression
from odradek.spark_sink.error_conditions import KafkaCondition
from odradek.spark_sink.producer import ALL_REPLICAS, ProducerConfig
from odradek.spark_sink.sink_options import LEADER_ONLY, check_schema, sink_options
from odradek.spark_sink.source import OdradekDataSource
from odradek.spark_sink.writers import StreamRowWriter, stream_writer
from tests.spark.kafka_topics import KEEP, Broker, bodies, new_topic, produce
from tests.spark.spark_process import SparkProcess
from tests.spark.test_task_writer import read_by_confluent

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

pytestmark = pytest.mark.spark
ALL_TYPES = "key string, value binary, topic string, partition int, headers array<struct<key:string,value:binary>>, timestamp long"


def save(frame: DataFrame, broker: Broker, **options: Any) -> None:
    given = {"kafka.bootstrap.servers": broker.bootstrap_servers} | {name.replace("__", "."): value for name, value in options.items()}
    frame.write.format("odradek").options(**given).mode("append").save()


def test_all_columns(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 2)
    headers = [("a", b"1"), ("a", None), ("", b"")]
    rows = [
        ("k", b"v", topic, 1, headers, 7),
        (None, None, topic, 1, None, None),
        ("", b"", topic, 1, [], 8),
        ("ключ", b"\xff", topic, 0, [("h", b"x")], 9),
    ]
    save(spark.createDataFrame(rows, ALL_TYPES).coalesce(1), broker)
    found = read_by_confluent(broker, topic, 2, 4)
    assert found[1] == [(b"k", b"v", headers), (None, None, []), (b"", b"", [])]
    assert found[0] == [("ключ".encode(), b"\xff", [("h", b"x")])]


def test_keys_go_where_javas_client_puts_them(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 5)
    frame = spark.range(1000).selectExpr("repeat(string(id), int(id % 7)) key", "string(id) value", "int(NULL) partition")
    save(frame, broker, topic=topic)
    found = read_by_confluent(broker, topic, 5, 1000)
    assert all((murmur2(key) & 0x7FFFFFFF) % 5 == number for number, records in enumerate(found) for key, _, _ in records)
    assert sorted(int(value or b"") for records in found for _, value, _ in records) == list(range(1000))


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_codecs(spark: SparkSession, broker: Broker, codec: str) -> None:
    topic = new_topic(broker)
    save(spark.range(3000).selectExpr("string(id) value").coalesce(1), broker, topic=topic, kafka__compression__type=codec)
    assert [value for _, value, _ in read_by_confluent(broker, topic, 1, 3000)[0]] == [b"%d" % number for number in range(3000)]


def test_the_option_beats_the_column(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker)
    save(spark.createDataFrame([(None, "v")], "topic string, value string"), broker, topic=topic)
    read_by_confluent(broker, topic, 1, 1)


@pytest.mark.parametrize(
    ("columns", "topic", "text"),
    [
        ("value string", None, "topic option required when no 'topic' attribute is present. Use the topic option for setting a topic."),
        ("value string, topic int", None, "topic attribute unsupported type int. topic must be a(n) string"),
        ("VALUE string", "t", "Required attribute 'value' not found"),
        ("value int", "t", "value attribute unsupported type int. value must be a(n) string or binary"),
        ("value void", "t", "value attribute unsupported type void. value must be a(n) string or binary"),
        ("value string, key array<int>", "t", "key attribute unsupported type array<int>. key must be a(n) string or binary"),
        ("value string, partition bigint", "t", "partition attribute unsupported type bigint. partition must be a(n) int"),
        (
            "value string, headers array<struct<name:string,value:binary>>",
            "t",
            "headers attribute unsupported type array<struct<name:string,value:binary>>. "
            "headers must be a(n) array<struct<key:string,value:binary>>",
        ),
        ("value string, headers void", "t", "headers attribute unsupported type void"),
    ],
)
def test_columns_that_are_refused(spark: SparkSession, columns: str, topic: str | None, text: str) -> None:
    schema = _parse_datatype_string(columns)
    assert isinstance(schema, StructType)
    with pytest.raises(ValueError) as caught:
        check_schema(schema, topic)
    assert str(caught.value).startswith(text)


def test_errors_of_a_write(spark: SparkSession, cluster: Cluster) -> None:
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
    read_by_confluent(cluster, topic, 2, 0)


def options_of(**given: Any) -> ProducerConfig:
    options = {"kafka.bootstrap.servers": "h:1", "topic": "t"} | {name.replace("__", "."): str(value) for name, value in given.items()}
    return sink_options(options, StructType().add("value", "string")).producer


def test_options() -> None:
    default = options_of()
    assert (default.acks, default.idempotent, default.compression, default.compression_level) == (
        ALL_REPLICAS,
        True,
        Compression.NONE,
        None,
    )
    given = options_of(kafka__acks="1", kafka__compression__type="zstd", kafka__compression__zstd__level="5", kafka__batch__size="9")
    assert (given.acks, given.idempotent, given.compression, given.compression_level) == (LEADER_ONLY, False, Compression.ZSTD, 5)
    assert given.batch_size == 9
    timeouts = options_of(
        kafka__max__request__size=1, kafka__delivery__timeout__ms=2, kafka__max__block__ms=3, kafka__request__timeout__ms=4
    )
    assert (timeouts.max_request_size, timeouts.delivery_timeout_ms, timeouts.max_block_ms) == (1, 2, 3)
    assert timeouts.client.request_timeout_ms == 4
    assert not options_of(kafka__enable__idempotence="false").idempotent


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"kafka.key.serializer": "x"},
            "Kafka option 'kafka.key.serializer' is not supported as keys are serialized with ByteArraySerializer.",
        ),
        ({"kafka.value.serializer": "x"}, "Kafka option 'kafka.value.serializer' is not supported as value are serialized with ByteArray"),
        ({"kafka.acks": "2"}, "Invalid value 2 for option 'kafka.acks': String must be one of: -1, 0, 1, all"),
        (
            {"kafka.acks": "1", "kafka.enable.idempotence": "true"},
            "Must set kafka.acks to all in order to use the idempotent producer: set",
        ),
        (
            {"kafka.compression.type": "lzma"},
            "Invalid value lzma for option 'kafka.compression.type': String must be one of: gzip, lz4, none",
        ),
        ({"kafka.batch.size": "x"}, 'For input string: "x"'),
    ],
)
def test_options_that_are_refused(given: dict[str, str], text: str) -> None:
    with pytest.raises(ValueError) as caught:
        sink_options({"kafka.bootstrap.servers": "h:1", "topic": "t"} | given, StructType().add("value", "string"))
    assert str(caught.value).startswith(text)


def test_misspelt_settings_are_told() -> None:
    with pytest.warns(UserWarning, match=r"Kafka option 'kafka\.compresion\.type' is not known here"):
        options_of(kafka__compresion__type="lz4")
    options_of(kafka__linger__ms=5)


def test_no_brokers_are_named() -> None:
    with pytest.raises(KafkaCondition, match=r"Kafka option 'kafka\.bootstrap\.servers' is not set"):
        sink_options({"topic": "t"}, StructType().add("value", "string"))


def stream(spark: SparkSession, cluster: Cluster, topic: str, **options: Any) -> DataFrame:
    reader = spark.readStream.format("odradek").option("kafka.bootstrap.servers", cluster.bootstrap_servers).option("subscribe", topic)
    return reader.options(startingOffsets="earliest", **options).load()


def test_a_stream_that_is_started_again(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = new_topic(broker, 2), new_topic(broker, 3)
    for expected in (300, 600):
        for partition in (0, 1):
            produce(broker, source, bodies(150), partition, **{"batch.num.messages": 20})
        copy_topic.copy(spark, broker.bootstrap_servers, source, target, tmp_path)
        copied = read_by_confluent(broker, target, 3, expected)
        original = read_by_confluent(broker, source, 2, expected)
        assert sorted(map(repr, sum(copied, []))) == sorted(map(repr, sum(original, [])))  # noqa: RUF017


def test_a_stream_with_brokers_that_stop_and_start(spark: SparkSession, tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"from": 2, "to": 2}, settings=KEEP, seed=3) as cluster:
        records = [(b"%d" % number, b"%d" % number, []) for number in range(1200)]
        frame = stream(spark, cluster, "from", maxOffsetsPerTrigger=200).selectExpr("key", "value")
        writer = frame.writeStream.format("odradek").option("kafka.bootstrap.servers", cluster.bootstrap_servers).option("topic", "to")
        query = writer.option("checkpointLocation", str(tmp_path)).start()
        for number in range(6):
            produce(cluster, "from", records[number * 200 : number * 200 + 200], number % 2)
            [cluster.stop_node, cluster.start_node][number % 2](number // 2 % 2 + 1)
        query.processAllAvailable()
        query.stop()
        found = read_by_confluent(cluster, "to", 2, 1200)
    assert sorted(int(value or b"") for records in found for _, value, _ in records) == list(range(1200))


def test_complete_mode_after_an_aggregation(spark: SparkSession, broker: Broker, tmp_path: Path) -> None:
    source, target = new_topic(broker), new_topic(broker)
    produce(broker, source, [(b"k%d" % (n % 3), b"v", []) for n in range(30)])
    counts = stream(spark, broker, source).groupBy("key").count().selectExpr("key", "string(count) value", f"'{target}' topic")
    writer = counts.writeStream.format("odradek").outputMode("complete").option("kafka.bootstrap.servers", broker.bootstrap_servers)
    writer.option("checkpointLocation", str(tmp_path)).trigger(availableNow=True).start().awaitTermination(60)
    assert sorted(read_by_confluent(broker, target, 1, 3)[0]) == [(b"k%d" % n, b"10", []) for n in range(3)]


def test_rows_for_a_spark_that_gives_streams_no_arrow(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
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
    assert [value for _, value, _ in read_by_confluent(cluster, topic, 1, 10)[0]] == [b"%d" % number for number in range(10)]


def test_the_oldest_spark(spark_4_0: SparkProcess, cluster: Cluster, tmp_path: Path) -> None:
    source, target, records = new_topic(cluster), new_topic(cluster), bodies(50)
    produce(cluster, source, records)
    spark_4_0.run(copy_topic.copy, cluster.bootstrap_servers, source, target, tmp_path)
    assert read_by_confluent(cluster, target, 1, 50) == [records]
