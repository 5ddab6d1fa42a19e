"""Copies a topic with a stream that continues from its checkpoint, and reads the copy without duplicates.

Spark's Kafka sinks write at least once: records of a failed task or query stay in the log, and its next attempt writes them again. Each
copied record therefore names its origin in a header, and readers of the copy keep one record of each origin.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Producer

from odradek import Cluster

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ORIGIN = "named_struct('key', 'copied-from', 'value', binary(concat_ws('/', topic, partition, offset)))"
COPY = ["key", "value", f"concat(coalesce(headers, array()), array({ORIGIN})) AS headers"]


def copy(spark: SparkSession, servers: str, source: str, target: str, checkpoint: Path) -> None:
    """Copies the records after those of the checkpoint. Keys, values and headers are kept; keys determine the partitions."""
    records = (
        spark.readStream.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    query = (
        records.selectExpr(*COPY)
        .writeStream.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("kafka.compression.type", "zstd")
        .option("topic", target)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def read(spark: SparkSession, servers: str, topic: str) -> DataFrame:
    """Returns all records of a copy, with the origin of each."""
    records = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", topic)
    origin = "string(element_at(filter(headers, header -> header.key = 'copied-from'), -1).value) AS origin"
    return records.option("includeHeaders", "true").load().selectExpr("*", origin)


def fail_before_the_commit(checkpoint: Path) -> None:
    """Changes the checkpoint to that of a query which fails after writing its last batch and before Spark commits it."""
    last = max((file for file in (checkpoint / "commits").iterdir() if file.name.isdecimal()), key=lambda file: int(file.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def show_counts(archive: DataFrame) -> None:
    """Prints the number of records of a copy, and the number of their origins."""
    archive.selectExpr("count(*) AS records", "count(DISTINCT origin) AS different").show()


def run(spark: SparkSession) -> None:
    """Copies twice, then copies the last batch again as after a failure; prints the counts each time and the distinct records."""
    with Cluster(topics={"orders": 2, "archive": 3}) as cluster, tempfile.TemporaryDirectory() as directory:
        servers, checkpoint = cluster.bootstrap_servers, Path(directory)
        producer = Producer({"bootstrap.servers": servers})
        for numbers in (range(3), range(3, 5)):
            for number in numbers:
                producer.produce("orders", key=f"customer-{number % 2}", value=f"order {number}")
            producer.flush()
            copy(spark, servers, "orders", "archive", checkpoint)
            show_counts(read(spark, servers, "archive"))
        fail_before_the_commit(checkpoint)
        copy(spark, servers, "orders", "archive", checkpoint)
        archive = read(spark, servers, "archive")
        show_counts(archive)
        archive.dropDuplicates(["origin"]).selectExpr("string(key) AS customer", "string(value) AS what").orderBy("what").show()


if __name__ == "__main__":
    from spark_session import spark_session

    run(spark_session("copy a topic"))
