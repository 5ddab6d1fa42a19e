"""`cluster.schemas`: the controls of the schema registry."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest

from odradek import AsyncCluster, Cluster, ControlRefused, InvalidControl

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}
CHANGED = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "string"}]}


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    with Cluster(nodes=1) as running:
        yield running


def test_schema_is_registered_and_read_without_a_listener(cluster: Cluster) -> None:
    registered = cluster.schemas.register("orders-value", ORDER)
    assert (registered.version, registered.id, registered.type) == (1, 1, "AVRO")
    assert cluster.schemas.subjects() == ["orders-value"]
    assert cluster.schemas.get("orders-value") == cluster.schemas.get("orders-value", 1) == registered
    assert [topic.name for topic in cluster.topics()] == ["_schemas"]


def test_incompatible_schema_is_refused_with_reasons(cluster: Cluster) -> None:
    cluster.schemas.register("orders-value", ORDER)
    checked = cluster.schemas.check("orders-value", CHANGED)
    assert not checked.is_compatible and "TYPE_MISMATCH" in checked.messages[0]
    with pytest.raises(ControlRefused) as raised:
        cluster.schemas.register("orders-value", CHANGED)
    assert raised.value.code == "409"
    cluster.schemas.set_compatibility("NONE", "orders-value")
    assert cluster.schemas.check("orders-value", CHANGED, version=1).is_compatible
    assert cluster.schemas.register("orders-value", CHANGED).version == 2


def test_references_are_resolved(cluster: Cluster) -> None:
    cluster.schemas.register("orders-value", ORDER)
    reference = {"name": "Order", "subject": "orders-value", "version": 1}
    batch = '{"type": "array", "items": "Order"}'
    assert cluster.schemas.register("batches-value", batch, references=[reference]).version == 1  # type: ignore[list-item]
    with pytest.raises(ControlRefused, match="42201"):
        cluster.schemas.register("other-value", batch)


def test_versions_are_deleted(cluster: Cluster) -> None:
    cluster.schemas.register("orders-value", ORDER)
    assert cluster.schemas.delete("orders-value", 1) == [1]
    assert cluster.schemas.subjects() == [] and cluster.schemas.subjects(deleted=True) == ["orders-value"]
    assert cluster.schemas.delete("orders-value", permanent=True) == [1]
    with pytest.raises(ControlRefused, match="40401"):
        cluster.schemas.get("orders-value")


def test_arguments_of_other_types_are_refused(cluster: Cluster) -> None:
    with pytest.raises(InvalidControl):
        cluster.schemas.set_compatibility("SIDEWARD")  # type: ignore[arg-type]
    with pytest.raises(InvalidControl):
        cluster.schemas.register("a", 1)  # type: ignore[arg-type]


def test_schemas_are_awaited_on_the_loop_of_the_cluster() -> None:
    async def registered() -> list[str]:
        async with AsyncCluster(nodes=1) as cluster:
            await cluster.schemas.register("orders-value", ORDER)
            return await cluster.schemas.subjects()

    assert asyncio.run(registered()) == ["orders-value"]
