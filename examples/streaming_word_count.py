"""Counts words with a stream that ends and later continues from its checkpoint, without losing or repeating a word."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from confluent_kafka import Producer

from odradek import Cluster

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIRST = ["it looks like a flat star-shaped spool", "and indeed it does seem to have thread wound upon it"]
SECOND = ["it is not only a spool", "he lurks by turns in the garret and the stairway"]


def write_lines(servers: str, lines: Iterable[str]) -> None:
    """Writes each line as a record."""
    producer = Producer({"bootstrap.servers": servers})
    for line in lines:
        producer.produce("lines", value=line)
    producer.flush()


def count_words(spark: SparkSession, servers: str, checkpoint: Path) -> None:
    """Reads the records after those of the checkpoint. The table `words` then has the counts of all records read so far."""
    lines = (
        spark.readStream.format("odradek")
        .option("kafka.bootstrap.servers", servers)
        .option("subscribe", "lines")
        .option("startingOffsets", "earliest")  # applies to the first run; later runs continue from the checkpoint
        .option("maxOffsetsPerTrigger", 1000)
        .load()
    )
    words = lines.selectExpr("explode(split(string(value), ' ')) AS word").groupBy("word").count()
    query = (
        words.writeStream.format("memory")
        .queryName("words")
        .outputMode("complete")
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()


def run(spark: SparkSession) -> None:
    """Starts a broker and counts twice; in between, restarts the broker and writes more lines."""
    with tempfile.TemporaryDirectory() as directory, Cluster(nodes=1, topics={"lines": 3}) as cluster:
        for lines in (FIRST, SECOND):
            write_lines(cluster.bootstrap_servers, lines)
            count_words(spark, cluster.bootstrap_servers, Path(directory, "checkpoint"))
            spark.sql("SELECT * FROM words ORDER BY count DESC, word LIMIT 5").show()
            cluster.stop_node(1)
            cluster.start_node(1)


if __name__ == "__main__":
    from spark_session import spark_session

    session = spark_session("streaming word count")
    run(session)
    session.stop()
