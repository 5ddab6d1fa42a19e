"""A console beside a cluster, which the tests of a module share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from odradek import Cluster
from tests.broker.commands.console import Console


@pytest.fixture(scope="module")
def shared_cluster() -> Iterator[Cluster]:
    with Cluster(nodes=2, settings={"group.initial.rebalance.delay.ms": 0, "log.retention.ms": -1}) as cluster:
        yield cluster


@pytest.fixture
def console(shared_cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> Console:
    """A console whose commands use a cluster in the state after start."""
    shared_cluster.reset()
    console = Console(monkeypatch)
    console.use(shared_cluster)
    return console
