"""Batch reads of Kafka's log directories with `format("odradek")` in a Spark session, compared with reads through a broker."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from odradek.broker import Cluster
from tests.spark.decoder_reference import Row
from tests.spark.kafka_topics import BROKER_SETTINGS, bodies, new_topic, produce, transactions
from tests.spark.live_writing import numbered_value, write_values
from tests.spark.queries import rows
from tests.storage.directories.recorded_directories import seen_by_clients, unpack

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the log directories of a cluster of two nodes with the topics `orders` and `transfers`."""
    folder = tmp_path_factory.mktemp("exported") / "copy"
    with Cluster(nodes=2, settings=BROKER_SETTINGS) as cluster:
        new_topic(cluster, 3, "orders")
        produce(cluster, "orders", bodies(200), 0, **{"batch.num.messages": 9, "compression.type": "zstd"})
        produce(cluster, "orders", bodies(100), 2)
        new_topic(cluster, 1, "transfers")
        transactions(cluster, "transfers", [5, 3, 4], commit=lambda number: number != 1)
        cluster.export_log_dirs(folder)
    return [str(folder / f"node-{node}" / "data") for node in (1, 2)]


def load(spark: SparkSession, directories: list[str], **options: Any) -> DataFrame:
    values = {name.replace("__", "."): value for name, value in options.items()}
    return spark.read.format("odradek").options(includeHeaders="true", **values).load(directories)


def through_a_broker(spark: SparkSession, directories: list[str], **options: Any) -> list[Row]:
    with Cluster(from_log_dirs=directories, settings=BROKER_SETTINGS) as cluster:
        values = {name.replace("__", "."): value for name, value in options.items()} | {"includeHeaders": "true"}
        return rows(spark.read.format("odradek").options(**{"kafka.bootstrap.servers": cluster.bootstrap_servers} | values).load())


@pytest.mark.parametrize(
    "options",
    [
        {"subscribePattern": "^(orders|transfers)$", "minPartitions": 5, "kafka__isolation__level": "read_committed"},
        {
            "assign": json.dumps({"orders": [0, 2]}),
            "startingOffsets": json.dumps({"orders": {"0": 30, "2": -2}}),
            "endingOffsets": json.dumps({"orders": {"0": -1, "2": 50}}),
        },
    ],
    ids=["minPartitions", "offsets"],
)
def test_rows_are_those_of_a_read_through_a_broker(spark: SparkSession, exported: list[str], options: dict[str, Any]) -> None:
    found = rows(load(spark, exported, **options))

    assert found
    assert found == through_a_broker(spark, exported, **options)


def test_one_directory_is_the_option_path(spark: SparkSession, tmp_path: Path) -> None:
    path, seen = unpack("kafka-4.3.1", tmp_path), seen_by_clients("kafka-4.3.1")["topics"]["orders"]["all"]
    frame = spark.read.format("odradek").option("path", f"file://{path}").option("subscribe", "orders").load()

    assert frame.count() == len([row for row in seen if len(row) > 3]) == 40
    assert frame.columns == ["key", "value", "topic", "partition", "offset", "timestamp", "timestampType"]
    assert frame.where("partition = 1 AND offset >= 18").count() == 2


def test_directory_of_a_writing_broker_is_read_up_to_a_batch(spark: SparkSession, tmp_path: Path) -> None:
    acknowledged, stop = [1], threading.Event()
    with Cluster(data_dir=tmp_path / "data", topics={"t": 1}) as cluster:
        cluster.produce("t", [numbered_value(0)])
        writer = threading.Thread(target=write_values, args=(cluster.bootstrap_servers, acknowledged, stop))
        writer.start()
        try:
            for _ in range(3):
                least = acknowledged[0]
                frame = load(spark, [str(tmp_path / "data")], subscribe="t", minPartitions="2")
                of_offset = "count_if(split(CAST(value AS STRING), ' ')[0] = CAST(offset AS STRING))"
                count, last, numbered = frame.selectExpr("count(*)", "max(offset)", of_offset).collect()[0]
                assert count >= least
                assert (last, numbered) == (count - 1, count)
        finally:
            stop.set()
            writer.join()


def test_missing_records_are_the_error_of_a_broker(spark: SparkSession, exported: list[str]) -> None:
    with pytest.raises(Exception, match=r"Could not read records in offset \[\d+, 99\) for topic partition transfers-0"):
        load(spark, exported, subscribe="transfers", endingOffsets='{"transfers":{"0":99}}').collect()


def test_folder_that_is_no_log_directory_is_told(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(Exception, match=r"has no meta\.properties; give a folder that is one of the log\.dirs of a broker"):
        spark.read.format("odradek").option("subscribe", "orders").load(str(tmp_path)).collect()


def test_streams_of_directories_are_refused(spark: SparkSession, exported: list[str], checkpoint: str) -> None:
    stream = spark.readStream.format("odradek").option("subscribe", "orders").load(exported[0])
    with pytest.raises(Exception, match="Log directories cannot be read as a stream"):
        stream.writeStream.format("noop").option("checkpointLocation", checkpoint).start().processAllAvailable()

    frame = load(spark, exported, subscribe="orders").select("value")
    with pytest.raises(Exception, match=r"Rows cannot be written to log directories: set 'kafka\.bootstrap\.servers'"):
        frame.write.format("odradek").option("topic", "orders").mode("append").save(exported[0])
