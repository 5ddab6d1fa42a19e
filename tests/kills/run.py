"""Kills a cluster with a data directory under load, and reports what was acknowledged and is not there afterwards."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import confluent_kafka
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from tests.soak.history import History
from tests.soak.loads import (
    DRAIN_S,
    ISOLATION,
    PARTITIONS,
    SESSION_TIMEOUT_MS,
    ConfluentReader,
    ConfluentWriter,
    Load,
    PlainConfluentWriter,
    Reader,
    TransactionalWriter,
    Writer,
)
from tests.soak.run import joined

TOPICS = ("idempotent", "plain", "transactional")
RETAINED = "retained"
SETTINGS = {
    "offsets.topic.num.partitions": "4",
    "transaction.state.log.num.partitions": "4",
    "group.initial.rebalance.delay.ms": "100",
    "log.retention.check.interval.ms": "300",
    "log.initial.task.delay.ms": "300",
    "log.cleaner.backoff.ms": "300",
    "offsets.topic.segment.bytes": "65536",
    "log.segment.bytes": "1048576",
}
RETAINED_CONFIGS = {"retention.bytes": "4194304", "segment.bytes": "1048576"}
READY_S = 60.0
UP_S = (0.2, 3.0)
LARGE = b"." * 20_000


class Outcome(NamedTuple):
    """The results of a run."""

    written: int
    read: int
    kills: int
    starts_s: list[float]
    violations: list[str]


RECONNECTING = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 100, "retry.backoff.ms": 50, "retry.backoff.max.ms": 100}
"""Settings of clients that notice a new start at once, because the cluster is killed soon again."""


class IdempotentWriter(ConfluentWriter):
    """An idempotent producer that connects again at once."""

    def settings(self) -> dict[str, Any]:
        return super().settings() | RECONNECTING


class PlainWriter(PlainConfluentWriter):
    """A producer without idempotence that connects again at once."""

    def settings(self) -> dict[str, Any]:
        return super().settings() | RECONNECTING


class TransactionsWriter(TransactionalWriter):
    """A transactional producer that connects again at once, and ends each transaction however often the cluster is killed meanwhile."""

    def settings(self) -> dict[str, Any]:
        return super().settings() | RECONNECTING | {"transaction.timeout.ms": 900_000}

    def _end(self, producer: confluent_kafka.Producer, commit: bool) -> None:
        while True:
            try:
                return super()._end(producer, commit)
            except confluent_kafka.KafkaException as error:
                if not error.args[0].retriable():
                    raise


class KilledCluster:
    """A cluster in a process of its own, which is killed and started again on the same port."""

    def __init__(self, directory: Path, settings: dict[str, str]) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.directory, self._settings = directory, settings
        self.log = directory.with_suffix(".log")
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def bootstrap_servers(self) -> str:
        return f"127.0.0.1:{self.port}"

    def start(self) -> float:
        """Starts the cluster, and returns how many seconds it took until it accepted connections."""
        sets = [f"--set={name}={text}" for name, text in self._settings.items()]
        command = ["serve", "--nodes=1", f"--port={self.port}", f"--data-dir={self.directory}", "--record-exchanges=0", *sets]
        begun_s = time.monotonic()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen([sys.executable, "-m", "odradek", *command], stdout=subprocess.PIPE, stderr=log)
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        assert line.startswith(b"bootstrap.servers="), f"the cluster does not start: {self.log.read_text()[-2000:]}"
        return time.monotonic() - begun_s

    def end(self, how: signal.Signals) -> None:
        """Sends a signal to the process and waits for its end."""
        assert self._process is not None
        self._process.send_signal(how)
        self._process.wait(READY_S)
        if self._process.stdout is not None:
            self._process.stdout.close()


class RetainedWriter(PlainWriter):
    """Writes so much that retention deletes segments. Its records are not compared."""

    def produce(self, producer: confluent_kafka.Producer) -> list[int]:
        for number in range(100):
            with suppress(BufferError):
                producer.produce(self.topic, LARGE, partition=number % PARTITIONS)
        return []


class Committer(Load):
    """Commits growing offsets, and compares what is committed with what was acknowledged."""

    def __init__(self, bootstrap_servers: str, stop: threading.Event) -> None:
        super().__init__("committer", bootstrap_servers, stop)
        self.acknowledged = 0

    def work(self) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": self.bootstrap_servers, "group.id": "committer", "log_level": 0}
        consumer = confluent_kafka.Consumer(settings | {"error_cb": lambda _: None})
        while not self.stop.wait(0.02):
            with suppress(confluent_kafka.KafkaException):
                (present,) = consumer.committed([confluent_kafka.TopicPartition("plain", 0)], 5.0)
                assert present.offset >= self.acknowledged or self.acknowledged == 0, f"{self.acknowledged} became {present.offset}"
                consumer.commit(offsets=[confluent_kafka.TopicPartition("plain", 0, self.acknowledged + 1)], asynchronous=False)
                self.acknowledged += 1
        consumer.close()


class TopicChanges(Load):
    """Creates and deletes topics, and compares those that exist with what was acknowledged."""

    def __init__(self, bootstrap_servers: str, stop: threading.Event, seed: int) -> None:
        super().__init__("topics", bootstrap_servers, stop)
        self._random = Random(seed)
        self.known: dict[str, bool] = {}
        """Whether each topic exists; topics whose last change was not acknowledged are missing."""

    def work(self) -> None:
        settings: dict[str, Any] = {"bootstrap.servers": self.bootstrap_servers, "log_level": 0, "error_cb": lambda _: None}
        admin = AdminClient(settings)
        number = 0
        while not self.stop.wait(0.05):
            with suppress(confluent_kafka.KafkaException):
                present = set(admin.list_topics(timeout=5.0).topics)
                for name, exists in self.known.items():
                    assert (name in present) == exists, f"the topic {name} was {'created' if exists else 'deleted'}: {sorted(present)}"
            existing = [name for name, exists in self.known.items() if exists]
            if existing and self._random.random() < 0.45:
                self._change(admin, self._random.choice(existing), exists=False)
            else:
                number += 1
                self._change(admin, f"made-{number}", exists=True)

    def _change(self, admin: AdminClient, name: str, *, exists: bool) -> None:
        self.known.pop(name, None)
        with suppress(confluent_kafka.KafkaException, TimeoutError):
            futures = admin.create_topics([NewTopic(name, 3, 1)]) if exists else admin.delete_topics([name])
            futures[name].result(5.0)
            self.known[name] = exists


class Kills:
    """All loads of one run."""

    def __init__(self, cluster: KilledCluster, seed: int) -> None:
        self._cluster, self._random = cluster, Random(seed)
        self._ended, self._drained = threading.Event(), threading.Event()
        servers = cluster.bootstrap_servers
        self.writers: list[Writer] = [
            make(name, servers, self._ended, topic, seed)
            for name, make, topic in (
                ("confluent-idempotent", IdempotentWriter, "idempotent"),
                ("confluent-plain", PlainWriter, "plain"),
                ("confluent-transactional", TransactionsWriter, "transactional"),
            )
        ]
        self.others = [
            Committer(servers, self._ended),
            TopicChanges(servers, self._ended, seed),
            RetainedWriter("retained", servers, self._ended, RETAINED, seed),
        ]
        self.readers: list[Reader] = [
            ConfluentReader("everything", servers, self._drained, list(TOPICS), **RECONNECTING),
            ConfluentReader("committed", servers, self._drained, list(TOPICS), **RECONNECTING, **{"isolation.level": ISOLATION[True]}),
        ]
        group = {"group.id": "classic", "session.timeout.ms": SESSION_TIMEOUT_MS, "auto.commit.interval.ms": 200, **RECONNECTING}
        self.members: list[Reader] = [
            ConfluentReader(f"member-{number}", servers, self._drained, ["idempotent", "plain"], **group) for number in (1, 2)
        ]

    def run(self, kills: int) -> Outcome:
        """Kills the cluster, lets the readers finish, reads everything again after the last start, and checks the history."""
        starts_s = [self._cluster.start()]
        self._create_topics()
        loads: list[Any] = [*self.readers, *self.members, *self.writers, *self.others]
        for load in loads:
            load.start()
        for _ in range(kills):
            self._ended.wait(self._random.uniform(*UP_S))
            self._cluster.end(signal.SIGKILL)
            starts_s.append(self._cluster.start())
        self._ended.set()
        errors = joined(self.writers) + joined(self.others)
        again = ConfluentReader("again", self._cluster.bootstrap_servers, self._drained, list(TOPICS))
        self.readers.append(again)
        again.start()
        deadline = time.monotonic() + DRAIN_S
        while time.monotonic() < deadline and (
            len(again.reading.rows) < len(self.readers[0].reading.rows)
            or any("unseen" in text or "lost" in text for text in self._history().violations())
        ):
            self._drained.wait(0.5)
        self._drained.set()
        errors += joined([*self.readers, *self.members])
        self._cluster.end(signal.SIGTERM)
        written = sum(len(writer.writing.acknowledged) for writer in self.writers)
        read = sum(len(reader.reading.rows) for reader in (*self.readers, *self.members))
        return Outcome(written, read, kills, starts_s, errors + self._history().violations() + self._logged())

    def _create_topics(self) -> None:
        admin = AdminClient({"bootstrap.servers": self._cluster.bootstrap_servers})
        topics = [NewTopic(name, PARTITIONS, 1) for name in TOPICS] + [NewTopic(RETAINED, PARTITIONS, 1, config=RETAINED_CONFIGS)]
        for created in admin.create_topics(topics).values():
            created.result(READY_S)

    def _history(self) -> History:
        readings = [reader.reading for reader in self.readers]
        return History([writer.writing for writer in self.writers], readings, {"classic": [each.reading for each in self.members]})

    def _logged(self) -> list[str]:
        text = self._cluster.log.read_text()
        return [f"the broker logged: {text[text.index('Traceback') :][:2000]}"] if "Traceback" in text else []


def kill_repeatedly(kills: int, seed: int, folder: Path) -> Outcome:
    """Starts a cluster with a data directory in an empty folder, runs all loads, and returns what was found."""
    return Kills(KilledCluster(folder / "data", SETTINGS), seed).run(kills)
