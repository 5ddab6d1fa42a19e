"""A cluster for the tests of a module, in the state after start."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import Cluster
from odradek.broker.client.cluster_client import ClusterClient
from odradek.broker.commands.options import addresses

SETTINGS = {
    "group.consumer.min.heartbeat.interval.ms": 1,
    "group.consumer.heartbeat.interval.ms": 1,
    "group.consumer.assignment.interval.ms": 0,
}


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings=SETTINGS) as cluster:
        yield cluster


@pytest.fixture
def cluster(shared_cluster: Cluster) -> Cluster:
    shared_cluster.reset()
    shared_cluster.create_topic("orders", 2)
    return shared_cluster


@pytest.fixture
def client(cluster: Cluster) -> Iterator[ClusterClient]:
    with ClusterClient(addresses(cluster.bootstrap_servers)) as client:
        yield client
