"""Clients that rely on a topic being created because they ask for it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from odradek.broker import Cluster

pytestmark = pytest.mark.clients


@pytest.fixture(scope="module")
def kafka_go(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The program in kafka_go/."""
    if shutil.which("go") is None:
        pytest.skip("no Go")
    program = str(tmp_path_factory.mktemp("kafka-go") / "client")
    if subprocess.run(["go", "build", "-o", program, "."], cwd=Path(__file__).with_name("kafka_go")).returncode:
        pytest.skip("Go could not build a client with kafka-go")
    return program


def test_group_reader_of_kafka_go_finds_an_auto_created_topic(kafka_go: str) -> None:
    """It hung on an empty assignment when the topic came with the second answer: see known_differences.txt."""
    with Cluster(nodes=2) as cluster:
        address = cluster.bootstrap_servers.split(",")[0]
        done = subprocess.run([kafka_go, address, "auto-created"], capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("written\n", 0)
