"""Soft and permanent deletion of versions, subjects and contexts."""

from __future__ import annotations

from tests.broker.schema_registry.rest_calls import RestRegistry, record


def filled() -> RestRegistry:
    registry = RestRegistry()
    registry.register("s", record("id"))
    registry.register("s", record("id", total=0))
    return registry


def test_deleted_subject_is_hidden_and_readable_by_id() -> None:
    registry = filled()
    assert registry.ok("DELETE /subjects/s") == [1, 2]
    assert registry.get("/subjects") == [] and registry.get("/subjects?deleted=true") == ["s"]
    assert registry.get("/subjects?deletedOnly=true") == ["s"]
    assert registry.error("GET /subjects/s/versions") == 40401
    assert registry.get("/subjects/s/versions?deleted=true") == [1, 2]
    assert registry.get("/subjects/s/versions?deleted=true&deletedAsNegative=true") == [-1, -2]
    assert registry.get("/schemas/ids/1")["deleted"] is True
    assert registry.error("DELETE /subjects/s") == 40404
    assert registry.register("s", record("id", total=0))["version"] == 3


def test_permanent_deletion_follows_a_soft_one() -> None:
    registry = filled()
    assert registry.error("DELETE /subjects/s?permanent=true") == 40405
    registry.ok("PUT /config/s", {"compatibility": "NONE"})
    registry.ok("PUT /mode/s", {"mode": "READWRITE"})
    registry.ok("DELETE /subjects/s")
    assert registry.ok("DELETE /subjects/s?permanent=true") == [1, 2]
    assert registry.error("GET /schemas/ids/1") == 40403
    assert registry.error("DELETE /subjects/s") == 40401
    assert registry.error("GET /config/s") == 40408 and registry.error("GET /mode/s") == 40409
    registered = registry.register("s", record("id"))
    assert (registered["version"], registered["id"]) == (1, 3)


def test_version_is_deleted_softly_then_permanently() -> None:
    registry = filled()
    assert registry.error("DELETE /subjects/s/versions/1?permanent=true") == 40407
    assert registry.ok("DELETE /subjects/s/versions/latest") == 2
    assert registry.error("DELETE /subjects/s/versions/2") == 40406
    assert registry.get("/subjects/s/versions") == [1]
    assert registry.error("GET /subjects/s/versions/2") == 40402
    assert registry.get("/subjects/s/versions/2?deleted=true")["version"] == 2
    assert registry.ok("DELETE /subjects/s/versions/2?permanent=true") == 2
    assert registry.error("DELETE /subjects/s/versions/2") == 40402
    assert registry.error("DELETE /subjects/none/versions/2") == 40401
    assert registry.error("DELETE /subjects/s/versions/zero") == 42202


def test_schema_registered_again_replaces_its_deleted_version() -> None:
    registry = filled()
    registry.ok("DELETE /subjects/s/versions/2")
    assert registry.register("s", record("id", total=0)) | {"version": 3, "id": 2} == registry.register("s", record("id", total=0))
    assert registry.get("/subjects/s/versions?deleted=true") == [1, 3]


def test_read_only_mode_refuses_deletion() -> None:
    registry = filled()
    registry.ok("PUT /mode/s", {"mode": "READONLY"})
    assert registry.error("DELETE /subjects/s") == registry.error("DELETE /subjects/s/versions/1") == 42205


def test_context_is_deleted_when_it_is_empty() -> None:
    registry = RestRegistry()
    registry.register(":.billing:s", '"int"')
    assert registry.get("/contexts") == [".", ".billing"]
    assert registry.error("DELETE /contexts/.billing") == 42211
    registry.ok("DELETE /subjects/:.billing:s")
    registry.ok("DELETE /subjects/:.billing:s?permanent=true")
    assert registry.ask("DELETE /contexts/.billing").status == 204
    assert registry.get("/contexts") == ["."]
