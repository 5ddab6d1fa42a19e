"""Copies a topic to another one, as a stream that goes on where it stopped: `python examples/copy_topic.py SERVERS FROM TO CHECKPOINT`.

Keys, values and headers are kept, partitions follow from the keys. The stream ends when all is copied that there was at its start.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from pyspark.sql.streaming import StreamingQuery


def copy(spark: SparkSession, bootstrap_servers: str, source: str, target: str, checkpoint: str) -> StreamingQuery:
    """Starts the stream; the directory `checkpoint` keeps how far it has come."""
    records = (
        spark.readStream.format("odradek")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("subscribe", source)
        .option("startingOffsets", "earliest")
        .option("includeHeaders", "true")
        .load()
    )
    return (
        records.select("key", "value", "headers")
        .writeStream.format("odradek")
        .option("kafka.bootstrap.servers", bootstrap_servers)
        .option("topic", target)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )


if __name__ == "__main__":
    from pyspark.sql import SparkSession

    with SparkSession.builder.appName("copy a topic").getOrCreate() as spark:
        copy(spark, *sys.argv[1:5]).awaitTermination()
