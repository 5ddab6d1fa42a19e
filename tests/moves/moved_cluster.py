"""A cluster that moves between odradek and Apache Kafka: each starts with the log directory that the other has left."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from odradek import Cluster
from tests.apache_kafka import QUICK, ApacheKafka
from tests.broker.directories.exported_kafka import exported_kafka, properties_of

OURS, KAFKA = "odradek", "Apache Kafka"
ROUND_TRIPS = ((OURS, KAFKA, OURS), (KAFKA, OURS, KAFKA))
SETTINGS = {
    **QUICK,
    "group.min.session.timeout.ms": "1000",
    "group.share.min.heartbeat.interval.ms": "100",
    "group.share.heartbeat.interval.ms": "200",
    "group.streams.min.session.timeout.ms": "3000",
    "group.streams.session.timeout.ms": "3000",
    "group.streams.min.heartbeat.interval.ms": "200",
    "group.streams.heartbeat.interval.ms": "200",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms": "1000",
    "log.retention.ms": "-1",  # because some records are years old
}
"""Settings of both brokers, with which clients find out soon that others have gone."""


class Application(Protocol):
    """An application that is started on each broker of a move. `work` fails if it does not continue where it stopped."""

    def work(self, servers: str) -> None:
        """Starts the application on a broker, and returns when it has done its work there."""

    def leave(self) -> None:
        """Ends what has to outlive the broker. It is called when the broker has stopped."""


class MovedCluster:
    """A cluster whose files are in an empty folder."""

    def __init__(self, folder: Path, nodes: int) -> None:
        self._folder, self._nodes = folder, nodes
        self._log_dirs: list[Path] = []
        self._commands: list[str] = []

    def on(self, broker: str, number: int) -> AbstractContextManager[str]:
        """Provides the bootstrap servers of the cluster on a broker, from which it moves at the end."""
        folder = self._folder / f"{number}"
        if broker == OURS:
            return self._on_odradek(folder)
        return self._on_apache_kafka() if self._commands else self._on_new_apache_kafka(folder)

    @contextmanager
    def _on_odradek(self, folder: Path) -> Iterator[str]:
        origin: Any = {"from_log_dirs": self._log_dirs} if self._log_dirs else {"nodes": self._nodes}
        with Cluster(settings=SETTINGS, **origin) as cluster:
            yield cluster.bootstrap_servers
            self._commands = [node.command for node in cluster.export_log_dirs(folder)]
        self._log_dirs = [properties_of(command).with_name("data") for command in self._commands]

    @contextmanager
    def _on_apache_kafka(self) -> Iterator[str]:
        with exported_kafka(self._commands) as servers:
            yield servers

    @contextmanager
    def _on_new_apache_kafka(self, folder: Path) -> Iterator[str]:
        with ApacheKafka(nodes=self._nodes, settings=SETTINGS) as kafka:
            yield kafka.bootstrap_servers
            for node in reversed(kafka.nodes):  # because the first one is the controller
                node.shut_down()
                self._log_dirs.append(shutil.copytree(node.directory / "data", folder / str(node.node_id)))


def move(application: Application, brokers: Sequence[str], folder: Path, nodes: int = 1) -> None:
    """Lets an application work on one broker after the other. Raises AssertionError if it does not continue."""
    cluster = MovedCluster(folder, nodes)
    for number, broker in enumerate(brokers):
        with cluster.on(broker, number) as servers:
            application.work(servers)
        application.leave()
