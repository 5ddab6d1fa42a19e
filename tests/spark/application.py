"""What a user of Spark on several processes runs. It reads a topic and writes the values to another one.

    application.py LOG SERVERS SOURCE TARGET [STEP...]

Steps are `zip=FILE` (addPyFile), `artifact=FILE` (addArtifacts), `register`, and `copy`, which copies. Nothing of this repository is
imported before there is a session, because it may not be importable until then.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def copy(spark: SparkSession, servers: str, source: str, target: str) -> None:
    """In four tasks, so that every executor has some."""
    records = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", source).option("minPartitions", 4)
    values = records.load().select("value")
    values.write.format("odradek").option("kafka.bootstrap.servers", servers).option("topic", target).mode("append").save()


def main(log: str, servers: str, source: str, target: str, *steps: str) -> None:
    """The steps, each noted in the log before it is done."""
    spark = SparkSession.builder.getOrCreate()
    for step in steps:
        name, _, file = step.partition("=")
        with Path(log).open("a") as lines:
            lines.write(f'["{name}"]\n')
        if name == "zip":
            spark.sparkContext.addPyFile(file)
        elif name == "artifact":
            spark.addArtifacts(file, pyfile=True)
            sys.path.insert(0, file)
        elif name == "register":
            from odradek.spark_sink import OdradekDataSource

            spark.dataSource.register(OdradekDataSource)
        else:
            copy(spark, servers, source, target)
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
