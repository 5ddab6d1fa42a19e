"""An application as users submit it to a Spark cluster: reads a topic and writes its values to another one.

    application.py LOG SERVERS SOURCE TARGET [STEP...]

Steps are `zip=FILE` (addPyFile), `artifact=FILE` (addArtifacts), `register` and `copy`. Modules of odradek are imported after the session
has been created, because they may not be importable before.
"""

from __future__ import annotations

import sys
from pathlib import Path

from pyspark.sql import SparkSession


def copy(spark: SparkSession, servers: str, source: str, target: str) -> None:
    """Copies the values in four tasks, so that every executor runs some."""
    records = spark.read.format("odradek").option("kafka.bootstrap.servers", servers).option("subscribe", source).option("minPartitions", 4)
    values = records.load().select("value")
    values.write.format("odradek").option("kafka.bootstrap.servers", servers).option("topic", target).mode("append").save()


def main(log: str, servers: str, source: str, target: str, *steps: str) -> None:
    """Runs the steps, and appends each to the log before."""
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
