"""Kafka's command line programs, which KafkaPrograms.java runs in one JVM."""

from __future__ import annotations

import subprocess
from base64 import b64decode
from pathlib import Path

from tests import apache_kafka
from tests.clients.client import PATIENCE_S

SOURCE = Path(__file__).with_name("KafkaPrograms.java")


class Programs:
    """The JVM of the programs. Needs Java, and Maven the first time."""

    def __init__(self) -> None:
        command = apache_kafka.command(str(SOURCE), libraries=(apache_kafka.jars(apache_kafka.TOOLS), apache_kafka.jars()))
        pipe = subprocess.PIPE
        self._jvm = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def run(self, program: str, *arguments: str, typed: str = "") -> str:
        """Returns what a program prints. `program` is the class of its main method."""
        assert self._jvm.stdin is not None and self._jvm.stdout is not None
        self._jvm.stdin.write("\t".join((program, typed, *arguments)) + "\n")
        self._jvm.stdin.flush()
        return b64decode(self._jvm.stdout.readline()).decode()

    def close(self) -> None:
        self._jvm.communicate(timeout=PATIENCE_S)
