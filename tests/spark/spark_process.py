"""Runs a Spark session of another PySpark version in a child process.

`SparkProcess.run(function, ...)` calls a function in that process with its session. The other PySpark is in the user's cache, where pip
installs it the first time (450 MB), and precedes the packages of this environment on PYTHONPATH; all other packages are the same.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from typing import TYPE_CHECKING, Concatenate, ParamSpec, Self, TypeVar

from tests.cache import packages

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P = ParamSpec("P")
T = TypeVar("T")
ROOT = Path(__file__).parents[2]


def installed(directory: Path) -> list[str]:
    """Returns entries for PYTHONPATH with which odradek is importable under the names of an installation."""
    modules = directory / "modules"
    modules.mkdir()
    (modules / "pyspark_odradek").symlink_to(ROOT / "spark_sink" / "autoload")
    return [str(modules), str(ROOT / ".dev"), str(ROOT)]


SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "ERROR",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.python.unix.domain.socket.enabled": "true",
    "spark.python.authenticate.socketTimeout": "120s",  # the default of 15 s is too short on a loaded machine
}
"""Settings of all sessions."""
SHORT_RUN = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"}
"""Settings of the sessions of tests: in short runs Java's C2 compiler takes more time than it saves. Benchmarks do without them."""


def spark_home(pyspark: Path, directory: Path) -> Path:
    """Returns a SPARK_HOME, made in `directory`, of links to the installed PySpark without its folder `python`.

    That folder has PySpark as a zip, which Spark puts before everything else on PYTHONPATH of its Python workers. Python keeps no bytecode
    of modules in a zip, so each new worker would compile PySpark again, which takes longer than most of the tests.
    """
    home = directory / "spark-home"
    home.mkdir()
    for entry in pyspark.iterdir():
        if entry.name != "python":
            (home / entry.name).symlink_to(entry)
    return home


class SparkProcess:
    """A session with master `local[2]` in a child process. A context manager; output is written to `directory`/output.log."""

    def __init__(self, version: str, directory: Path, settings: Mapping[str, str], also: Sequence[Path] = ()) -> None:
        """`also` are further directories of packages. Java is found by JAVA_HOME or PATH. Raises Unavailable without that PySpark."""
        pyspark = packages(f"pyspark-{version}", f"pyspark=={version}")
        path = [str(pyspark), *map(str, also), *installed(directory), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(path),
            "PYSPARK_PYTHON": sys.executable,
            "SPARK_HOME": str(spark_home(pyspark / "pyspark", directory)),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        self._connection, theirs = Pipe()
        self._log = directory / "output.log"
        with self._log.open("wb") as log, theirs:
            child = [sys.executable, "-m", __name__, str(theirs.fileno())]
            self._process = subprocess.Popen(
                child, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log, pass_fds=[theirs.fileno()]
            )
        self._connection.send(SETTINGS | {"spark.sql.warehouse.dir": str(directory / "warehouse")} | dict(settings))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.wait()

    def run(self, function: Callable[Concatenate[SparkSession, P], T], *arguments: P.args, **named: P.kwargs) -> T:
        """Calls a function in the child. Raises RuntimeError with the child's traceback, or with the end of its log."""
        try:
            self._connection.send_bytes(pickle.dumps((function, arguments, named)))
            done, result = self._connection.recv()
        except (EOFError, OSError) as error:
            raise RuntimeError(f"The Spark process ended:\n{self._log.read_text(errors='replace')[-3000:]}") from error
        if not done:
            raise RuntimeError(result)
        answer: T = result
        return answer


def _session(settings: Mapping[str, str]) -> SparkSession:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.master("local[2]")
    for name, value in settings.items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def _serve(requests: Connection) -> None:
    """Serves calls in the child until the parent closes the connection."""
    spark = _session(requests.recv())
    with suppress(EOFError):
        while True:
            function, arguments, named = requests.recv()
            try:
                answer = True, function(spark, *arguments, **named)
            except Exception:
                answer = False, traceback.format_exc()
            requests.send(answer)
    spark.stop()


if __name__ == "__main__":
    with Connection(int(sys.argv[1])) as connection:
        _serve(connection)
