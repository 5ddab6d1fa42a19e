"""The requests that the benchmark sends to the schema registry."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from benchmarks.schema_registry import CONNECTIONS, Connections, Refused, reading, registration
from odradek import Cluster


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1, schema_registry=True) as cluster:
        yield cluster


@pytest.fixture
def connections(cluster: Cluster) -> Iterator[Connections]:
    with Connections(int(cluster.schema_registry_url.rpartition(":")[2])) as connections:
        yield connections


@pytest.mark.parametrize("count", [1, CONNECTIONS, 2 * CONNECTIONS + 1])
def test_run_registers_each_schema_under_its_own_subject(cluster: Cluster, connections: Connections, count: int) -> None:
    assert connections.run([registration(number) for number in range(count)]) > 0
    assert len(cluster.schemas.subjects()) == count
    assert connections.run([reading(1 + number) for number in range(count)]) > 0


def test_run_with_an_unknown_id_is_refused(connections: Connections) -> None:
    with pytest.raises(Refused, match="Schema 987 not found"):
        connections.run([reading(987)])
