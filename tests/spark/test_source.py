"""Batch reads with `format("odradek")` in a Spark session."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StructField, StructType

from odradek import spark_sink
from odradek.broker import Cluster
from odradek.spark_sink.autoload import DefaultSource
from odradek.spark_sink.batch_reader import BatchReader
from odradek.spark_sink.client import client_for
from odradek.spark_sink.source import COLUMNS, HEADERS, OdradekDataSource, arrow_schema, columns
from tests.spark.decoder_reference import ALL_COLUMNS
from tests.spark.kafka_topics import BROKER_SETTINGS, FIRST_TIMESTAMP, TIMESTAMP_STEP, Broker, bodies, delete_before, new_topic, produce
from tests.spark.queries import rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


def load(spark: SparkSession, broker: Broker, **options: Any) -> DataFrame:
    broker_options = {"kafka.bootstrap.servers": broker.bootstrap_servers} | {
        name.replace("__", "."): value for name, value in options.items()
    }
    return spark.read.format("odradek").options(**broker_options).load()


def test_read_equals_the_produced_records(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 3)
    written = produce(broker, topic, bodies(200), 0) + produce(broker, topic, bodies(100), 2, **{"batch.num.messages": 9})
    frame = load(spark, broker, subscribe=topic, includeHeaders=True)
    assert frame.schema == StructType([*COLUMNS, HEADERS])
    assert rows(frame) == written
    assert frame.count() == 300


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_read_codecs_return_the_produced_records(spark: SparkSession, broker: Broker, codec: str) -> None:
    topic = new_topic(broker)
    settings: dict[str, Any] = {"compression.type": codec}
    written = produce(broker, topic, bodies(100), **settings)
    assert rows(load(spark, broker, subscribe=topic, includeHeaders=True)) == written


def test_read_subscriptions_and_offsets(spark: SparkSession, broker: Broker) -> None:
    one, two = new_topic(broker, 2), new_topic(broker)
    written = [produce(broker, topic, bodies(20), partition) for topic, partition in [(one, 0), (one, 1), (two, 0)]]
    assert load(spark, broker, subscribe=f"{one}, {two}").count() == 60
    assert load(spark, broker, subscribePattern=f"^({one}|{two})$").count() == 60
    assert load(spark, broker, subscribePattern="^nosuch").count() == 0
    assert load(spark, broker, assign="{}").count() == 0
    some = load(
        spark,
        broker,
        assign=f'{{"{one}":[1],"{two}":[0]}}',
        startingOffsets=f'{{"{one}":{{"1":5}},"{two}":{{"0":-2}}}}',
        endingOffsets=f'{{"{one}":{{"1":-1}},"{two}":{{"0":7}}}}',
        includeHeaders="true",
    )
    assert rows(some) == written[1][5:] + written[2][:7]


def test_read_empty_topic_returns_no_rows(spark: SparkSession, cluster: Cluster) -> None:
    frame = load(spark, cluster, subscribe=new_topic(cluster, 4))
    assert frame.columns == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert frame.collect() == []


def test_read_log_append_time(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, message_timestamp_type="LogAppendTime")
    written = produce(broker, topic, bodies(3))
    found = rows(load(spark, broker, subscribe=topic, includeHeaders=True))
    assert [row.timestamp_type for row in found] == [1, 1, 1]
    assert all(mine.timestamp_us > theirs.timestamp_us for mine, theirs in zip(found, written, strict=True))


def test_read_sql_and_show(spark: SparkSession, broker: Broker, capsys: pytest.CaptureFixture[str]) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, [(b"k%d" % (n % 3), b"%d" % n, []) for n in range(30)], 1)
    load(spark, broker, subscribe=topic).createOrReplaceTempView("records")
    found = spark.sql(
        "SELECT CAST(key AS STRING) k, SUM(INT(STRING(value))) s FROM records WHERE offset >= 3 GROUP BY 1 ORDER BY 1"
    ).collect()
    assert [(row.k, row.s) for row in found] == [("k0", 135), ("k1", 144), ("k2", 153)]
    load(spark, broker, subscribe=topic).selectExpr("CAST(value AS STRING) v", "offset").show(2)
    assert "|  v|offset|" in capsys.readouterr().out


def test_read_schema_of_fewer_columns(spark: SparkSession, cluster: Cluster) -> None:
    topic = new_topic(cluster)
    produce(cluster, topic, bodies(5))
    reader = spark.read.format("odradek").options(**{"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic})
    frame = reader.schema("offset long, topic string").load()
    assert [tuple(row) for row in frame.collect()] == [(offset, topic) for offset in range(5)]
    with pytest.raises(Exception, match="USER_SPECIFIED_AND_ACTUAL_SCHEMA_MISMATCH"):
        reader.schema("offset int").load().collect()


def test_read_registered_source(spark: SparkSession, cluster: Cluster) -> None:
    topic = new_topic(cluster)
    produce(cluster, topic, bodies(5))
    spark.dataSource.register(spark_sink.OdradekDataSource)
    assert load(spark, cluster, subscribe=topic).count() == 5


@pytest.mark.slow
def test_read_broker_restarted_between_queries(spark: SparkSession) -> None:
    with Cluster(nodes=2, topics={"t": 2}, settings=BROKER_SETTINGS) as cluster:
        written = produce(cluster, "t", bodies(50), 0) + produce(cluster, "t", bodies(50), 1)
        frame = load(spark, cluster, subscribe="t", includeHeaders=True)
        for node in (1, 2):
            assert rows(frame) == written
            cluster.stop_node(node)
            assert rows(frame) == written
            cluster.start_node(node)
        assert rows(frame) == written


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "One of the following options must be specified for Kafka source: subscribe, subscribePattern, assign."),
        ({"subscribe": "t", "startingOffsets": "foo"}, 'Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got foo'),
        ({"subscribe": "t", "kafka__enable__auto__commit": "true"}, "Kafka option 'kafka.enable.auto.commit' is not supported"),
    ],
)
def test_load_invalid_options_raises(spark: SparkSession, cluster: Cluster, options: dict[str, str], text: str) -> None:
    with pytest.raises(Exception) as caught:
        load(spark, cluster, **options)
    assert text in str(caught.value)


def test_read_errors_of_a_query(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker)
    written = produce(broker, topic, bodies(30), **{"batch.num.messages": 10})
    delete_before(broker, topic, 10)

    def failure(**options: Any) -> str:
        with pytest.raises(Exception) as caught:
            load(spark, broker, **options).collect()
        return str(caught.value)

    assert "starting offset can't be latest for batch queries on Kafka" in failure(subscribe=topic, startingOffsets="latest")
    assert "This server does not host this topic-partition." in failure(subscribe="nosuch", fetchOffset__retryIntervalMs=0)
    early = {"subscribe": topic, "startingOffsets": f'{{"{topic}":{{"0":5}}}}'}
    assert f"Could not read records in offset [5, 30) for topic partition {topic}-0" in failure(**early)
    assert rows(load(spark, broker, failOnDataLoss=False, includeHeaders=True, **early)) == written[10:]


def test_arrow_schema_equals_the_columns() -> None:
    assert arrow_schema(columns(include_headers=True), columns(include_headers=True)) == ALL_COLUMNS
    strict = StructType([StructField("partition", IntegerType(), nullable=False)])
    assert arrow_schema(strict, COLUMNS) == pa.schema([pa.field("partition", pa.int32(), nullable=False)])


def test_source_without_a_session_reads(cluster: Cluster) -> None:
    topic = new_topic(cluster, 2)
    written = produce(cluster, topic, bodies(10), 1)
    source = OdradekDataSource({"kafka.bootstrap.servers": cluster.bootstrap_servers, "subscribe": topic})
    assert source.name() == "odradek"
    assert source.schema() == COLUMNS
    reader = source.reader(StructType([COLUMNS["value"]]))
    assert isinstance(reader, BatchReader)
    (task,) = reader.partitions()
    assert [value for batch in reader.read(task) for value in batch.column("value").to_pylist()] == [row.value for row in written]
    assert gc.get_freeze_count() > 0
    gc.unfreeze()
    client_for(reader._options.client).close()


def test_source_import_paths() -> None:
    assert spark_sink.OdradekDataSource is OdradekDataSource
    assert DefaultSource is OdradekDataSource
    with pytest.raises(AttributeError, match="missing"):
        _ = spark_sink.missing


def test_read_by_time_and_split(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 2)
    written = [produce(broker, topic, bodies(count), partition) for partition, count in enumerate([30, 10])]
    bounds = {
        "startingTimestamp": FIRST_TIMESTAMP + 4 * TIMESTAMP_STEP,
        "endingOffsetsByTimestamp": json.dumps({topic: {"0": FIRST_TIMESTAMP + 20 * TIMESTAMP_STEP, "1": FIRST_TIMESTAMP * 2}}),
    }
    frame = load(spark, broker, subscribe=topic, includeHeaders=True, minPartitions=5, **bounds)
    assert rows(frame) == written[0][4:20] + written[1][4:]
    assert frame.rdd.getNumPartitions() == 5


def test_read_pushed_filters_reduce_tasks(spark: SparkSession, broker: Broker) -> None:
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(30), 0)
    produce(broker, topic, bodies(30), 1)
    frame = load(spark, broker, subscribe=topic, maxRecordsPerPartition=10)
    first_of_twenty = f"timestamp_millis({FIRST_TIMESTAMP + 20 * TIMESTAMP_STEP})"
    spark.conf.set("spark.sql.python.filterPushdown.enabled", "true")
    try:
        for condition, tasks, count in [
            ("partition = 1 AND offset < 10", 2, 10),
            (f"timestamp >= {first_of_twenty}", 2, 20),
            (f"topic = '{topic}' AND offset IN (3, 12)", 2, 4),
            ("partition > 1", 1, 0),
            ("value IS NULL", 6, 14),
        ]:
            found = frame.where(condition)
            assert (found.rdd.getNumPartitions(), found.count()) == (tasks, count), condition
    finally:
        spark.conf.unset("spark.sql.python.filterPushdown.enabled")
    assert frame.where("partition = 1 AND offset < 10").count() == 10
