"""Runs applications on Spark clusters of several processes, with the Python interpreters that nodes may have."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import NamedTuple

import pyspark

APPLICATION = Path(__file__).with_name("application.py")
LOCAL_CLUSTER = "local-cluster[2,1,1024]"
QUICK_START = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of Java for processes that run for some seconds only."""
SETTINGS = {
    "spark.driver.extraJavaOptions": QUICK_START,
    "spark.executor.extraJavaOptions": QUICK_START,
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1",  # tasks wait until both executors are registered
    "spark.scheduler.maxRegisteredResourcesWaitingTime": "300s",
    "spark.locality.wait": "0",
}
LOG_START_SCRIPT = """
import json, os, sys
with open({log!r}, "a") as lines:
    lines.write(json.dumps([sys.executable, os.getcwd(), sys.orig_argv]) + "\\n")
"""


class Home(NamedTuple):
    """A SPARK_HOME of links to the installed one, below which executors write their files, and a log of Python processes."""

    directory: Path

    @property
    def log(self) -> Path:
        """A file with a line of JSON for each Python process that started and each step of an application."""
        return self.directory / "interpreters.log"

    @property
    def environment(self) -> dict[str, str]:
        """The variables of this process with this SPARK_HOME, and without others that select a Python or a Spark."""
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_", "PYTHON", "SPARK_"))}
        quick = {"SPARK_DAEMON_JAVA_OPTS": QUICK_START}
        return inherited | quick | {"SPARK_HOME": str(self.directory), "SPARK_LOCAL_IP": "127.0.0.1"}

    def program(self, name: str) -> str:
        """Returns the path of a program of Spark."""
        return str(self.directory / "bin" / name)


def home(directory: Path) -> Home:
    """Creates a SPARK_HOME in an empty directory."""
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (directory / entry.name).symlink_to(entry)
    return Home(directory)


def interpreter(directory: Path, log: Path, *, wheel: Path | None = None, without: Sequence[str] = ()) -> Path:
    """Creates a virtual environment with the packages of this one except for `without`; odradek is only in it as the `wheel`."""
    site = _environment(directory, log, wheel)
    hidden = ("odradek", "__editable__", "__pycache__", *without)
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(hidden) and entry.suffix != ".pth":
            (site / entry.name).symlink_to(entry)
    return directory / "bin" / "python"


def packed_environment(directory: Path, others: Path, log: Path, wheel: Path) -> Path:
    """Creates `environment` and packs it as `environment.tar.gz`. It has odradek, and finds other packages at the `others` interpreter."""
    site = _environment(directory / "environment", log, wheel)
    (site / "others.pth").write_text(str(next(others.parents[1].glob("lib/python*/site-packages"))))
    packed = directory / "environment.tar.gz"
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        archive.add(directory / "environment", ".")
    return packed


def _environment(directory: Path, log: Path, wheel: Path | None) -> Path:
    """Creates a virtual environment whose interpreters log their start; returns its folder of packages."""
    venv.create(directory, symlinks=True)
    site = next(directory.glob("lib/python*/site-packages"))
    (site / "sitecustomize.py").write_text(LOG_START_SCRIPT.format(log=str(log)))
    if wheel is not None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site), str(wheel)]
        subprocess.run(pip, check=True, capture_output=True)
    return site


@contextmanager
def standalone(home: Home) -> Iterator[str]:
    """Starts a master and two workers with one core each; yields the address of the master."""
    with ExitStack() as running:

        def start(kind: str, *arguments: str, announces: str) -> str:
            command = [
                home.program("spark-class"),
                f"org.apache.spark.deploy.{kind}",
                "--host",
                "127.0.0.1",
                "--webui-port",
                "0",
                *arguments,
            ]
            return running.enter_context(_started(command, home.environment, announces))

        address = start("master.Master", "--port", "0", announces=r"Starting Spark master at (spark://\S+)")
        for _ in range(2):
            start("worker.Worker", "--cores", "1", "--memory", "1g", address, announces=r"Successfully registered with (master)")
        yield address


@contextmanager
def connect_server(home: Home, master: str, python: Path, directory: Path) -> Iterator[str]:
    """Starts a Spark Connect server whose workers run `python`; yields its address."""
    submit = [home.program("spark-submit"), "--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    port = {"spark.connect.grpc.binding.port": "0", "spark.log.level": "INFO"}
    environment = home.environment | _configured(directory, {"spark.master": master} | port) | {"PYSPARK_PYTHON": str(python)}
    with _started(submit, environment, r"Spark Connect server started at: \S+:(\d+)") as port_number:
        yield f"sc://127.0.0.1:{port_number}"


@contextmanager
def _started(command: Sequence[str], environment: Mapping[str, str], pattern: str) -> Iterator[str]:
    """Starts a process and terminates it afterwards. Yields the group of the first match of the pattern in its output."""
    process = subprocess.Popen(
        command, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    rest = Thread(target=deque, args=(process.stdout, 0))  # reads on, because a full pipe would block the process
    with process:
        try:
            found = _read_until(process.stdout, pattern)
            rest.start()
            yield found
        finally:
            process.terminate()
            if rest.ident is not None:
                rest.join()


def _read_until(lines: Iterable[str], pattern: str) -> str:
    read = []
    for line in lines:
        read.append(line)
        if found := re.search(pattern, line):
            return found[1]
    raise RuntimeError("".join(read))


class Ran(NamedTuple):
    """The traces of an application: the Python executables of the workers in each copy, their working directories, the executors' logs."""

    workers: list[set[str]]
    executors: set[str]
    logged: list[str]


def run(
    home: Home, program: Sequence[str], arguments: Sequence[str], settings: Mapping[str, str], environment: Mapping[str, str], cwd: Path
) -> Ran:
    """Runs the application to its end. Raises RuntimeError with its last traceback when it fails."""
    home.log.unlink(missing_ok=True)
    before = set(home.directory.glob("work/app-*"))
    command = [*program, str(APPLICATION), str(home.log), *arguments]
    variables = home.environment | _configured(cwd, settings) | dict(environment)
    done = subprocess.run(command, cwd=cwd, env=variables, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(done.stderr[max(done.stderr.rfind("Traceback"), 0) :][:5000])
    new = set(home.directory.glob("work/app-*")) - before
    return _found(home.log, [file.read_text() for directory in new for file in directory.glob("*/stderr")])


def _configured(directory: Path, settings: Mapping[str, str]) -> dict[str, str]:
    """Writes the settings to a file in the directory; returns the variable with which Spark reads it."""
    conf = directory / "conf"
    conf.mkdir(exist_ok=True)
    (conf / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in (SETTINGS | dict(settings)).items()))
    return {"SPARK_CONF_DIR": str(conf)}


def _found(log: Path, logged: list[str]) -> Ran:
    workers: list[set[str]] = []
    executors = set()
    for entry in map(json.loads, log.read_text().splitlines()):
        if entry == ["copy"]:
            workers.append(set())
        elif len(entry) == 3 and entry[2][-1] == "pyspark.worker":
            workers[-1].add(entry[0])
            executors.add(entry[1])
    return Ran(workers, executors, logged)
