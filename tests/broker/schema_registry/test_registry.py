"""Registering schemas, looking them up, and checking their compatibility."""

from __future__ import annotations

import pytest

from tests.broker.schema_registry.rest_calls import RestRegistry, record, text_of


def test_register_numbers_versions_and_ids() -> None:
    registry = RestRegistry()
    first = registry.register("orders-value", record("id"))
    second = registry.register("orders-value", record("id", total=0))
    other = registry.register("orders-key", '"string"')
    assert [(each["version"], each["id"]) for each in (first, second, other)] == [(1, 1), (2, 2), (1, 3)]


def test_register_again_returns_the_version() -> None:
    registry = RestRegistry()
    registry.register("orders-value", record("id"))
    registry.register("orders-value", record("id", total=0))
    assert registry.register("orders-value", record("id"))["version"] == 1
    assert registry.get("/subjects/orders-value/versions") == [1, 2]


def test_register_in_another_subject_keeps_the_id() -> None:
    registry = RestRegistry()
    registry.register("a", record("id"))
    assert registry.register("b", record("id"))["id"] == 1
    assert registry.get("/schemas/ids/1/subjects") == ["a", "b"]


def test_register_incompatible_says_which_field() -> None:
    registry = RestRegistry()
    registry.register("orders-value", record("id"))
    answered = registry.ask("POST /subjects/orders-value/versions", {"schema": text_of(record("id", "total"))})
    assert (answered.status, answered.body["error_code"]) == (409, 409)
    message = answered.body["message"]
    assert message.startswith('Schema being registered is incompatible with an earlier schema for subject "orders-value", details: [')
    assert "The field 'total' at path '/fields/1' in the new schema has no default value and is missing in the old schema" in message
    assert message.endswith("{validateFields: 'false', compatibility: 'BACKWARD'}]")
    assert registry.get("/subjects/orders-value/versions") == [1]


def test_register_with_force_skips_the_check() -> None:
    registry = RestRegistry()
    registry.register("orders-value", record("id"))
    registry.ok("POST /subjects/orders-value/versions?force=true", {"schema": text_of(record("total"))})


LEVELS = [
    ("NONE", [("id",), ("total",)], ("other",), True),
    ("BACKWARD", [("id", "total"), ("id",)], ("id",), True),
    ("BACKWARD", [("id",)], ("id", "total"), False),
    ("FORWARD", [("id",)], ("id", "total"), True),
    ("FORWARD", [("id", "total")], ("id",), False),
    ("FULL", [("id",)], ("id", "total"), False),
    ("BACKWARD_TRANSITIVE", [("id",), ("id", "total")], ("id", "total", "tax"), False),
    ("FORWARD_TRANSITIVE", [("id", "total"), ("id",)], ("id",), False),
]


@pytest.mark.parametrize(("level", "before", "new", "compatible"), LEVELS)
def test_levels_compare_with_the_right_versions(level: str, before: list[tuple[str, ...]], new: tuple[str, ...], compatible: bool) -> None:
    registry = RestRegistry({"schema.compatibility.level": "none"})
    for fields in before:
        registry.register("s", record(*fields))
    registry.ok("PUT /config/s", {"compatibility": level})
    checked = registry.ok("POST /compatibility/subjects/s/versions?verbose=true", {"schema": text_of(record(*new, name="Order"))})
    assert checked["is_compatible"] is compatible
    assert bool(checked["messages"]) is not compatible


def test_check_of_one_version() -> None:
    registry = RestRegistry({"schema.compatibility.level": "none"})
    registry.register("s", record("id"))
    registry.register("s", record("total"))
    registry.ok("PUT /config/s", {"compatibility": "backward"})
    path = "POST /compatibility/subjects/s/versions"
    body = {"schema": text_of(record("total"))}
    assert registry.ok(f"{path}/latest", body) == {"is_compatible": True}
    assert registry.ok(f"{path}/1", body) == {"is_compatible": False}
    assert registry.error(f"{path}/3", body) == 40402
    assert registry.ok("POST /compatibility/subjects/none/versions/latest", body) == {"is_compatible": True}


def test_check_of_an_invalid_schema() -> None:
    registry = RestRegistry()
    assert registry.error("POST /compatibility/subjects/s/versions", {"schema": "{"}) == 42201
    verbose = registry.ok("POST /compatibility/subjects/s/versions?verbose=true", {"schema": "{"})
    assert verbose["is_compatible"] is False and len(verbose["messages"]) == 1


def test_compatibility_group_separates_versions() -> None:
    registry = RestRegistry()
    registry.ok("PUT /config/s", {"compatibilityGroup": "major"})
    registry.register("s", record("id"), metadata={"properties": {"major": "1"}})
    registry.register("s", record("total"), metadata={"properties": {"major": "2"}})
    again = {"schema": text_of(record("tax")), "metadata": {"properties": {"major": "2"}}}
    assert registry.error("POST /subjects/s/versions", again) == 409


def test_look_up_finds_the_version_or_an_error() -> None:
    registry = RestRegistry()
    registry.register("s", record("id"))
    assert registry.ok("POST /subjects/s", {"schema": text_of(record("id"))})["version"] == 1
    assert registry.error("POST /subjects/s", {"schema": text_of(record("other"))}) == 40403
    assert registry.error("POST /subjects/none", {"schema": text_of(record("id"))}) == 40401
    registry.ok("DELETE /subjects/s")
    assert registry.error("POST /subjects/s", {"schema": text_of(record("id"))}) == 40401
    assert registry.ok("POST /subjects/s?deleted=true", {"schema": text_of(record("id"))})["version"] == 1


def test_references_are_resolved_and_listed() -> None:
    registry = RestRegistry()
    registry.register("customer", record("id", name="Customer"))
    order = {"type": "record", "name": "Order", "fields": [{"name": "customer", "type": "Customer"}]}
    reference = {"name": "Customer", "subject": "customer", "version": -1}
    registered = registry.register("order", order, references=[reference])
    assert registered["references"] == [{**reference, "version": 1}]
    assert registry.get("/subjects/customer/versions/1/referencedby") == [registered["id"]]
    assert registry.error("DELETE /subjects/customer") == 42206
    assert registry.error("DELETE /subjects/customer/versions/1") == 42206
    missing = {"schema": text_of(order), "references": [{**reference, "version": 7}]}
    answered = registry.ask("POST /subjects/other/versions", missing)
    assert answered.body["error_code"] == 42201 and 'subject "customer" and version 7' in answered.body["message"]
    registry.ok("DELETE /subjects/order")
    assert registry.get("/subjects/customer/versions/1/referencedby") == []
    assert registry.get("/subjects/customer/versions/1/referencedby?deleted=true") == [registered["id"]]


def test_import_keeps_ids_and_versions() -> None:
    registry = RestRegistry()
    given = {"schema": text_of(record("id")), "id": 17, "version": 4}
    assert registry.error("POST /subjects/s/versions", given) == 42205
    registry.ok("PUT /mode/s", {"mode": "IMPORT"})
    imported = registry.ok("POST /subjects/s/versions", given)
    assert (imported["id"], imported["version"]) == (17, 4)
    assert registry.error("POST /subjects/s/versions", {"schema": text_of(record("x"))}) == 42205
    assert registry.error("POST /subjects/s/versions", {"schema": text_of(record("x")), "id": 17}) == 42205
    registry.ok("PUT /mode/s", {"mode": "READWRITE"})
    assert registry.register("s", record("id", total=0))["id"] == 18


def test_metadata_and_rules_are_taken_over() -> None:
    registry = RestRegistry()
    rules = {"domainRules": [{"name": "mask", "kind": "TRANSFORM", "type": "CEL", "mode": "WRITE"}]}
    registry.ok("PUT /config", {"defaultMetadata": {"properties": {"team": "billing"}}})
    registry.register("s", record("id"), metadata={"properties": {"owner": "anna"}}, ruleSet=rules)
    later = registry.register("s", record("id", total=0))
    assert later["metadata"]["properties"] == {"owner": "anna", "team": "billing"}
    assert later["ruleSet"] == rules
    assert registry.get("/subjects/s/metadata?key=owner&value=anna")["version"] == 2
    assert registry.error("GET /subjects/s/metadata?key=owner&value=bert") == 40403
    assert [each["version"] for each in registry.get("/schemas?ruleType=CEL")] == [1, 2]


def test_version_in_the_request_must_be_the_next() -> None:
    registry = RestRegistry()
    assert registry.error("POST /subjects/s/versions", {"schema": text_of(record("id")), "version": 3}) == 42201
    registered = registry.register("s", record("id"), version=1)
    assert registered["metadata"]["properties"] == {"confluent:version": "1"}
    assert registry.register("s", record("id"))["version"] == 1


def test_empty_schema_takes_the_latest_text() -> None:
    registry = RestRegistry()
    assert registry.error("POST /subjects/s/versions", {"schema": ""}) == 42201
    registry.register("s", record("id"))
    again = registry.ok("POST /subjects/s/versions", {"metadata": {"properties": {"owner": "anna"}}})
    assert again["schema"] == registry.get("/subjects/s/versions/1/schema")
    assert again["version"] == 2


@pytest.mark.parametrize("subject", ["__GLOBAL", "__EMPTY", "a%00b", ":.__GLOBAL:a"])
def test_invalid_subject_is_refused(subject: str) -> None:
    assert RestRegistry().error(f"POST /subjects/{subject}/versions", {"schema": '"int"'}) == 42208


def test_large_schema_is_refused() -> None:
    schema = text_of({"type": "enum", "name": "E", "symbols": ["A"], "doc": "x" * 1_100_000})
    assert RestRegistry().error("POST /subjects/s/versions", {"schema": schema}) == 42209


def test_self_reference_is_refused() -> None:
    registry = RestRegistry()
    registry.ok("PUT /mode", {"mode": "IMPORT"})
    reference = {"name": "A", "subject": "s", "version": 1}
    registry.ok("POST /subjects/s/versions", {"schema": text_of(record("id", name="A")), "id": 1, "version": 1})
    body = {"schema": text_of(record("id", name="B")), "references": [reference], "id": 2, "version": 2}
    registry.ok("POST /subjects/s/versions", body)
    registry.ok("POST /subjects/s/versions", {**body, "id": 3, "version": 1})
    assert registry.error("POST /subjects/t/versions", {**body, "id": 4}) == 42201


def test_normalize_finds_the_same_schema() -> None:
    registry = RestRegistry()
    text = text_of({"type": "record", "name": "A", "namespace": "n", "fields": [{"type": {"type": "int"}, "name": "id"}]})
    registered = registry.ok("POST /subjects/s/versions?normalize=true", {"schema": text})
    same = text_of({"fields": [{"name": "id", "type": "int"}], "name": "n.A", "type": "record"})
    assert registry.ok("POST /subjects/s/versions?normalize=true", {"schema": same})["id"] == registered["id"]
