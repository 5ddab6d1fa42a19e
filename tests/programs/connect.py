"""A worker of Kafka Connect in distributed mode, from the jars of Maven Central, and its REST interface."""

from __future__ import annotations

import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from tests import apache_kafka
from tests.cache import Unavailable
from tests.programs.program import PATIENCE_S, Program
from tests.waiting import until

GROUP = "connect-workers"
TOPIC = "lines"
SINK_GROUP = "connect-sink"
CLUSTER_SETTINGS = {"group.min.session.timeout.ms": 1000}
"""The settings of a cluster whose workers have SETTINGS."""
CONFLICT = 409
"""The status of the REST interface while the workers are rebalancing."""
SETTINGS = {
    "group.id": GROUP,
    "config.storage.topic": "connect-configs",
    "offset.storage.topic": "connect-offsets",
    "offset.storage.partitions": 1,
    "status.storage.topic": "connect-status",
    "status.storage.partitions": 1,
    "config.storage.replication.factor": 1,
    "offset.storage.replication.factor": 1,
    "status.storage.replication.factor": 1,
    "key.converter": "org.apache.kafka.connect.storage.StringConverter",
    "value.converter": "org.apache.kafka.connect.storage.StringConverter",
    "exactly.once.source.support": "enabled",
    "consumer.isolation.level": "read_committed",
    "listeners": "http://127.0.0.1:0",
    "plugin.discovery": "service_load",
    # The remaining settings make a worker commit soon, and give the tasks of a worker that has ended to the others at once.
    "offset.flush.interval.ms": 200,
    "heartbeat.interval.ms": 200,
    "session.timeout.ms": 3000,
    "scheduled.rebalance.max.delay.ms": 0,
}


def libraries() -> list[Path]:
    """Returns the directories of the jars of Connect, MirrorMaker and the connectors of files. Raises Unavailable without Java or Maven."""
    if missing := apache_kafka.missing():
        raise Unavailable(f"{missing} is not installed")
    try:
        return [apache_kafka.jars(artifact) for artifact in ("connect-mirror", "connect-file")]
    except (OSError, subprocess.CalledProcessError) as error:
        raise Unavailable(f"Maven cannot fetch Kafka Connect: {error}") from error


def properties(file: Path, settings: Mapping[str, object]) -> str:
    """Writes a file of settings and returns its path."""
    file.write_text("".join(f"{name}={value}\n" for name, value in settings.items()))
    return str(file)


class Worker(Program):
    """A worker in a JVM of its own. `added` are directories of further jars, such as those of converters."""

    def __init__(self, bootstrap_servers: str, directory: Path, added: Sequence[Path] = ()) -> None:
        file = properties(directory / "worker.properties", SETTINGS | {"bootstrap.servers": bootstrap_servers})
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        super().__init__(apache_kafka.command(main, file, libraries=[*libraries(), *added]), directory)

    @cached_property
    def address(self) -> str:
        """Host and port of the REST interface, by which the workers know each other. Waits until it answers."""
        address = self.wait_for_line(r"advertising URL http://(\S+)/")[1]
        self.wait_for_line("REST resources initialized")
        return address

    def put(self, connector: str, settings: Mapping[str, object]) -> None:
        """Creates a connector, or changes it, as soon as the workers are not rebalancing."""
        body = {name: str(value) for name, value in settings.items()}
        until(lambda: self._call("PUT", f"connectors/{connector}/config", body), PATIENCE_S)

    def task(self, connector: str) -> Any:
        """Returns the state and the worker of the only task of a connector."""
        status = until(lambda: self._call("GET", f"connectors/{connector}/status"), PATIENCE_S)
        (task,) = status["tasks"]
        return task

    def _call(self, method: str, path: str, body: object = None) -> Any:
        """Returns the response, None while the workers are rebalancing."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://{self.address}/{path}", data, {"Content-Type": "application/json"}, method=method)
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE_S) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                assert error.code == CONFLICT, error.read().decode()
                return None


class Files:
    """The file that Connect reads, and the one that it writes."""

    def __init__(self, directory: Path) -> None:
        self.source, self.sink = directory / "source.txt", directory / "sink.txt"
        self.source.touch()

    def append(self, first: int, last: int) -> None:
        with self.source.open("a") as source:
            source.writelines(f"{line}\n" for line in lines(first, last))

    def start_copying(self, worker: Worker) -> None:
        connector = "org.apache.kafka.connect.file.FileStream{}Connector".format
        worker.put("source", {"connector.class": connector("Source"), "file": self.source, "topic": TOPIC, "tasks.max": 1})
        worker.put("sink", {"connector.class": connector("Sink"), "file": self.sink, "topics": TOPIC, "tasks.max": 1})


def lines(first: int, last: int) -> list[str]:
    """Returns the lines from one number up to another one."""
    return [f"line {number}" for number in range(first, last)]
