"""The recipes of docs/spark.md for Spark clusters, on a standalone cluster with two workers, and two of them on a local cluster too."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from odradek import Cluster
from tests.cache import packages
from tests.spark import spark_cluster
from tests.spark.kafka_topics import bodies, consume, new_topic, produce
from tests.spark.spark_cluster import Home, Ran

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(900)]
VALUES = 40


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, java_home: None) -> Home:
    return spark_cluster.home(tmp_path_factory.mktemp("home"))


@pytest.fixture(scope="module")
def standalone(home: Home) -> Iterator[str]:
    with spark_cluster.standalone(home) as address:
        yield address


@pytest.fixture(params=["local-cluster", "standalone"])
def master(request: pytest.FixtureRequest) -> str:
    address: str = spark_cluster.LOCAL_CLUSTER if request.param == "local-cluster" else request.getfixturevalue("standalone")
    return address


@pytest.fixture(scope="module")
def python(tmp_path_factory: pytest.TempPathFactory, home: Home, wheel: Path) -> Path:
    """An interpreter with odradek, installed as `pip install` does."""
    return spark_cluster.interpreter(tmp_path_factory.mktemp("with"), home.log, wheel=wheel)


@pytest.fixture(scope="module")
def python_without(tmp_path_factory: pytest.TempPathFactory, home: Home) -> Path:
    """An interpreter without odradek and without the compiled packages that it uses."""
    return spark_cluster.interpreter(tmp_path_factory.mktemp("without"), home.log, without=["crc32c", "cramjam"])


@pytest.fixture(scope="module")
def zipped(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """The wheel with the file name extension that Spark expects of a zip."""
    return Path(shutil.copy(wheel, tmp_path_factory.mktemp("zip") / "odradek.zip"))


class Copying:
    """Runs the application, which copies the values of a topic, and checks the copy."""

    def __init__(self, home: Home, cluster: Cluster, directory: Path) -> None:
        self._home, self._cluster, self._directory = home, cluster, directory

    def __call__(self, program: list[str], steps: list[str], settings: dict[str, str], environment: dict[str, str]) -> Ran:
        source, target = new_topic(self._cluster, 2), new_topic(self._cluster)
        written = [produce(self._cluster, source, bodies(VALUES // 2), partition) for partition in range(2)]
        arguments = [self._cluster.bootstrap_servers, source, target, *steps]
        ran = spark_cluster.run(self._home, program, arguments, settings, environment, self._directory)
        copied = [message.value() or b"" for message in consume(self._cluster, target)]
        assert sorted(copied) == sorted([row.value or b"" for rows in written for row in rows] * steps.count("copy"))
        assert len(ran.executors) == 2
        return ran


@pytest.fixture
def copying(home: Home, cluster: Cluster, tmp_path: Path) -> Copying:
    return Copying(home, cluster, tmp_path)


def test_pip_installed_on_the_nodes(copying: Copying, master: str, python: Path, home: Home, tmp_path: Path, wheel: Path) -> None:
    """Tasks run PYSPARK_DRIVER_PYTHON when Spark finds the source itself, and PYSPARK_PYTHON when it is registered."""
    other = spark_cluster.interpreter(tmp_path / "other", home.log, wheel=wheel)
    chosen = {"PYSPARK_DRIVER_PYTHON": str(python), "PYSPARK_PYTHON": str(other)}
    ran = copying([str(python)], ["copy", "register", "copy"], {"spark.master": master}, chosen)
    assert ran.workers == [{str(python)}, {str(other)}]
    assert not any("crc32c is not installed" in logged for logged in ran.logged)


def test_zip_sent_with_py_files(copying: Copying, standalone: str, python_without: Path, zipped: Path, home: Home) -> None:
    submit = [home.program("spark-submit"), "--py-files", str(zipped)]
    ran = copying(submit, ["register", "copy"], {"spark.master": standalone}, {"PYSPARK_PYTHON": str(python_without)})
    assert ran.workers == [{str(python_without)}]
    warnings = [logged.count("crc32c is not installed") for logged in ran.logged]
    assert len(warnings) == 2 and all(1 <= count <= 2 for count in warnings), warnings


def test_zip_added_with_add_py_file(copying: Copying, python_without: Path, zipped: Path) -> None:
    """Registration selects the Python of the driver, whose environment is not activated; no variable names one."""
    ran = copying([str(python_without)], [f"zip={zipped}", "register", "copy"], {"spark.master": spark_cluster.LOCAL_CLUSTER}, {})
    assert ran.workers == [{str(python_without)}]


def test_packed_environment_sent_with_archives(
    copying: Copying, standalone: str, python_without: Path, home: Home, wheel: Path, tmp_path: Path
) -> None:
    packed = spark_cluster.packed_environment(tmp_path, python_without, home.log, wheel)
    settings = {"spark.master": standalone, "spark.archives": f"{packed}#environment"}
    ran = copying(["./environment/bin/python"], ["copy"], settings, {"PYSPARK_PYTHON": "./environment/bin/python"})
    (workers,) = ran.workers
    assert workers == {f"{executor}/environment/bin/python" for executor in ran.executors}


@pytest.fixture(scope="module")
def connect() -> dict[str, str]:
    """PYTHONPATH with the packages that a client of Spark Connect needs besides PySpark."""
    wanted = ["pandas", "grpcio", "grpcio-status", "googleapis-common-protos", "zstandard"]
    return {"PYTHONPATH": str(packages("spark-connect-client", *wanted))}


@pytest.mark.official
def test_connect_installed_on_the_server(
    copying: Copying, home: Home, standalone: str, python: Path, python_without: Path, connect: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "server").mkdir()
    with spark_cluster.connect_server(home, standalone, python, tmp_path / "server") as address:
        ran = copying([str(python_without)], ["copy"], {}, connect | {"SPARK_REMOTE": address})
    assert ran.workers == [{str(python)}]


@pytest.mark.official
def test_connect_zip_sent_as_artifact(
    copying: Copying, home: Home, standalone: str, python_without: Path, zipped: Path, connect: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "server").mkdir()
    with spark_cluster.connect_server(home, standalone, python_without, tmp_path / "server") as address:
        steps = [f"artifact={zipped}", "register", "copy"]
        ran = copying([str(python_without)], steps, {}, connect | {"SPARK_REMOTE": address})
    assert ran.workers == [{str(python_without)}]
