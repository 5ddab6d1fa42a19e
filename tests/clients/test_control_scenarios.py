"""The examples that drive a cluster and an application over HTTP: a shell script, and a Java program that needs only the JDK."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka import Consumer

from odradek import Cluster
from tests import apache_kafka

EXAMPLES = Path(__file__).parents[2] / "examples"
STEPS = 8


class Application:
    """A consumer of the topic `orders` in the group `billing`, which commits every record that it has read."""

    def __init__(self, bootstrap_servers: str) -> None:
        self._ended = threading.Event()
        self._consumer = Consumer({
            "bootstrap.servers": bootstrap_servers, "group.id": "billing", "auto.offset.reset": "earliest", "enable.auto.commit": False,
            "topic.metadata.refresh.interval.ms": 500, "session.timeout.ms": 6000, "heartbeat.interval.ms": 500, "log_level": 0,
        })  # fmt: skip
        self._consumer.subscribe(["orders"])
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            record = self._consumer.poll(0.1)
            if record is not None and record.error() is None:
                self._consumer.commit(message=record)
        self._consumer.close()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    settings = {"auto.create.topics.enable": False, "group.min.session.timeout.ms": 1000}
    with Cluster(nodes=2, settings=settings, control="127.0.0.1:0") as cluster:
        application = Application(cluster.bootstrap_servers)
        yield cluster
        application.stop()


def run(command: list[str], cluster: Cluster) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = os.environ | {"PATH": path, "ODRADEK_CONTROL": str(cluster.control)}
    ended = subprocess.run(command, env=environ, capture_output=True, text=True)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    *steps, last = ended.stdout.splitlines()
    assert (len([line for line in steps if line.startswith("* ")]), last) == (STEPS, "done")
    assert "orders" not in [topic.name for topic in cluster.topics()]


def test_shell_script_drives_a_whole_scenario(cluster: Cluster) -> None:
    run(["bash", str(EXAMPLES / "control_scenario.sh")], cluster)


def test_program_in_java_drives_a_whole_scenario(cluster: Cluster) -> None:
    java = apache_kafka.java()
    if java is None:
        pytest.skip("Java is not installed")
    for module in ("jdk.compiler", "java.net.http"):
        if subprocess.run([java, "--describe-module", module], capture_output=True).returncode:
            pytest.skip(f"this Java has no module {module}")
    run([java, str(EXAMPLES / "ControlScenario.java"), str(cluster.control)], cluster)
