"""The topic of a registry: what others write into it, restored states, and a cluster that refuses to write."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest

from odradek.broker.snapshots.cluster import write_cluster
from odradek.protocol.batches.record_builder import build_batch
from odradek.protocol.batches.records import Record
from tests.broker.harness import World
from tests.broker.schema_registry.rest_calls import RestRegistry, record


def write(registry: RestRegistry, *pairs: tuple[Any, Any]) -> None:
    """Appends records to the topic as another registry would."""
    cluster = registry.world.cluster
    if "_schemas" not in cluster.topics:
        cluster.topics.create("_schemas", 1, 1)
    encoded = [(json.dumps(key).encode(), None if value is None else json.dumps(value).encode()) for key, value in pairs]
    batch = build_batch(Record(number, 5, key, value, []) for number, (key, value) in enumerate(encoded))
    partition = cluster.topics["_schemas"].partitions[0]
    partition.log.append(memoryview(batch), partition.leader_epoch, owned=False)


def schema(subject: str, version: int, schema_id: int, text: str = '"int"', **members: Any) -> tuple[Any, Any]:
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    return key, {"subject": subject, "version": version, "id": schema_id, "schema": text, "deleted": False, **members}


def test_topic_is_created_by_the_first_change() -> None:
    registry = RestRegistry()
    registry.get("/subjects")
    assert "_schemas" not in registry.world.cluster.topics
    registry.register("s", '"int"')
    topic = registry.world.cluster.topics["_schemas"]
    assert (len(topic.partitions), len(topic.partitions[0].replicas)) == (1, 3)
    assert topic.config.overrides["cleanup.policy"] == "compact"


def test_topic_has_the_name_of_the_setting() -> None:
    registry = RestRegistry({"kafkastore.topic": "schemas-of-tests"})
    registry.register("s", '"int"')
    assert list(registry.world.cluster.topics) == ["schemas-of-tests"]


def test_records_are_those_of_other_registries() -> None:
    registry = RestRegistry()
    registry.register("s", '"int"')
    registry.ok("PUT /config", {"compatibility": "NONE"})
    registry.ok("PUT /mode/s", {"mode": "READWRITE"})
    registry.ok("DELETE /subjects/s")
    registry.register(":.c:s", '"int"')
    assert registry.keys() == [
        {"keytype": "SCHEMA", "subject": "s", "version": 1, "magic": 1},
        {"keytype": "CONFIG", "magic": 0},
        {"keytype": "MODE", "subject": "s", "magic": 0},
        {"keytype": "DELETE_SUBJECT", "subject": "s", "magic": 0},
        {"keytype": "CONTEXT", "tenant": "default", "context": ".c", "magic": 0},
        {"keytype": "SCHEMA", "subject": ":.c:s", "version": 1, "magic": 1},
    ]


def test_records_of_other_registries_are_read() -> None:
    registry = RestRegistry()
    registry.register("s", '"int"')
    write(
        registry,
        ({"keytype": "NOOP", "magic": 0}, None),
        schema("t", 1, 7, '"string"', md5="eA==", unknown=1),
        ({"keytype": "CONFIG", "subject": None, "magic": 0}, {"compatibilityLevel": "FULL"}),
        ({"keytype": "MODE", "subject": "t", "magic": 0}, {"mode": "READONLY"}),
    )
    assert registry.get("/schemas/ids/7")["schema"] == '"string"'
    assert registry.get("/config") == {"compatibilityLevel": "FULL"} and registry.get("/mode/t") == {"mode": "READONLY"}
    assert registry.register("s2", '"long"')["id"] == 8
    write(registry, ({"keytype": "DELETE_SUBJECT", "subject": "t", "magic": 0}, {"subject": "t", "version": 1}))
    assert registry.get("/subjects") == ["s", "s2"]
    write(registry, ({"keytype": "CLEAR_SUBJECT", "subject": "t", "magic": 0}, {"subject": "t"}))
    assert registry.error("GET /schemas/ids/7") == 40403


def test_invalid_records_are_ignored(caplog: pytest.LogCaptureFixture) -> None:
    registry = RestRegistry()
    bad = [
        ("text", None), ([], None), ({"keytype": "OTHER"}, None), ({"keytype": "SCHEMA"}, None),
        ({"keytype": "SCHEMA", "subject": "s", "version": 1}, {"id": 1}), schema("s", 1, 1, references=[{}]),
    ]  # fmt: skip
    write(registry, *bad, schema("good", 1, 4))
    with caplog.at_level(logging.WARNING):
        assert registry.get("/subjects") == ["good"]
    assert len(caplog.records) == len(bad)


def test_invalid_schema_of_another_registry_is_named() -> None:
    registry = RestRegistry()
    write(registry, schema("s", 1, 1, "{"))
    assert registry.get("/subjects/s/versions/1")["schema"] == "{"
    assert registry.error("GET /subjects/s/versions/1?format=resolved") == 42201
    assert registry.error("POST /subjects/s/versions", {"schema": '"int"'}) == 42201


def test_restored_state_has_its_schemas() -> None:
    registry = RestRegistry()
    registry.register("s", record("id"))
    state = write_cluster(registry.world.cluster)
    registry.register("s", record("id", total=0))
    registry.world.restore(state)
    assert registry.get("/subjects/s/versions") == [1]
    assert registry.register("t", '"int"')["id"] == 2


def test_truncated_log_is_read_again() -> None:
    registry = RestRegistry()
    registry.register("s", record("id"))
    registry.register("s", record("id", total=0))
    partition = registry.world.cluster.topics["_schemas"].partitions[0]
    partition.truncate_to(1)
    assert registry.get("/subjects/s/versions") == [1]
    registry.register("t", '"int"')
    partition.truncate_to(1)
    partition.log.begin_epoch(partition.leader_epoch + 1)
    write(registry, schema("u", 1, 2), schema("u", 2, 3, '"long"'))
    assert registry.get("/subjects") == ["s", "u"]


def test_cluster_without_leader_refuses_changes() -> None:
    registry = RestRegistry()
    registry.register("s", '"int"')
    for node_id in (1, 2, 3):
        registry.world.cluster.nodes.stop(node_id, graceful=True)
    assert registry.error("POST /subjects/t/versions", {"schema": '"long"'}) == 50001
    assert registry.get("/subjects") == ["s"]


def test_refused_records_change_nothing() -> None:
    registry = RestRegistry(world=World(settings={"message.max.bytes": "300"}))
    registry.register("s", '"int"')
    large = {"type": "enum", "name": "E", "symbols": ["A"], "doc": "x" * 500}
    assert registry.error("POST /subjects/t/versions", {"schema": json.dumps(large)}) == 42209
    assert registry.get("/subjects") == ["s"] and len(registry.keys()) == 1
