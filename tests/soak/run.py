"""Runs a mixed load on a cluster whose nodes stop, crash, pause and lose their network, and reports violations."""

from __future__ import annotations

import statistics
import threading
import time
from random import Random
from typing import Any, NamedTuple

from .cluster_process import ClusterProcess
from .history import History
from .loads import (
    DRAIN_S,
    HEARTBEAT_INTERVAL_MS,
    ISOLATION,
    PARTITIONS,
    SESSION_TIMEOUT_MS,
    AioKafkaReader,
    AioKafkaWriter,
    ConfluentReader,
    ConfluentWriter,
    KafkaPythonReader,
    KafkaPythonWriter,
    Load,
    PlainConfluentWriter,
    Reader,
    TransactionalWriter,
    Writer,
)

NODES = 3
TOPICS = ("idempotent", "plain", "transactional")
RETENTION_BYTES = 2 << 20
SETTINGS = {
    "default.replication.factor": "3",
    "min.insync.replicas": "1",
    "broker.session.timeout.ms": "1000",
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.num.partitions": "6",
    "group.initial.rebalance.delay.ms": "100",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "log.retention.bytes": str(RETENTION_BYTES),
    "log.segment.bytes": "1048576",
    "log.retention.check.interval.ms": "1000",
    "log.initial.task.delay.ms": "1000",
    "log.cleaner.backoff.ms": "1000",
    "offsets.topic.segment.bytes": "1048576",
    "leader.imbalance.check.interval.seconds": "5",
}
CLASSIC = {"session.timeout.ms": SESSION_TIMEOUT_MS, "heartbeat.interval.ms": HEARTBEAT_INTERVAL_MS, "auto.commit.interval.ms": 500}
DISTURBANCES: tuple[tuple[str, dict[str, bool], str], ...] = (
    ("stop_node", {}, "start_node"),
    ("stop_node", {"graceful": False}, "start_node"),
    ("pause_node", {}, "resume_node"),
    ("isolate", {}, "rejoin"),
)
"""Pairs of controls: the first one, with its options, makes a node fail, and the second one lets it return."""
UP_S, DOWN_S = (2.0, 6.0), (0.5, 3.0)
SAMPLE_S = 1.0
MAX_GROWTH, MAX_GROWTH_MIB = 1.1, 8
"""The memory by which the last quarter may exceed the second one, in which logs have already reached their retention."""
FEWEST_SAMPLES = 120


class Report(NamedTuple):
    """The results of a soak."""

    written: int
    read: int
    failures: int
    memory_mib: list[float]
    violations: list[str]


class Soak:
    """All loads of one soak."""

    def __init__(self, cluster: ClusterProcess, seed: int) -> None:
        self._cluster, self._random = cluster, Random(seed)
        self._ended, self._drained = threading.Event(), threading.Event()
        self.failures = 0
        self.memory_mib: list[float] = []
        servers = cluster.bootstrap_servers
        self.writers: list[Writer] = [
            make(name, servers, self._ended, topic, seed)
            for name, make, topic in (
                ("confluent-idempotent", ConfluentWriter, "idempotent"),
                ("kafka-python-idempotent", KafkaPythonWriter, "idempotent"),
                ("aiokafka-idempotent", AioKafkaWriter, "idempotent"),
                ("confluent-plain", PlainConfluentWriter, "plain"),
                ("confluent-transactional-1", TransactionalWriter, "transactional"),
                ("confluent-transactional-2", TransactionalWriter, "transactional"),
            )
        ]
        self.readers: list[Reader] = [
            ConfluentReader("everything", servers, self._drained, list(TOPICS)),
            ConfluentReader("committed", servers, self._drained, list(TOPICS), **{"isolation.level": ISOLATION[True]}),
        ]
        self.groups: dict[str, list[Reader]] = self._groups(servers)

    def _groups(self, servers: str) -> dict[str, list[Reader]]:
        settings: dict[str, dict[str, Any]] = {
            "classic": CLASSIC | {"partition.assignment.strategy": "cooperative-sticky"},
            "consumer": {"group.protocol": "consumer", "auto.commit.interval.ms": 500},
        }
        groups: dict[str, list[Reader]] = {
            name: [
                ConfluentReader(f"{name}-{number}", servers, self._drained, ["idempotent", "plain"], **{"group.id": name}, **each)
                for number in (1, 2)
            ]
            for name, each in settings.items()
        }
        for name, make in (("kafka-python", KafkaPythonReader), ("aiokafka", AioKafkaReader)):
            groups[name] = [make(f"{name}-{number}", servers, self._drained, ["idempotent"], name) for number in (1, 2)]
        return groups

    @property
    def members(self) -> list[Reader]:
        return [member for group in self.groups.values() for member in group]

    def run(self, duration_s: float) -> Report:
        """Makes nodes fail for the duration, lets the readers finish, and checks the history."""
        for load in (*self.readers, *self.members, *self.writers):
            load.start()
        self._disturb(time.monotonic() + duration_s)
        self._ended.set()
        errors = joined(self.writers)
        history = self._history()
        deadline = time.monotonic() + DRAIN_S
        while time.monotonic() < deadline and any("unseen" in text or "lost" in text for text in history.violations()):
            self._drained.wait(SAMPLE_S)
        self._drained.set()
        errors += joined([*self.readers, *self.members])
        written = sum(len(writer.writing.acknowledged) for writer in self.writers)
        read = sum(len(reader.reading.rows) for reader in (*self.readers, *self.members))
        return Report(written, read, self.failures, self.memory_mib, errors + history.violations() + grown(self.memory_mib))

    def _history(self) -> History:
        groups = {name: [member.reading for member in group] for name, group in self.groups.items()}
        return History([writer.writing for writer in self.writers], [reader.reading for reader in self.readers], groups)

    def _disturb(self, deadline: float) -> None:
        """Makes one node at a time fail for a while."""
        while time.monotonic() < deadline:
            self._wait(self._random.uniform(*UP_S), deadline)
            node_id = self._random.randint(1, NODES)
            fail, options, recover = self._random.choice(DISTURBANCES)
            self._cluster.control(fail, node=node_id, **options)
            self.failures += 1
            self._wait(self._random.uniform(*DOWN_S), deadline)
            self._cluster.control(recover, node=node_id)

    def _wait(self, duration_s: float, deadline: float) -> None:
        until = min(time.monotonic() + duration_s, deadline)
        while (left := until - time.monotonic()) > 0:
            self._ended.wait(min(left, SAMPLE_S))
            self.memory_mib.append(self._cluster.memory_kib() / 1024)


def joined(loads: list[Load] | list[Writer] | list[Reader]) -> list[str]:
    """Waits for loads to end and returns their errors."""
    for load in loads:
        load.join(2 * DRAIN_S)
    errors = [f"{load.name} failed: {load.error!r}" for load in loads if load.error is not None]
    return errors + [f"{load.name} does not end" for load in loads if load.is_alive()]


def grown(memory_mib: list[float]) -> list[str]:
    """Returns a violation if memory grows although old records are deleted: the last quarter is compared with the second."""
    if len(memory_mib) < FEWEST_SAMPLES:
        return []
    quarter = len(memory_mib) // 4
    early, late = (statistics.median(part) for part in (memory_mib[quarter : 2 * quarter], memory_mib[-quarter:]))
    return [f"memory grew from {early:.0f} to {late:.0f} MiB"] if late > MAX_GROWTH * early + MAX_GROWTH_MIB else []


def soak(duration_s: float, seed: int) -> Report:
    """Starts a cluster, runs all loads and returns the report."""
    cluster = ClusterProcess(NODES, dict.fromkeys(TOPICS, PARTITIONS), SETTINGS, seed)
    with cluster:
        report = Soak(cluster, seed).run(duration_s)
    if cluster.logged_error:
        report.violations.append(f"the broker logged: {cluster.logged_error}")
    return report
