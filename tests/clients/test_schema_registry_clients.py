"""Clients of other languages register schemas, and read and write values with the schema registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from odradek import Cluster
from tests import apache_kafka
from tests.cache import Unavailable, cached
from tests.clients.client import PATIENCE_S
from tests.clients.go_programs import run_go
from tests.clients.rust_programs import run_rust
from tests.confluent_jars import confluent_jars

pytestmark = [pytest.mark.clients, pytest.mark.slow]

CONFLUENT_CLIENT = Path(__file__).with_name("ConfluentClient.java")
JAVA_LINES = [
    "refused with error code: 409",
    '{"id": 7}',
    '{"id": 8, "note": null}',
    "versions [1, 2], id 2",
    "first message: {errorType:'TYPE_MISMATCH",
    "level NONE, id 3",
]
NODE_CLIENT = "@kafkajs/confluent-schema-registry@4.1.0"
RUST_LINES = """\
avro: id 2, again 2
avro: [0, 0, 0, 0, 2, 14, 244, 3] is Record([("id", Long(7)), ("paid", Record([("cents", Int(250))]))])
avro: [14, 244, 3] is Record([("id", Long(7)), ("paid", Record([("cents", Int(250))]))]) by __value_schema_id
avro: compatible false
avro: error_code: 409
avro: error_code: 40403, message: Schema 999 not found
json: [0, 0, 0, 0, 3] is {"id":7}
protobuf: [0, 0, 0, 0, 4, 4, 0, 0, 8, 7] is [8, 7] of shop.Parcel.Label
["items-value", "money", "orders-value", "parcels-value"]"""


def test_sr_of_franz_go_registers_checks_and_decodes() -> None:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        assert run_go("franz_go_sr", cluster.schema_registry_url).splitlines() == ["1 2 true 409 false FULL 40403", "{7}", "[1 2] [1 2] 0"]


def test_schema_registry_converter_of_rust_reads_all_types() -> None:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        assert run_rust("rust_registry", cluster.schema_registry_url) == RUST_LINES


def test_serializers_of_confluent_for_java_write_and_read() -> None:
    try:
        libraries = [apache_kafka.jars(apache_kafka.CLIENTS), confluent_jars()]
    except Unavailable as reason:
        pytest.skip(str(reason))
    with Cluster(nodes=1, topics={"orders": 1}, schema_registry=True) as cluster:
        command = apache_kafka.command(str(CONFLUENT_CLIENT), cluster.bootstrap_servers, cluster.schema_registry_url, libraries=libraries)
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert [line[2:] for line in done.stdout.splitlines() if line.startswith("> ")] == JAVA_LINES


def node_client() -> Path:
    """Returns the folder of the program for Node with its package. Skips the test if it cannot be installed."""
    if shutil.which("npm") is None:
        pytest.skip("Node is not installed")

    def fill(directory: Path) -> None:
        npm = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", NODE_CLIENT]
        subprocess.run(npm, cwd=directory, stdout=sys.stderr, check=True)

    try:
        return cached("kafkajs-registry-4.1.0", fill)
    except Unavailable as reason:
        pytest.skip(str(reason))


def test_registry_of_kafkajs_encodes_and_decodes_all_types(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name("kafkajs_registry") / "client.js", tmp_path)
    (tmp_path / "node_modules").symlink_to(node_client() / "node_modules")
    with Cluster(nodes=1, schema_registry=True) as cluster:
        command = ["node", "client.js", cluster.schema_registry_url]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [[True, True], ["AVRO", 7], ["PROTOBUF", 7], ["JSON", 7], [409, True], [404]]
