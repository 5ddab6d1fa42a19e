"""Spark on several processes: interpreters as the nodes have them, masters with two workers, and applications that run there."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import venv
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple

import pyspark

APPLICATION = Path(__file__).with_name("application.py")
LOCAL_CLUSTER = "local-cluster[2,1,1024]"
SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.log.level": "WARN",
    "spark.executor.memory": "512m",
    "spark.executor.cores": "1",
    "spark.cores.max": "2",
    "spark.scheduler.minRegisteredResourcesRatio": "1",  # no task runs before both executors are there
    "spark.locality.wait": "0",
}
NOTES_ITS_START = """
import json, os, sys
with open({log!r}, "a") as lines:
    lines.write(json.dumps([sys.executable, os.getcwd(), sys.orig_argv]) + "\\n")
"""


class Home(NamedTuple):
    """A SPARK_HOME of links to the installed one, because executors put their files below it, and the log of all interpreters."""

    directory: Path

    @property
    def log(self) -> Path:
        """Lines of JSON: one for each interpreter that started, and for each step of an application."""
        return self.directory / "interpreters.log"

    def program(self, name: str) -> str:
        """One of Spark's own."""
        return str(self.directory / "bin" / name)


def home(directory: Path) -> Home:
    """Made in an empty directory."""
    for entry in Path(pyspark.__file__).parent.iterdir():
        if entry.name != "work":
            (directory / entry.name).symlink_to(entry)
    return Home(directory)


def interpreter(directory: Path, log: Path, *, wheel: Path | None = None, without: Sequence[str] = ()) -> Path:
    """A virtual environment with what is installed here, `without` some packages; odradek is there only as the `wheel`."""
    site = _environment(directory, log, wheel)
    hidden = ("odradek", "__editable__", "__pycache__", *without)
    for entry in Path(sysconfig.get_path("purelib")).iterdir():
        if not entry.name.startswith(hidden) and entry.suffix != ".pth":
            (site / entry.name).symlink_to(entry)
    return directory / "bin" / "python"


def packed_environment(directory: Path, others: Path, log: Path, wheel: Path) -> Path:
    """`environment.tar.gz` beside the `environment` it is made of, which has odradek and looks for the rest at the `others` interpreter."""
    site = _environment(directory / "environment", log, wheel)
    (site / "others.pth").write_text(str(next(others.parents[1].glob("lib/python*/site-packages"))))
    packed = directory / "environment.tar.gz"
    with tarfile.open(packed, "w:gz", compresslevel=1) as archive:
        archive.add(directory / "environment", ".")
    return packed


def _environment(directory: Path, log: Path, wheel: Path | None) -> Path:
    """The folder of packages of a new virtual environment whose interpreters note their start."""
    venv.create(directory, symlinks=True)
    site = next(directory.glob("lib/python*/site-packages"))
    (site / "sitecustomize.py").write_text(NOTES_ITS_START.format(log=str(log)))
    if wheel is not None:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(site), str(wheel)]
        subprocess.run(pip, check=True, capture_output=True)
    return site


@contextmanager
def standalone(home: Home) -> Iterator[str]:
    """The address of a master with two workers of one core."""
    with ExitStack() as processes:

        def start(kind: str, *arguments: str) -> subprocess.Popen[str]:
            command = [home.program("spark-class"), f"org.apache.spark.deploy.{kind}", "--host", "127.0.0.1", "--webui-port", "0"]
            environment = os.environ | {"SPARK_HOME": str(home.directory), "SPARK_LOCAL_IP": "127.0.0.1"}
            output = subprocess.PIPE if kind == "master.Master" else subprocess.DEVNULL
            process = subprocess.Popen([*command, *arguments], env=environment, stderr=output, text=True)
            processes.callback(process.wait)
            processes.callback(process.terminate)
            return process

        master = start("master.Master", "--port", "0")
        address = _read_until(master, r"Starting Spark master at (spark://\S+)")
        for _ in range(2):
            start("worker.Worker", "--cores", "1", "--memory", "1g", address)
        for _ in range(2):
            _read_until(master, r"(Registering worker)")
        yield address


def _read_until(process: subprocess.Popen[str], pattern: str) -> str:
    """What the group of the pattern is in the first line of its log that has it."""
    assert process.stderr is not None
    read = []
    for line in process.stderr:
        read.append(line)
        if found := re.search(pattern, line):
            return found[1]
    raise RuntimeError("".join(read))


class Ran(NamedTuple):
    """What an application left: the interpreters that executors started during each copy, where they did, and what they logged."""

    workers: list[set[str]]
    executors: set[str]
    logged: list[str]


def run(
    home: Home, program: Sequence[str], arguments: Sequence[str], settings: Mapping[str, str], environment: Mapping[str, str], cwd: Path
) -> Ran:
    """Runs the application and returns when it has ended. Raises RuntimeError with its last traceback."""
    home.log.unlink(missing_ok=True)
    before = set(home.directory.glob("work/app-*"))
    conf = cwd / "conf"
    conf.mkdir()
    (conf / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in (SETTINGS | dict(settings)).items()))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYSPARK_", "PYTHON", "SPARK_"))}
    ours = {"SPARK_HOME": str(home.directory), "SPARK_CONF_DIR": str(conf), "SPARK_LOCAL_IP": "127.0.0.1"}
    command = [*program, str(APPLICATION), str(home.log), *arguments]
    done = subprocess.run(
        command, cwd=cwd, env=inherited | ours | dict(environment), capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise RuntimeError(done.stderr[max(done.stderr.rfind("Traceback"), 0) :][:5000])
    new = set(home.directory.glob("work/app-*")) - before
    return _found(home.log, [file.read_text() for directory in new for file in directory.glob("*/stderr")])


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
