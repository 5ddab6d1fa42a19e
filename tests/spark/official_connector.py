"""Starts a Spark session with both Spark's own Kafka connector ("kafka") and odradek's source ("odradek").

The connector consists of four jars, which Maven downloads into the user's cache the first time.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.cache import cached
from tests.spark.spark_process import SparkProcess

VERSION = "4.2.0"
"""The version of PySpark and the connector: the newest published one of the connector."""
# The jars are named one by one, because the connector depends on a token provider that is not published.
ARTIFACTS = [
    f"org.apache.spark:spark-sql-kafka-0-10_2.13:{VERSION}",
    "org.apache.spark:spark-token-provider-kafka-0-10_2.13:4.1.0-preview1",
    "org.apache.kafka:kafka-clients:3.9.2",
    "org.apache.commons:commons-pool2:2.13.1",
]


def jars() -> list[Path]:
    """Returns the jars of the connector. Raises Unavailable without Maven or the network."""

    def fill(directory: Path) -> None:
        for artifact in ARTIFACTS:
            maven = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={artifact}", f"-DoutputDirectory={directory}"]
            subprocess.run(maven, cwd=directory, stdout=sys.stderr, check=True)

    return sorted(cached(f"spark-sql-kafka-{VERSION}", fill).glob("*.jar"))


def both_sources(directory: Path, settings: Mapping[str, str] | None = None) -> SparkProcess:
    """Starts a session with both sources. Raises Unavailable."""
    return SparkProcess(VERSION, directory, {"spark.jars": ",".join(map(str, jars()))} | dict(settings or {}))
