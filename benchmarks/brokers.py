"""Starts the compared brokers, each in a process of its own, and reads CPU time and memory of that process from /proc."""

from __future__ import annotations

import os
import platform
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from importlib.metadata import version
from pathlib import Path
from struct import pack
from typing import NamedTuple

import confluent_kafka

from odradek import __version__
from odradek.broker.network import driver
from tests import apache_kafka

ODRADEK, FLOOR, MOCK, KAFKA, KFAKE = BROKERS = ("odradek", "floor", "mock", "Kafka", "kfake")
"""The order of the columns. `floor.py` and `mock.py` explain the floor and librdkafka's mock; kfake is franz-go's fake cluster."""


_KFAKE = Path(os.environ.get("XDG_CACHE_HOME", "~/.cache"), "odradek", "kfake").expanduser()


class Broker(NamedTuple):
    """A running broker. `start_s` is the time from the start of its process to its first response, `start` starts another one."""

    name: str
    bootstrap_servers: str
    pid: int
    start_s: float
    start: Start

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.bootstrap_servers.split(":")
        return host, int(port)

    def cpu_s(self) -> float:
        """Returns the seconds of CPU that its threads have used."""
        nanoseconds = 0
        for task in self._tasks():
            with suppress(FileNotFoundError, ProcessLookupError):  # a thread of the JVM has ended meanwhile
                nanoseconds += int(Path(f"/proc/{self.pid}/task/{task}/schedstat").read_text().split()[0])
        return nanoseconds / 1e9

    def page_faults(self) -> int:
        """Returns how often the system has provided a page of memory to it."""
        return int(Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[7])

    def resident_bytes(self) -> int:
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    @contextmanager
    def on_one_cpu(self) -> Iterator[None]:
        """Pins the broker and new threads of the caller to one CPU, because waking another CPU takes longer than a request."""
        every_cpu = os.sched_getaffinity(0)
        try:
            self._pin({max(every_cpu)})
            yield
        finally:
            self._pin(every_cpu)

    def _pin(self, cpus: set[int]) -> None:
        for task in [0, *self._tasks()]:
            with suppress(ProcessLookupError):
                os.sched_setaffinity(task, cpus)

    def _tasks(self) -> list[int]:
        return [int(task.name) for task in Path(f"/proc/{self.pid}/task").iterdir()]


Start = Callable[[], AbstractContextManager[Broker]]


@contextmanager
def odradek() -> Iterator[Broker]:
    """Runs `odradek serve`, as users start it."""
    command = [str(Path(sys.executable).with_name("odradek")), "serve", "--nodes", "1", "--port", "0"]
    with start_process(ODRADEK, command, odradek) as broker:
        yield broker


@contextmanager
def with_fault() -> Iterator[Broker]:
    """Runs odradek with a fault that hits no request."""
    with start_process(ODRADEK, [sys.executable, "-m", "benchmarks.faults", "fault"], with_fault) as broker:
        yield broker


@contextmanager
def without_fault() -> Iterator[Broker]:
    """Runs odradek in the same way without a fault."""
    with start_process(ODRADEK, [sys.executable, "-m", "benchmarks.faults"], without_fault) as broker:
        yield broker


@contextmanager
def without_record() -> Iterator[Broker]:
    """Runs odradek in the same way without the record of exchanges."""
    with start_process(ODRADEK, [sys.executable, "-m", "benchmarks.faults", "no-record"], without_record) as broker:
        yield broker


@contextmanager
def mock() -> Iterator[Broker]:
    """Runs librdkafka's mock cluster."""
    with start_process(MOCK, [sys.executable, "-m", "benchmarks.mock"], mock) as broker:
        yield broker


@contextmanager
def kafka() -> Iterator[Broker]:
    """Runs Apache Kafka in a small JVM, which is faster in short runs than one with default settings."""
    began = time.perf_counter()
    with apache_kafka.ApacheKafka(settings={"log.segment.delete.delay.ms": "1000"}) as cluster:
        yield Broker(KAFKA, cluster.bootstrap_servers, cluster.nodes[0].pid, time.perf_counter() - began, kafka)


@contextmanager
def floor() -> Iterator[Broker]:
    """Runs the broker that only receives."""
    with start_process(FLOOR, [sys.executable, "-m", "benchmarks.floor"], floor) as broker:
        yield broker


@contextmanager
def kfake() -> Iterator[Broker]:
    """Runs franz-go's kfake."""
    with start_process(KFAKE, [str(_KFAKE)], kfake) as broker:
        yield broker


@contextmanager
def kfake_keeping_data() -> Iterator[Broker]:
    """Runs franz-go's kfake with a new data directory."""
    with tempfile.TemporaryDirectory() as folder, start_process(KFAKE, [str(_KFAKE), f"{folder}/data"], kfake_keeping_data) as broker:
        yield broker


def available_brokers() -> list[Start]:
    """Returns the brokers that this machine can run."""
    found: list[Start] = [odradek, floor, mock]
    missing = apache_kafka.missing()
    if missing:
        print(f"Apache Kafka is left out: {missing} is missing", file=sys.stderr)
    else:
        found.append(kafka)
    if reason := _build_kfake():
        print(f"kfake is left out: {reason}", file=sys.stderr)
    else:
        found.append(kfake)
    return found


def _build_kfake() -> str | None:
    """Compiles kfake unless its program is up to date. Returns the reason why it cannot be compiled."""
    if shutil.which("go") is None:
        return "Go is missing"
    done = subprocess.run(
        ["go", "build", "-o", str(_KFAKE), "."], cwd=Path(__file__).with_name("kfake"), capture_output=True, text=True, check=False
    )
    return f"go build failed: {done.stderr.strip()}" if done.returncode else None


def versions(names: Iterable[str]) -> dict[str, str]:
    """Returns the versions of these brokers."""
    loop = f", uvloop {version('uvloop')}" if driver.uvloop else ""
    known = {
        ODRADEK: f"{__version__} (Python {platform.python_version()}{loop})",
        FLOOR: "receives into new memory, computes the CRC, checks nothing",
        MOCK: f"of librdkafka {confluent_kafka.libversion()[0]}",
        KAFKA: f"{apache_kafka.VERSION}, KRaft, in a JVM of {apache_kafka.JVM[1].removeprefix('-Xmx')}",
        KFAKE: _required("kfake"),
    }
    return {name: known[name] for name in names}


def _required(module: str) -> str:
    """Returns the version of a Go module in kfake's go.mod."""
    lines = Path(__file__).with_name("kfake").joinpath("go.mod").read_text().splitlines()
    return next(line.split()[-1] for line in lines if line.startswith("require") and f"/{module} " in line)


@contextmanager
def start_process(name: str, command: list[str], start: Start) -> Iterator[Broker]:
    """Starts a process whose first line of output is `bootstrap.servers=...`."""
    # pip compiles the packages that it installs. Ours is compiled at its first start, unless this variable prevents that.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    began = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            bootstrap_servers = process.stdout.readline().strip().removeprefix("bootstrap.servers=")
            if not bootstrap_servers:
                raise RuntimeError(f"{name} did not start: {' '.join(command)}")
            _await_first_response(bootstrap_servers)
            yield Broker(name, bootstrap_servers, process.pid, time.perf_counter() - began, start)
        finally:
            process.terminate()


def free_port() -> int:
    """Returns a port of 127.0.0.1 on which nothing listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def _await_first_response(bootstrap_servers: str) -> None:
    host, port = bootstrap_servers.split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(pack(">ihhih", 10, 18, 0, 1, -1))  # ApiVersions v0
        connection.recv(4, socket.MSG_WAITALL)
