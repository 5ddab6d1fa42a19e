"""Starts the compared brokers, each in a process of its own, and reads CPU time and memory of that process from /proc."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from struct import pack
from typing import NamedTuple

from tests import apache_kafka

ODRADEK, MOCK, KAFKA = "odradek", "mock", "Kafka"


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
    with _process(ODRADEK, command, odradek) as broker:
        yield broker


@contextmanager
def with_fault() -> Iterator[Broker]:
    """Runs odradek with a fault that hits no request."""
    with _process(ODRADEK, [sys.executable, "-m", "benchmarks.faults", "fault"], with_fault) as broker:
        yield broker


@contextmanager
def without_fault() -> Iterator[Broker]:
    """Runs odradek in the same way without a fault."""
    with _process(ODRADEK, [sys.executable, "-m", "benchmarks.faults"], without_fault) as broker:
        yield broker


@contextmanager
def mock() -> Iterator[Broker]:
    """Runs librdkafka's mock cluster."""
    with _process(MOCK, [sys.executable, "-m", "benchmarks.mock"], mock) as broker:
        yield broker


@contextmanager
def kafka() -> Iterator[Broker]:
    """Runs Apache Kafka in a small JVM, which is faster in short runs than one with default settings."""
    began = time.perf_counter()
    with apache_kafka.ApacheKafka(settings={"log.segment.delete.delay.ms": "1000"}) as cluster:
        yield Broker(KAFKA, cluster.bootstrap_servers, cluster.nodes[0].pid, time.perf_counter() - began, kafka)


def available_brokers() -> list[Start]:
    """Returns the brokers that this machine can run."""
    missing = apache_kafka.missing()
    if missing:
        print(f"Apache Kafka is left out: {missing} is missing", file=sys.stderr)
    return [odradek, mock] if missing else [odradek, mock, kafka]


@contextmanager
def _process(name: str, command: list[str], start: Start) -> Iterator[Broker]:
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


def _await_first_response(bootstrap_servers: str) -> None:
    host, port = bootstrap_servers.split(":")
    with socket.create_connection((host, int(port)), 10) as connection:
        connection.sendall(pack(">ihhih", 10, 18, 0, 1, -1))  # ApiVersions v0
        connection.recv(4, socket.MSG_WAITALL)
