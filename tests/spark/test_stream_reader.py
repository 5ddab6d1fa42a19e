"""Streams with `readStream.format("odradek")` in a Spark session: batches, restarts, losses of data and errors."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest

from odradek.broker import Cluster
from odradek.spark_sink.client import client_for
from odradek.spark_sink.source import COLUMNS, OdradekDataSource
from odradek.spark_sink.stream_reader import StreamReader
from tests.spark import queries
from tests.spark.kafka_topics import BROKER_SETTINGS, Broker, bodies, delete_before, new_topic, produce
from tests.spark.sources import OURS, with_broker
from tests.spark.spark_process import SparkProcess
from tests.spark.stream_runs import all_at_once, batches, failure, in_order, rows, streaming

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def test_stream_reads_records_as_they_are_produced(spark: SparkSession, broker: Broker, checkpoint: str) -> None:
    topic = new_topic(broker, 2)
    written = produce(broker, topic, bodies(20), 0)
    with streaming(spark, broker, checkpoint, {"subscribe": topic, "includeHeaders": True}) as name:
        (first,) = batches(queries.settle(spark, name))
        assert (first.rows, first.end) == (written, {topic: {"0": 20, "1": 0}})
        more = produce(broker, topic, bodies(10), 0) + produce(broker, topic, bodies(10), 1)
        later = batches(queries.settle(spark, name))
        assert rows(later) == in_order(more)
        assert later[-1].end == {topic: {"0": 30, "1": 10}}


def test_available_now_continues_from_the_checkpoint(spark: SparkSession, broker: Broker, checkpoint: str) -> None:
    topic = new_topic(broker, 2)
    written = produce(broker, topic, bodies(10), 0) + produce(broker, topic, bodies(90), 1)
    options = {"subscribe": topic, "includeHeaders": True, "maxOffsetsPerTrigger": 40}
    found = batches(all_at_once(spark, broker, checkpoint, **options))
    assert [len(batch.rows) for batch in found] == [40, 40, 20]
    assert found[0].end == {topic: {"0": 4, "1": 36}}
    assert rows(found) == in_order(written)
    more = produce(broker, topic, bodies(5), 1)
    (batch,) = batches(all_at_once(spark, broker, checkpoint, **options | {"startingOffsets": "latest", "minOffsetsPerTrigger": 30}))
    assert (batch.rows, batch.start, batch.end) == (more, {topic: {"0": 10, "1": 90}}, {topic: {"0": 10, "1": 95}})


@pytest.mark.slow
def test_once_ignores_limits(spark: SparkSession, cluster: Cluster, checkpoint: str) -> None:
    topic = new_topic(cluster)
    written = produce(cluster, topic, bodies(50))
    with streaming(spark, cluster, checkpoint, {"subscribe": topic, "includeHeaders": True, "maxOffsetsPerTrigger": 20}, once=True) as name:
        (batch,) = batches(queries.finish(spark, name))
    assert batch.rows == written


@pytest.mark.slow
def test_stream_broker_restarts_lose_and_repeat_nothing(spark: SparkSession, checkpoint: str) -> None:
    with Cluster(nodes=2, topics={"t": 2}, settings=BROKER_SETTINGS, seed=2) as cluster:
        options = {"subscribe": "t", "includeHeaders": True, "maxOffsetsPerTrigger": 70, "kafka.max.partition.fetch.bytes": 1000}
        written = produce(cluster, "t", bodies(100), 0)
        with streaming(spark, cluster, checkpoint, options) as name:
            found = batches(queries.settle(spark, name))
            for node in (1, 2):
                cluster.stop_node(node)
                written += produce(cluster, "t", bodies(100), node - 1)
                found += batches(queries.settle(spark, name))
                written += produce(cluster, "t", bodies(100), 0)
                cluster.start_node(node)
                found += batches(queries.settle(spark, name))
        assert rows(found) == in_order(written)
        assert [batch.start for batch in found[1:]] == [batch.end for batch in found[:-1]]


@pytest.mark.slow
def test_read_broker_restarts_during_a_batch(spark: SparkSession) -> None:
    with Cluster(nodes=2, topics={"t": 2}, settings=BROKER_SETTINGS, seed=2) as cluster:
        small = {"batch.num.messages": 10}
        written = produce(cluster, "t", bodies(2000), 0, **small) + produce(cluster, "t", bodies(2000), 1, **small)
        ended, turns = threading.Event(), 0

        def disturb() -> None:
            nonlocal turns
            while not ended.wait(0.02):  # seconds in which a fetch may succeed
                cluster.stop_node(turns % 2 + 1)
                cluster.start_node(turns % 2 + 1)
                turns += 1

        disturber = threading.Thread(target=disturb)
        disturber.start()
        try:
            options = {"subscribe": "t", "includeHeaders": True, "kafka.max.partition.fetch.bytes": 2000, "minPartitions": 4}
            found = queries.read(spark, OURS, {**with_broker(cluster, options), "kafkaConsumer.pollTimeoutMs": 20_000})
        finally:
            ended.set()
            disturber.join()
        assert isinstance(found, queries.Read), found.text
        assert found.rows == written
        assert turns > 1


def test_stream_deleted_records_are_data_loss(spark: SparkSession, broker: Broker, checkpoint: str) -> None:
    topic = new_topic(broker)
    produce(broker, topic, bodies(20))
    all_at_once(spark, broker, checkpoint, subscribe=topic)
    written = produce(broker, topic, bodies(20), **{"batch.num.messages": 10})
    delete_before(broker, topic, 30)
    said = failure(spark, broker, checkpoint, subscribe=topic)
    assert "[KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE] Some data may have been lost because they are not available in Kafka" in said
    assert f"Could not read records in offset [20, 40) for topic partition {topic}-0" in said
    (batch,) = batches(all_at_once(spark, broker, checkpoint, subscribe=topic, failOnDataLoss=False, includeHeaders=True))
    assert batch.rows == written[10:]


def test_stream_unsubscribed_partitions_are_data_loss(spark: SparkSession, broker: Broker, checkpoint: str) -> None:
    topic, other = new_topic(broker), new_topic(broker)
    all_at_once(spark, broker, checkpoint, subscribe=topic)
    produce(broker, other, bodies(3))
    assert "[KAFKA_DATA_LOSS.PARTITIONS_DELETED] Some data may have been lost" in failure(spark, broker, checkpoint, subscribe=other)
    said = failure(spark, broker, checkpoint, subscribe=topic)
    assert "[KAFKA_DATA_LOSS.INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS]" in said, "the failed batch stays in the log of the query"
    found = batches(all_at_once(spark, broker, checkpoint, subscribe=f"{topic},{other}", failOnDataLoss=False))
    assert [len(batch.rows) for batch in found if batch.rows] == [3]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"endingOffsets": "latest"}, "ending offset not valid in streaming queries"),
        ({"maxOffsetsPerTrigger": 10, "minOffsetsPerTrigger": 20}, "is higher than the maxOffsetsPerTrigger(10)."),
        ({"startingOffsets": '{"nosuch":{"0":5}}'}, "you must specify all TopicPartitions. Use -1 for latest, -2 for earliest"),
        ({"startingTimestamp": 1 << 50}, "No offset matched from request of topic-partition"),
        ({"subscribe": "nosuch"}, "This server does not host this topic-partition."),
    ],
)
def test_stream_invalid_options_fail_the_query(
    spark: SparkSession, cluster: Cluster, checkpoint: str, options: dict[str, Any], text: str
) -> None:
    assert text in failure(spark, cluster, checkpoint, **{"subscribe": new_topic(cluster)} | options)


def test_stream_schema_of_fewer_columns(spark: SparkSession, cluster: Cluster, checkpoint: str) -> None:
    topic = new_topic(cluster)
    produce(cluster, topic, bodies(5))
    options = with_broker(cluster, {"subscribe": topic, "startingOffsets": "earliest"})
    frame = spark.readStream.format(OURS).schema("offset long, topic string").options(**options).load()
    query = frame.writeStream.format("memory").queryName("fewer").trigger(availableNow=True).start()
    query.awaitTermination()
    assert [tuple(row) for row in spark.table("fewer").orderBy("offset").collect()] == [(offset, topic) for offset in range(5)]


def reader_of(broker: Broker, topic: str, **options: Any) -> StreamReader:
    options = {
        name: str(value) for name, value in with_broker(broker, {"subscribe": topic, "startingOffsets": "earliest"} | options).items()
    }
    return OdradekDataSource(options).streamReader(COLUMNS)


def test_stream_reader_without_a_session(broker: Broker) -> None:
    from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows, ReadMinRows

    topic = new_topic(broker, 2)
    written = produce(broker, topic, bodies(10), 1)
    reader = reader_of(broker, topic, maxOffsetsPerTrigger=4, minPartitions=3)
    assert reader.reportLatestOffset() is None
    assert reader.initialOffset() == {topic: {"0": 0, "1": 0}}
    limit = reader.getDefaultReadLimit()
    assert limit == ReadMaxRows(4)
    assert reader.latestOffset(reader.initialOffset(), limit) == {topic: {"0": 0, "1": 4}}
    assert reader.latestOffset(reader.initialOffset(), ReadAllAvailable()) == {topic: {"0": 0, "1": 10}}
    assert reader.latestOffset() == reader.reportLatestOffset() == {topic: {"0": 0, "1": 10}}
    tasks = reader.partitions(reader.initialOffset(), {topic: {"0": 0, "1": 6}})
    offsets = [offset for task in tasks for batch in reader.read(task) for offset in batch.column("offset").to_pylist()]
    assert (len(tasks), offsets) == (3, [row.offset for row in written[:6]])
    client_for(reader._options.client).close()
    assert reader_of(broker, topic, minOffsetsPerTrigger=4).getDefaultReadLimit() == ReadMinRows(4)
    assert reader_of(broker, topic).getDefaultReadLimit() == ReadAllAvailable()


@pytest.mark.official
def test_stream_oldest_spark(spark_4_0: SparkProcess, cluster: Cluster, checkpoint: str) -> None:
    topic = new_topic(cluster, 2)
    options = with_broker(cluster, {"subscribe": topic, "startingOffsets": "earliest", "includeHeaders": True, "maxOffsetsPerTrigger": 10})
    for partition in (1, 0):
        written = produce(cluster, topic, bodies(30), partition)
        spark_4_0.run(queries.start, OURS, topic, options, checkpoint, availableNow=True)
        found = batches(spark_4_0.run(queries.finish, topic))
        assert rows(found) == written
        spark_4_0.run(queries.stop, topic)
