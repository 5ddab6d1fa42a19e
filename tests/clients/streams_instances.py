"""Instances of a word count in Kafka Streams with `group.protocol=streams` (StreamsClient.java), each in a process of its own."""

from __future__ import annotations

import subprocess
import threading
from pathlib import Path

from tests import apache_kafka
from tests.clients.client import PATIENCE_S

SOURCE = Path(__file__).with_name("StreamsClient.java")
APPLICATION = "words"


class Instance:
    """One instance. `states` are the states that it has been in; a line that begins with `failed` is an error."""

    def __init__(self, bootstrap_servers: str, directory: Path, guarantee: str) -> None:
        settings = {
            "bootstrap.servers": bootstrap_servers,
            "application.id": APPLICATION,
            "group.protocol": "streams",
            "state.dir": str(directory),
            "processing.guarantee": guarantee,
            "commit.interval.ms": "100",
            "statestore.cache.max.bytes": "0",
            "application.server": f"{directory.name}:1",
        }
        command = apache_kafka.command(
            str(SOURCE), *(f"{name}={value}" for name, value in settings.items()), libraries=(apache_kafka.jars(apache_kafka.STREAMS),)
        )
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.states: list[str] = []
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self) -> None:
        assert self._process.stdout is not None
        self.states.extend(line.strip() for line in self._process.stdout)

    def kill(self) -> None:
        """Ends the process as a crash does."""
        self._process.kill()
        self._process.wait(PATIENCE_S)

    def close(self) -> None:
        """Lets the instance leave its group, and waits for its end. It may be called twice, and after `kill`."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._reader.join()
            self._process.stdout.close()
