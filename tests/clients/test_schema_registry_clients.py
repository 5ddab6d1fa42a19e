"""Clients of other languages register schemas, and read and write values with the schema registry."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from odradek import Cluster
from tests.cache import Unavailable, cached
from tests.clients.client import PATIENCE_S
from tests.clients.go_programs import run_go

pytestmark = [pytest.mark.clients, pytest.mark.slow]

NODE_CLIENT = "@kafkajs/confluent-schema-registry@4.1.0"


def test_sr_of_franz_go_registers_checks_and_decodes() -> None:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        assert run_go("franz_go_sr", cluster.schema_registry_url).splitlines() == ["1 2 true 409 false FULL 40403", "{7}", "[1 2] [1 2] 0"]


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
