"""Reading subjects, versions, and schemas by id and GUID."""

from __future__ import annotations

import pytest

from tests.broker.schema_registry.rest_calls import RestRegistry, record


@pytest.fixture
def registry() -> RestRegistry:
    filled = RestRegistry()
    filled.register("a", record("id"))
    filled.register("a", record("id", total=0))
    filled.register("b", record("id"))
    filled.register(":.billing:a", record("id"))
    return filled


def test_subjects_are_listed_by_prefix_and_page(registry: RestRegistry) -> None:
    assert registry.get("/subjects") == [":.billing:a", "a", "b"]
    assert registry.get("/subjects?subjectPrefix=") == ["a", "b"]
    assert registry.get("/subjects?subjectPrefix=:.billing:") == [":.billing:a"]
    assert registry.get("/subjects?subjectPrefix=:*:a") == [":.billing:a", "a"]
    assert registry.get("/subjects?offset=1&limit=1") == ["a"]
    assert registry.get("/contexts/.billing/subjects") == [":.billing:a"]


def test_schemas_are_listed(registry: RestRegistry) -> None:
    assert [(each["subject"], each["version"]) for each in registry.get("/schemas")] == [("a", 1), ("a", 2), ("b", 1)]
    assert [each["version"] for each in registry.get("/schemas?latestOnly=true")] == [2, 1]
    assert [each["id"] for each in registry.get("/schemas?subjectPrefix=:*:")] == [1, 1, 2, 1]
    registry.ok("DELETE /subjects/a/versions/2")
    assert len(registry.get("/schemas")) == 2 and len(registry.get("/schemas?deleted=true")) == 3


def test_schema_by_id(registry: RestRegistry) -> None:
    assert "subject" not in registry.get("/schemas/ids/1")
    assert registry.get("/schemas/ids/1?subject=b")["version"] == 1
    assert registry.get("/schemas/ids/1?fetchMaxId=true")["maxId"] == 2
    assert registry.get("/schemas/ids/2/schema") == registry.get("/subjects/a/versions/2/schema")
    assert registry.get("/schemas/ids/1/versions") == [{"subject": "a", "version": 1}, {"subject": "b", "version": 1}]
    assert registry.get("/contexts/billing/schemas/ids/1")["subject"] == ":.billing:a"
    assert registry.error("GET /schemas/ids/3") == registry.error("GET /schemas/ids/3/versions") == 40403
    assert registry.error("GET /schemas/ids/one") == registry.error("GET /schemas/ids/99999999999") == 404


def test_schema_by_guid(registry: RestRegistry) -> None:
    guid = registry.get("/subjects/a/versions/1")["guid"]
    assert registry.get(f"/schemas/guids/{guid}")["guid"] == guid
    assert registry.get(f"/schemas/guids/{guid}/ids") == [{"context": ".", "id": 1}, {"context": ".billing", "id": 1}]
    assert registry.error(f"GET /schemas/guids/{guid[:-1]}{'1' if guid[-1] == '0' else '0'}") == 40403
    assert registry.error("GET /schemas/guids/none") == 40403


@pytest.mark.parametrize(("version", "code"), [("0", 42202), ("-2", 42202), ("two", 42202), ("2147483648", 42202), ("9", 40402)])
def test_invalid_version_is_refused(registry: RestRegistry, version: str, code: int) -> None:
    assert registry.error(f"GET /subjects/a/versions/{version}") == code


def test_latest_version_is_the_highest(registry: RestRegistry) -> None:
    assert registry.get("/subjects/a/versions/latest") == registry.get("/subjects/a/versions/-1") == registry.get("/subjects/a/versions/2")
    assert registry.error("GET /subjects/none/versions/latest") == 40401


def test_subject_of_another_context_is_found() -> None:
    registry = RestRegistry()
    registry.register(":.billing:only", record("id"))
    assert registry.get("/subjects/only/versions/1")["subject"] == ":.billing:only"
    assert registry.get("/schemas/ids/1?subject=only")["subject"] == ":.billing:only"
    assert registry.error("GET /subjects/:.other:only/versions/1") == 40401


def test_references_are_qualified_on_request() -> None:
    registry = RestRegistry()
    registry.register(":.billing:c", record("id", name="Customer"))
    order = {"type": "record", "name": "Order", "fields": [{"name": "customer", "type": "Customer"}]}
    registry.register(":.billing:o", order, references=[{"name": "Customer", "subject": "c", "version": 1}])
    shown = registry.get("/subjects/:.billing:o/versions/1?referenceFormat=qualified")
    assert shown["references"][0]["subject"] == ":.billing:c"
    assert registry.get("/subjects/:.billing:o/versions/1")["references"][0]["subject"] == "c"
    assert '"name":"Customer"' in registry.get("/subjects/:.billing:o/versions/1/schema?format=resolved")
