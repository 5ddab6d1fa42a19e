"""What clients in pure Go make of a cluster."""

from __future__ import annotations

import pytest

from odradek.broker import Cluster
from tests.clients.client import Unavailable
from tests.clients.purego import purego


def run(*arguments: str) -> str:
    try:
        return purego(*arguments)
    except Unavailable as lacking:
        pytest.skip(str(lacking))


def test_franz_go_takes_the_cluster_for_a_new_kafka(cluster: Cluster) -> None:
    """It says "v4.3" of Apache Kafka 4.3, and will of ours when share and streams groups are served: they came after 3.9."""
    assert run("version", cluster.bootstrap_servers.split(",")[0]) == "at least v3.9"
