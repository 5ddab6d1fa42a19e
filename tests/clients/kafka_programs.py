"""Runs Kafka's command line programs in one JVM (KafkaPrograms.java)."""

from __future__ import annotations

import subprocess
from base64 import b64decode
from pathlib import Path

from tests import apache_kafka as oracle
from tests.clients.client import PATIENCE_S


class Programs:
    """Kafka's command line programs, which run in one JVM."""

    def __init__(self) -> None:
        command = oracle.command(str(Path(__file__).with_name("KafkaPrograms.java")), libraries=(oracle.jars(oracle.TOOLS), oracle.jars()))
        pipe = subprocess.PIPE
        self._jvm = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, text=True)

    def run(self, program: str, *arguments: str, typed: str = "") -> str:
        """Returns what a program prints."""
        assert self._jvm.stdin is not None and self._jvm.stdout is not None
        self._jvm.stdin.write("\t".join((program, typed, *arguments)) + "\n")
        self._jvm.stdin.flush()
        return b64decode(self._jvm.stdout.readline()).decode()

    def close(self) -> None:
        self._jvm.communicate(timeout=PATIENCE_S)
