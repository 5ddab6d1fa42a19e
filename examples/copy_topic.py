"""Copies a topic to another one, as a stream that goes on where it stopped, and reads the copy without repetitions.

Nothing is lost, but Spark's Kafka sinks write at least once: what a failed task or query has written stays, and its next attempt writes it
again. So each copied record says in a header which record it is a copy of, and those who read the copy keep one of each.
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
    """Copies what is not copied yet. Keys, values and headers are kept, and partitions follow from the keys."""
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
    """All records of a copy, with what each is a copy of."""
    records = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", topic)
    origin = "string(element_at(filter(headers, header -> header.key = 'copied-from'), -1).value) AS origin"
    return records.option("includeHeaders", "true").load().selectExpr("*", origin)


def fail_before_the_commit(checkpoint: Path) -> None:
    """Leaves the checkpoint as a query does that ends after it has written its last batch and before Spark has noted that."""
    last = max((file for file in (checkpoint / "commits").iterdir() if file.name.isdecimal()), key=lambda file: int(file.name))
    last.unlink()
    last.with_name(f".{last.name}.crc").unlink(missing_ok=True)


def show_counts(archive: DataFrame) -> None:
    """Prints how many records a copy has, and how many different ones."""
    archive.selectExpr("count(*) AS records", "count(DISTINCT origin) AS different").show()


def run(spark: SparkSession) -> None:
    """Copies twice, then the last batch once more as after a failure, and shows each time what is in the copy."""
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
