"""Associations of subjects with topics."""

from __future__ import annotations

from typing import Any

import pytest

from tests.broker.schema_registry.rest_calls import RestRegistry

TOPIC = {"resourceName": "orders", "resourceNamespace": "lkc-1", "resourceId": "t-1", "resourceType": "topic"}


def body(**association: Any) -> dict[str, Any]:
    return {**TOPIC, "associations": [{"associationType": "value", **association}]}


@pytest.fixture
def registry() -> RestRegistry:
    filled = RestRegistry()
    filled.register("orders-schema", '"int"')
    return filled


def test_unknown_topic_has_no_associations(registry: RestRegistry) -> None:
    assert registry.get("/associations/resources/-/orders?resourceType=topic&associationType=value") == []


def test_weak_association_is_listed_and_deleted(registry: RestRegistry) -> None:
    created = registry.ok("POST /associations", body(subject="orders-schema"))
    assert created["associations"][0] == {
        "subject": "orders-schema", "associationType": "value", "lifecycle": "WEAK", "frozen": False,
    }  # fmt: skip
    (listed,) = registry.get("/associations/resources/lkc-1/orders")
    assert listed["subject"] == "orders-schema" and len(listed["guid"]) == 36 and listed["createTs"] == listed["updateTs"]
    assert registry.get("/associations/resources/t-1") == registry.get("/associations/subjects/orders-schema") == [listed]
    assert registry.get("/associations/resources/t-1?associationType=key") == []
    assert registry.get("/associations/resources/t-1?lifecycle=STRONG") == []
    assert registry.error("DELETE /subjects/orders-schema") == 40904
    assert registry.ask("DELETE /associations/resources/t-1").status == 204
    assert registry.error("DELETE /associations/resources/t-1") == 40410
    registry.ok("DELETE /subjects/orders-schema")


def test_schema_makes_a_strong_association(registry: RestRegistry) -> None:
    created = registry.ok("POST /associations", body(schema={"schema": '"long"'}))
    (association,) = created["associations"]
    assert (association["lifecycle"], association["subject"]) == ("STRONG", ":.lkc-1:orders-value")
    assert registry.get("/subjects/:.lkc-1:orders-value/versions/1/schema") == '"long"'
    assert registry.error("POST /associations", {**body(subject=":.lkc-1:orders-value"), "resourceId": "t-2"}) == 42212
    assert registry.error("POST /associations", body(subject="orders-schema")) == 40903


def test_same_association_is_accepted_again(registry: RestRegistry) -> None:
    registry.ok("POST /associations", body(subject="orders-schema"))
    assert registry.ok("POST /associations", body(subject="orders-schema"))["associations"] == []
    assert registry.ok("PUT /associations/resources/t-1", body(subject="orders-schema"))["associations"] == []


def test_dry_run_changes_nothing(registry: RestRegistry) -> None:
    registry.ok("POST /associations?dryRun=true", {**body(subject="orders-schema"), "resourceId": None})
    assert registry.get("/associations/resources/lkc-1/orders") == []


@pytest.mark.parametrize(("change", "code"), [
    ({"resourceName": ""}, 42212),
    ({"resourceId": None}, 42212),
    ({"resourceType": "table"}, 42212),
    ({"associations": []}, 42212),
    ({"associations": [{"associationType": "header"}]}, 42212),
    ({"associations": [{"subject": "a"}, {"subject": "b"}]}, 42212),
    ({"associations": [{"subject": "__GLOBAL"}]}, 42212),
    ({"associations": [{}]}, 42212),
    ({"associations": [{"subject": "a", "lifecycle": "LOOSE"}]}, 42212),
    ({"associations": [{"subject": "a", "frozen": True}]}, 42212),
    ({"associations": [{"lifecycle": "WEAK", "schema": {}}]}, 42212),
    ({"associations": [{"subject": "missing"}]}, 40907),
])  # fmt: skip
def test_invalid_association_is_refused(registry: RestRegistry, change: dict[str, Any], code: int) -> None:
    assert registry.error("POST /associations", {**body(subject="orders-schema"), **change}) == code
    assert registry.get("/associations/resources/lkc-1/orders") == []


def test_subject_of_an_association_cannot_change(registry: RestRegistry) -> None:
    registry.register("other", '"int"')
    registry.ok("POST /associations", body(subject="orders-schema"))
    assert registry.error("PUT /associations/resources/t-1", body(subject="other")) == 42212
