"""Runs Apache Kafka on an exported directory, on ports that the kernel chooses instead of the exported ones."""

from __future__ import annotations

import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from struct import pack, unpack
from time import monotonic

from tests.apache_kafka import command, reserve_port

_ADDRESS = re.compile(r"127\.0\.0\.1:(\d+)")
METADATA = pack(">hhih5si", 3, 1, 1, 5, b"probe", 0)  # Metadata v1 of no topic
PATIENCE_S = 120


def properties_of(start_command: str) -> Path:
    """Returns the path of the server.properties that a start command of an export names."""
    return Path(start_command.split("'")[1])


@contextmanager
def exported_kafka(start_commands: Sequence[str]) -> Iterator[str]:
    """Provides the bootstrap servers of a cluster of Apache Kafka with the exported nodes. Their logs are beside server.properties."""
    reserved: dict[str, socket.socket] = {}
    processes = []

    def on_free_port(found: re.Match[str]) -> str:
        if found[1] not in reserved:
            reserved[found[1]] = reserve_port()
        return f"127.0.0.1:{reserved[found[1]].getsockname()[1]}"

    try:
        for file in map(properties_of, start_commands):
            file.write_text(_ADDRESS.sub(on_free_port, file.read_text()))
            with (file.parent / "server.log").open("wb") as log:
                processes.append(subprocess.Popen(command("kafka.Kafka", str(file)), stdout=log, stderr=log))
        port = reserved["9092"].getsockname()[1]
        deadline = monotonic() + PATIENCE_S
        while _live_brokers(port) < len(processes):
            assert monotonic() < deadline, "Apache Kafka does not start on the exported directory"
            assert all(process.poll() is None for process in processes), "Apache Kafka has ended"
        yield f"127.0.0.1:{port}"
    finally:
        for process in processes:
            process.terminate()
        for process in processes:
            process.wait()
        for each in reserved.values():
            each.close()


def _live_brokers(port: int) -> int:
    """Returns the number of brokers that a node knows, 0 while it does not answer."""
    try:
        with socket.create_connection(("127.0.0.1", port), 1) as connection:
            connection.sendall(pack(">i", len(METADATA)) + METADATA)
            answer = connection.recv(12, socket.MSG_WAITALL)
    except OSError:
        return 0
    return int(unpack(">iii", answer)[2]) if len(answer) == 12 else 0
