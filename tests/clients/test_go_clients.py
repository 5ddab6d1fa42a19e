"""Clients that are written in Go from the ground up."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster
from tests.clients.go_programs import run_go

pytestmark = pytest.mark.clients


def test_franz_go_takes_the_cluster_for_a_new_kafka() -> None:
    """It says "v4.3" of Apache Kafka 4.3, and will of ours when share and streams groups are served: they came after 3.9."""
    with Cluster(nodes=2) as cluster:
        assert run_go("franz_go", cluster.bootstrap_servers.split(",")[0]) == "at least v3.9"


@pytest.mark.parametrize("situation", ["reader-first", "two-topics", "dialled-first"])
def test_kafka_gos_group_reader_finds_auto_created_topics(situation: str) -> None:
    """It hung on an empty assignment when the topic came with the second answer: see known_differences.txt."""
    with Cluster(nodes=2) as cluster:
        assert run_go("kafka_go", cluster.bootstrap_servers.split(",")[0], situation) == "written"
