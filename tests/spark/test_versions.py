"""The source in the oldest Spark with Python data sources, over Spark Connect, and as used in notebooks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.spark import queries
from tests.spark.kafka_topics import Broker, bodies, consume, new_topic, produce
from tests.spark.queries import Failure, Read
from tests.spark.sources import OFFICIAL, OURS, with_broker
from tests.spark.spark_process import SparkProcess


class TestOldestSpark:
    def test_oldest_spark_batch(self, spark_4_0: SparkProcess, cluster: Broker) -> None:
        topic = new_topic(cluster, 2)
        written = produce(cluster, topic, bodies(200), 0) + produce(cluster, topic, bodies(100), 1)
        read = spark_4_0.run(queries.read, OURS, with_broker(cluster, {"subscribe": topic, "includeHeaders": True, "minPartitions": 4}))
        assert isinstance(read, Read), read
        assert read.rows == written
        assert len(read.tasks) == 4

    def test_oldest_spark_stream(self, spark_4_0: SparkProcess, cluster: Broker, tmp_path: Path) -> None:
        topic = new_topic(cluster, 2)
        written = produce(cluster, topic, bodies(100), 0)
        options = with_broker(cluster, {"subscribe": topic, "startingOffsets": "earliest", "includeHeaders": True})
        for _ in range(2):
            assert spark_4_0.run(queries.start, OURS, "stream", options, str(tmp_path)) is None
            found: list[Any] = []
            for partition in (0, 1):
                batches = spark_4_0.run(queries.settle, "stream")
                assert not isinstance(batches, Failure), batches.text
                found += [row for batch in batches for row in batch.rows]
                written += produce(cluster, topic, bodies(30), partition)
            batches = spark_4_0.run(queries.settle, "stream")
            assert not isinstance(batches, Failure), batches.text
            found += [row for batch in batches for row in batch.rows]
            spark_4_0.run(queries.stop, "stream")
            assert sorted(found, key=queries.place) == sorted(written, key=queries.place)
            written = []

    def test_oldest_spark_write(self, spark_4_0: SparkProcess, cluster: Broker) -> None:
        topic = new_topic(cluster)
        rows = [("key", f"value {n}") for n in range(50)]
        assert (
            spark_4_0.run(queries.write, OURS, rows, "key string, value string", with_broker(cluster, {"topic": topic}), "append") is None
        )
        assert sorted(message.value() for message in consume(cluster, topic)) == sorted(value.encode() for _, value in rows)


def test_notebook_show_and_sql(comparison_session: SparkProcess, cluster: Broker) -> None:
    topic = new_topic(cluster, 2)
    produce(cluster, topic, bodies(20), 0)
    produce(cluster, topic, bodies(10), 1)
    options = with_broker(cluster, {"subscribe": topic})
    count, printed, rows = comparison_session.run(queries.look, OURS, options)
    assert (count, printed, rows) == comparison_session.run(queries.look, OFFICIAL, options)
    assert count == 30
    assert "|value 0|     0|" in printed
    assert rows == [(topic, 0, 17), (topic, 1, 7)]


def test_connect_read_and_write(connect_session: SparkProcess, cluster: Broker) -> None:
    topic = new_topic(cluster)
    written = produce(cluster, topic, bodies(50))
    options = with_broker(cluster, {"subscribe": topic, "includeHeaders": True})
    read = connect_session.run(queries.read, OURS, options)
    assert isinstance(read, Read), read.text
    assert read.rows == written
    assert connect_session.run(queries.look, OURS, options)[0] == 50
    assert (
        connect_session.run(
            queries.write, OURS, [("key", "value")], "key string, value string", with_broker(cluster, {"topic": topic}), "append"
        )
        is None
    )
    assert [message.value() for message in consume(cluster, topic)][50:] == [b"value"]
