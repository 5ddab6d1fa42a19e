"""Config and mode of subjects, contexts and the whole registry."""

from __future__ import annotations

import pytest

from tests.broker.schema_registry.rest_calls import RestRegistry, record, text_of


def test_config_of_a_subject_precedes_the_global_one() -> None:
    registry = RestRegistry({"schema.compatibility.level": "full"})
    assert registry.get("/config") == {"compatibilityLevel": "FULL"}
    assert registry.error("GET /config/s") == 40408
    assert registry.get("/config/s?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
    assert registry.ok("PUT /config", {"compatibility": "forward"}) == {"compatibility": "FORWARD"}
    assert registry.ok("PUT /config/s", {"compatibility": "NONE"}) == {"compatibility": "NONE"}
    assert registry.get("/config/s") == {"compatibilityLevel": "NONE"}
    assert registry.ok("DELETE /config/s") == {"compatibilityLevel": "NONE"}
    assert registry.error("DELETE /config/s") == 40401
    assert registry.get("/config/s?defaultToGlobal=true") == {"compatibilityLevel": "FORWARD"}
    assert registry.ok("DELETE /config") == {"compatibilityLevel": "FORWARD"}
    assert registry.get("/config") == {"compatibilityLevel": "FULL"}


def test_config_changes_only_the_given_members() -> None:
    registry = RestRegistry()
    registry.ok("PUT /config/s", {"compatibility": "FULL", "normalize": True, "alias": "t"})
    registry.ok("PUT /config/s", {"normalize": None})
    assert registry.get("/config/s") == {"compatibilityLevel": "FULL", "alias": "t"}


@pytest.mark.parametrize(("path", "body", "code"), [
    ("config", {"compatibility": "SIDEWARD"}, 42203),
    ("config/s", {"compatibility": "SIDEWARD"}, 42203),
    ("config/s", {"normalize": "perhaps"}, 400),
    ("config/s", {"defaultRuleSet": {"domainRules": [{}]}}, 42210),
    ("config/__GLOBAL", {"compatibility": "FULL"}, 42208),
    ("mode", {"mode": "SLEEPING"}, 42204),
    ("mode/s", {"mode": "FORWARD"}, 42204),
    ("mode/__GLOBAL", {"mode": "IMPORT"}, 42208),
])  # fmt: skip
def test_invalid_settings_are_refused(path: str, body: object, code: int) -> None:
    assert RestRegistry().error(f"PUT /{path}", body) == code


def test_context_has_a_config_of_its_own() -> None:
    registry = RestRegistry()
    registry.ok("PUT /config/:.billing:", {"compatibility": "NONE"})
    registry.ok("PUT /config/:.__GLOBAL:", {"compatibility": "FULL"})
    assert registry.get("/config/:.billing:s?defaultToGlobal=true") == {"compatibilityLevel": "NONE"}
    assert registry.get("/config/:.other:s?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}
    assert registry.get("/config/s?defaultToGlobal=true") == {"compatibilityLevel": "FULL"}


def test_alias_stands_for_another_subject() -> None:
    registry = RestRegistry()
    registry.register("s", record("id"))
    registry.ok("PUT /config/short", {"alias": "s"})
    assert registry.get("/subjects/short/versions") == [1]
    assert registry.get("/subjects/short/versions/latest")["subject"] == "s"


def test_mode_of_a_subject_precedes_the_global_one() -> None:
    registry = RestRegistry()
    assert registry.get("/mode") == {"mode": "READWRITE"}
    assert registry.error("GET /mode/s") == 40409
    assert registry.ok("PUT /mode", {"mode": "READONLY"}) == {"mode": "READONLY"}
    assert registry.error("POST /subjects/s/versions", {"schema": '"int"'}) == 42205
    assert registry.error("PUT /config/s", {"compatibility": "NONE"}) == 42205
    registry.ok("PUT /mode/s", {"mode": "READWRITE"})
    registry.register("s", '"int"')
    assert registry.get("/mode/t?defaultToGlobal=true") == {"mode": "READONLY"}
    assert registry.ok("DELETE /mode/s") == {"mode": "READWRITE"}
    assert registry.error("DELETE /mode/s") == 40401
    assert registry.ok("DELETE /mode?recursive=true") == {"mode": "READONLY"}


def test_mode_of_subjects_of_a_context_is_deleted_recursively() -> None:
    registry = RestRegistry()
    registry.ok("PUT /mode/:.billing:s", {"mode": "READONLY"})
    assert registry.ok("DELETE /mode/:.billing:?recursive=true") == {}
    assert registry.error("GET /mode/:.billing:s") == 40409


def test_import_mode_needs_a_subject_without_versions() -> None:
    registry = RestRegistry()
    registry.register("s", '"int"')
    assert registry.error("PUT /mode/s", {"mode": "IMPORT"}) == 42205
    registry.ok("PUT /mode/s?force=true", {"mode": "IMPORT"})
    registry.ok("PUT /mode/s", {"mode": "READWRITE"})
    registry.ok("DELETE /subjects/s")
    registry.ok("PUT /mode/s", {"mode": "IMPORT"})
    assert registry.get("/subjects?deleted=true") == []


def test_immutable_mode_cannot_be_changed() -> None:
    registry = RestRegistry({"mode.mutability": "false"})
    assert registry.error("PUT /mode", {"mode": "READONLY"}) == registry.error("DELETE /mode") == 42205


def test_normalize_of_the_config_applies() -> None:
    registry = RestRegistry()
    registry.ok("PUT /config/s", {"normalize": True})
    registered = registry.register("s", {"type": "record", "name": "A", "fields": [{"type": {"type": "int"}, "name": "id"}]})
    same = text_of({"fields": [{"name": "id", "type": "int"}], "name": "A", "type": "record"})
    assert registry.ok("POST /subjects/s", {"schema": same})["id"] == registered["id"]
