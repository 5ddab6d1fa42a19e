"""Instances of a word count in Kafka Streams with `group.protocol=streams` (StreamsClient.java), each in a process of its own."""

from __future__ import annotations

import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import confluent_kafka

from tests import apache_kafka
from tests.clients.client import PATIENCE_S

SOURCE = Path(__file__).with_name("StreamsClient.java")
APPLICATION = "words"
PARTITIONS = 4


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


class Words:
    """The topics of the word count: produces lines, and reads all counts. `expected` are the counts of what was produced before."""

    def __init__(self, bootstrap_servers: str, expected: Counter[str] | None = None) -> None:
        settings = {"bootstrap.servers": bootstrap_servers, "log_level": 0}
        self._producer = confluent_kafka.Producer(settings)
        reading = {"group.id": "reader", "auto.offset.reset": "earliest", "enable.auto.commit": False}
        self._consumer = confluent_kafka.Consumer(settings | reading)
        self._consumer.subscribe(["counts"])
        self.expected = Counter(expected)
        self.read: dict[str, list[int]] = {}

    def write(self, *lines: str) -> None:
        for number, line in enumerate(lines):
            self._producer.produce("lines", line, partition=number % PARTITIONS)
            self.expected.update(line.split())
        assert self._producer.flush(PATIENCE_S) == 0

    def poll(self) -> None:
        """Reads counts, and waits for a short time if there are none."""
        for message in self._consumer.consume(1000, 0.05):
            assert message.error() is None, message.error()
            self.read.setdefault((message.key() or b"").decode(), []).append(int(message.value() or b""))

    def wait(self, condition: Callable[[], bool], *instances: Instance) -> None:
        """Reads counts until a condition is true. Raises AssertionError if an instance fails or that takes too long."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            states = [instance.states for instance in instances]
            assert time.monotonic() < deadline, states
            assert not [state for each in states for state in each if state.startswith(("failed", "ERROR"))], states
            self.poll()

    def are_counted(self) -> bool:
        return {word: counts[-1] for word, counts in self.read.items()} == self.expected

    def are_counted_once(self) -> bool:
        """Returns whether each word was counted once: its counts are 1, 2, 3 and so on."""
        return all(counts == list(range(1, len(counts) + 1)) for counts in self.read.values())

    def close(self) -> None:
        self._consumer.close()
