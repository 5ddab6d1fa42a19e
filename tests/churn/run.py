"""Creates and deletes objects of all kinds, resets and restores the cluster, and checks that clients which stay connected continue."""

from __future__ import annotations

import threading
import time
from collections import Counter, defaultdict
from random import Random
from typing import NamedTuple

from odradek.broker.client.cluster_client import ClusterClient
from odradek.protocol.client.line import Address
from tests.soak.cluster_process import ClusterProcess

from .clients import PARTITIONS, PATIENCE_S, TOPIC, Reader, Sent, Writer, readers, writers
from .objects import GROUP_CONFIG, Objects, alter_config

NODES = 2
SETTINGS = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "allow.everyone.if.no.acl.found": "true",
    "super.users": "User:ANONYMOUS",
    "default.replication.factor": "2",
    "group.initial.rebalance.delay.ms": "0",
    "group.consumer.heartbeat.interval.ms": "500",
    "group.consumer.min.heartbeat.interval.ms": "500",
    "group.share.heartbeat.interval.ms": "500",
    "group.share.min.heartbeat.interval.ms": "500",
    "share.coordinator.state.topic.num.partitions": "3",
    "offsets.topic.num.partitions": "6",
    "transaction.state.log.num.partitions": "6",
}
RECORDS = 10
"""The number of records that each producer writes in a round."""
MAX_SNAPSHOTS = 3
CHECK_S = 0.05
WARM_UP_S = 600.0
MAX_GROWTH_MIB = 20


class Report(NamedTuple):
    """The results of a run. `memory_mib` has the memory after each reset, with the time since the start."""

    rounds: int
    changes: Counter[str]
    written: int
    restarts: int
    memory_mib: list[tuple[float, float]]
    violations: list[str]


class Churn:
    """The cluster, its clients and the states that they have seen.

    A change of state begins a new window. In each window, every record that is acknowledged must reach each group, and a consumer reads it
    once as long as it keeps its partitions. Records of earlier windows may be read again, because the state went back.
    """

    def __init__(self, cluster: ClusterProcess, seed: int) -> None:
        self._cluster, self._random = cluster, Random(seed)
        self._bootstrap: list[Address] = [_address(text) for text in cluster.bootstrap_servers.split(",")]
        self._snapshots: list[int] = []
        self._writers: list[Writer] = writers(cluster.bootstrap_servers)
        self._readers: list[Reader] = readers(cluster.bootstrap_servers)
        self._groups: dict[str, list[Reader]] = defaultdict(list)
        for reader in self._readers:
            self._groups[reader.group].append(reader)
        self._started, self._pause = time.monotonic(), threading.Event()
        self._starts: dict[str, int] = {}
        self.report = Report(0, Counter(), 0, 0, [], [])

    def run(self, duration_s: float) -> Report:
        """Runs rounds until the duration has passed or a guarantee is violated."""
        for reader in self._readers:
            reader.start()
        rounds = written = 0
        try:
            while not self.report.violations and (rounds == 0 or time.monotonic() < self._started + duration_s):
                self._change()
                self._churn_objects(rounds)
                written += self._write_and_read(rounds)
                rounds += 1
            self._reset()
        finally:
            self._close()
        restarts = sum(getattr(writer, "restarts", 0) for writer in self._writers)
        self.report.violations.extend(grown(self.report.memory_mib))
        return self.report._replace(rounds=rounds, written=written, restarts=restarts)

    def _change(self) -> None:
        """Changes the state of the cluster in a random way, or not at all."""
        kind = self._random.choice(("nothing", "snapshot", "restore", "reset"))
        if kind == "restore" and not self._snapshots:
            kind = "snapshot"
        self.report.changes[kind] += 1
        if kind == "snapshot":
            self._snapshots.append(self._cluster.control("snapshot").id)
            if len(self._snapshots) > MAX_SNAPSHOTS:
                self._cluster.control("close_snapshot", snapshot=self._snapshots.pop(0))
        elif kind == "restore":
            self._cluster.control("restore", snapshot=self._random.choice(self._snapshots))
        elif kind == "reset":
            self._reset()
        with ClusterClient(self._bootstrap) as client:
            alter_config(client, GROUP_CONFIG, "share", "share.auto.offset.reset", "earliest")  # a reset removes it
        self._starts = {reader.name: len(reader.rows) for reader in self._readers}

    def _reset(self) -> None:
        self._cluster.control("reset")
        self.report.memory_mib.append((time.monotonic() - self._started, self._cluster.memory_kib() / 1024))

    def _churn_objects(self, number: int) -> None:
        with ClusterClient(self._bootstrap) as client:
            objects = Objects(client, number)
            objects.create()
            objects.delete()

    def _write_and_read(self, number: int) -> int:
        """Lets each producer write, waits until each group has read all records, and returns their number."""
        sent: list[Sent] = []
        for writer in self._writers:
            try:
                sent += writer.write([f"{number} {writer.name} {each}" for each in range(RECORDS)])
            except Exception as error:
                self.report.violations.append(f"round {number}: {writer.name} failed: {error!r}")
        deadline = time.monotonic() + PATIENCE_S
        while (missing := self._missing(sent)) and time.monotonic() < deadline and not self._failed():
            self._pause.wait(CHECK_S)
        self.report.violations.extend(f"round {number}: {text}" for text in (*missing, *self._failed(), *self._wrong(sent)))
        return len(sent)

    def _missing(self, sent: list[Sent]) -> list[str]:
        """Returns the groups that have not read all records."""
        found: list[str] = []
        for group, members in self._groups.items():
            read = {row for member in members for row in member.rows[self._starts[member.name] :]}
            if unread := [row for row in sent if row not in read]:
                found.append(f"{group} has not read {len(unread)} of {len(sent)} records, first {unread[0]}")
        return found

    def _failed(self) -> list[str]:
        return [f"{reader.name} failed: {reader.error!r}" for reader in self._readers if reader.error is not None]

    def _wrong(self, sent: list[Sent]) -> list[str]:
        """Returns records that a consumer read twice without a new assignment, and those that were read at another position."""
        positions = {row.value: row for row in sent}
        found: list[str] = []
        for reader in self._readers:
            seen: set[str] = set()
            for row in reader.rows[self._starts[reader.name] :]:
                if row is None:
                    seen.clear()
                elif row.value in seen:
                    found.append(f"{reader.name} read {row} twice")
                else:
                    seen.add(row.value)
                    if positions.get(row.value, row) != row:
                        found.append(f"{reader.name} read {row}, which was acknowledged as {positions[row.value]}")
        return found

    def _close(self) -> None:
        for reader in self._readers:
            reader.ended.set()
        for writer in self._writers:
            writer.close()
        for reader in self._readers:
            reader.join(2 * PATIENCE_S)
            if reader.is_alive():
                self.report.violations.append(f"{reader.name} does not end")


def grown(memory_mib: list[tuple[float, float]]) -> list[str]:
    """Returns a violation if the memory after the last reset exceeds that after the first reset from the tenth minute on."""
    later = [mib for at_s, mib in memory_mib if at_s >= WARM_UP_S]
    return [f"memory grew from {later[0]:.0f} to {later[-1]:.0f} MiB"] if later and later[-1] > later[0] + MAX_GROWTH_MIB else []


def churn(duration_s: float, seed: int) -> Report:
    """Starts a cluster, runs the rounds and returns the report."""
    cluster = ClusterProcess(NODES, {TOPIC: PARTITIONS}, SETTINGS, seed)
    with cluster:
        report = Churn(cluster, seed).run(duration_s)
    if cluster.logged_error:
        report.violations.append(f"the broker logged: {cluster.logged_error}")
    return report


def _address(text: str) -> Address:
    host, _, port = text.rpartition(":")
    return host, int(port)
