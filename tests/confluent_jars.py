"""Confluent's serializers for Java and its Avro converter for Kafka Connect, version 7.7.0.

Confluent does not publish them on Maven Central. Snowflake's connector for Kafka Connect is there with the unchanged classes in its jar,
from which they are taken with the libraries that they need beside those of Apache Kafka.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

from tests import apache_kafka
from tests.cache import Unavailable, cached

ARTIFACT = "com.snowflake:snowflake-kafka-connector:2.5.0"
PACKAGES = ("io/confluent/", "org/apache/avro/", "com/google/common/", "com/google/re2j/")


def confluent_jars() -> Path:
    """Returns the directory of the jar; Maven fetches 164 MB the first time, of which 4 MB are kept. Raises Unavailable."""
    if missing := apache_kafka.missing():
        raise Unavailable(f"{missing} is not installed")

    def fill(directory: Path) -> None:
        maven = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={directory}"]
        subprocess.run(maven, cwd=directory, stdout=sys.stderr, check=True)
        (connector,) = directory.glob("*.jar")
        with ZipFile(connector) as jar, ZipFile(directory / "confluent.jar", "w", ZIP_DEFLATED) as taken:
            for name in jar.namelist():
                if name.startswith(PACKAGES):
                    taken.writestr(name, jar.read(name))
        connector.unlink()

    return cached("confluent-serializers-7.7.0", fill)
