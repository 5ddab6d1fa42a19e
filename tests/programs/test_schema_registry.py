"""Apicurio Registry keeps its schemas in the cluster, and clients read Avro through it, also after it has been restarted.

Confluent's registry and Karapace are not on Maven Central or PyPI. Apicurio serves the same interface.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from odradek import Cluster
from tests import apache_kafka
from tests.cache import Unavailable, cached
from tests.programs.program import PATIENCE_S, Program, python_with

pytestmark = [pytest.mark.clients, pytest.mark.slow, pytest.mark.timeout(600)]

VERSION = "3.0.9"
ARTIFACT = f"io.apicurio:apicurio-registry-app:{VERSION}:tar.gz:all"
CLIENT = Path(__file__).with_name("avro_client.py")
COUNT = 20


def installed_registry() -> Path:
    """Returns the jar of the registry in the user's cache, which Maven fetches the first time (109 MB). Raises Unavailable."""
    if missing := apache_kafka.missing():
        raise Unavailable(f"{missing} is not installed")

    def fill(directory: Path) -> None:
        maven = ["mvn", "-q", "-B", "dependency:copy", f"-Dartifact={ARTIFACT}", f"-DoutputDirectory={directory}"]
        subprocess.run(maven, cwd=directory, stdout=sys.stderr, check=True)
        (archive,) = directory.glob("*.tar.gz")
        with tarfile.open(archive) as content:
            content.extractall(directory, filter="data")
        archive.unlink()

    (jar,) = cached(f"apicurio-registry-{VERSION}", fill).glob("*-runner.jar")
    return jar


class Registry(Program):
    """A running registry with its Confluent-compatible interface. Raises Unavailable."""

    def __init__(self, cluster: Cluster, directory: Path) -> None:
        settings = {
            "APICURIO_STORAGE_KIND": "kafkasql",
            "APICURIO_KAFKASQL_BOOTSTRAP_SERVERS": cluster.bootstrap_servers,
            "APICURIO_KAFKASQL_CONSUMER_POLL_TIMEOUT": "100",
            "QUARKUS_HTTP_HOST": "127.0.0.1",
            "QUARKUS_HTTP_PORT": "0",
            "QUARKUS_LOG_LEVEL": "INFO",
        }
        super().__init__([str(apache_kafka.java()), *apache_kafka.JVM, "-jar", str(installed_registry())], directory, settings)

    @property
    def url(self) -> str:
        """Waits until the registry listens."""
        return self.wait_for_line(r"Listening on: (http://\S+)")[1] + "/apis/ccompat/v7"


def registry(cluster: Cluster, directory: Path) -> Registry:
    """Starts a registry. Skips the test if it cannot be installed."""
    try:
        return Registry(cluster, directory)
    except Unavailable as reason:
        pytest.skip(str(reason))


def avro(command: str, cluster: Cluster, registry: Registry) -> list[str]:
    """Runs the client, and returns what it prints."""
    python = python_with("confluent-kafka-avro-2.15.0", "confluent-kafka[avro,schemaregistry]==2.15.0")
    arguments = [command, cluster.bootstrap_servers, registry.url, str(COUNT)]
    done = subprocess.run([python, str(CLIENT), *arguments], capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_schema_registry_restarted_serves_schemas(tmp_path: Path) -> None:
    with Cluster(nodes=2, topics={"orders": 1}) as cluster:
        with registry(cluster, tmp_path) as first:
            avro("produce", cluster, first)
            first.terminate()
        assert all(each.value and each.value.startswith(b"\0") for each in cluster.records("orders"))
        with registry(cluster, tmp_path) as second:
            read = [json.loads(line) for line in avro("consume", cluster, second)]
    assert read == [{"id": number, "customer": f"customer {number}"} for number in range(COUNT)]
