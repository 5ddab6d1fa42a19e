"""Clients that are implemented in Go."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster
from tests.clients.go_programs import run_go

pytestmark = pytest.mark.clients


def test_franz_go_detects_the_kafka_version() -> None:
    """franz-go detects versions by their APIs."""
    with Cluster(nodes=2) as cluster:
        assert run_go("franz_go", cluster.bootstrap_servers.split(",")[0]) == "v4.3"


@pytest.mark.parametrize("situation", ["reader-first", "two-topics", "dialled-first"])
def test_kafka_go_group_reader_finds_auto_created_topics(situation: str) -> None:
    """The reader waits forever with an empty assignment if only the second answer contains the topic: see known_differences.txt."""
    with Cluster(nodes=2) as cluster:
        assert run_go("kafka_go", cluster.bootstrap_servers.split(",")[0], situation) == "written"
