"""Copies a topic to another one, as a stream that goes on where it stopped: nothing is lost, and nothing copied twice."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Producer

from odradek import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def copy(spark: SparkSession, servers: str, source: str, target: str, checkpoint: Path) -> None:
    """Copies what there is and was not copied before. Keys, values and headers are kept; partitions follow from the keys."""
    records = (
        spark.readStream.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    query = (
        records.select("key", "value", "headers")
        .writeStream.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.compression.type", "zstd")
        .option("topic", target)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def run(spark: SparkSession) -> None:
    """Copies twice, and shows after each time what is in the copy."""
    with Cluster(topics={"orders": 2, "archive": 3}) as cluster, tempfile.TemporaryDirectory() as checkpoint:
        servers = cluster.bootstrap_servers
        producer = Producer({"bootstrap.servers": servers})
        for numbers in (range(3), range(3, 5)):
            for number in numbers:
                producer.produce("orders", key=f"customer-{number % 2}", value=f"order {number}")
            producer.flush()
            copy(spark, servers, "orders", "archive", Path(checkpoint))
            archive = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", "archive").load()
            archive.selectExpr("string(key) AS customer", "string(value) AS what").orderBy("what").show()


if __name__ == "__main__":
    from spark_session import spark_session

    run(spark_session("copy a topic"))
