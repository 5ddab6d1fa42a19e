"""Records of the topic that no registry has written are left out, and the registry serves what is left."""

from __future__ import annotations

import json
from typing import Any

import pytest

from odradek.broker.schema_registry.index import SchemaIndex
from odradek.broker.schema_registry.stored_records import InvalidRecord

SCHEMA_KEY = {"keytype": "SCHEMA", "subject": "x", "version": 1, "magic": 1}
CONFIG_KEY, MODE_KEY, ASSOC_KEY = ({"keytype": kind, "subject": "x", "magic": 0} for kind in ("CONFIG", "MODE", "ASSOC"))
SCHEMA = {"subject": "x", "version": 1, "id": 7, "schema": '"int"', "deleted": False}
RULE = {"name": "r", "tags": ["a"], "params": {"p": "q"}, "disabled": True}


def apply(index: SchemaIndex, key: Any, value: Any) -> None:
    index.apply(json.dumps(key).encode(), value if isinstance(value, bytes) else json.dumps(value).encode(), 5)


def state(index: SchemaIndex) -> list[Any]:
    return [index.versions, index.configs, index.modes, index.associations, index.contexts, index.max_id(".")]


@pytest.fixture
def index() -> SchemaIndex:
    """Returns an index with one record of each kind."""
    index = SchemaIndex()
    apply(index, SCHEMA_KEY, SCHEMA | {"metadata": {"properties": {"a": "b"}}, "ruleSet": {"domainRules": [RULE]}, "unknown": 1})
    apply(index, CONFIG_KEY, {"compatibilityLevel": "full", "normalize": True, "alias": None, "subject": "x"})
    apply(index, MODE_KEY, {"subject": "x", "mode": "READONLY"})
    return index


def test_known_members_are_read(index: SchemaIndex) -> None:
    schema = index.version("x", 1)
    assert schema is not None and (schema.id, schema.text, schema.timestamp) == (7, '"int"', 5)
    assert (schema.metadata, schema.rule_set) == ({"properties": {"a": "b"}}, {"domainRules": [RULE]})
    assert index.configs == {"x": {"compatibilityLevel": "FULL", "normalize": True}}
    assert index.modes == {"x": "READONLY"}


@pytest.mark.parametrize(
    "changed",
    [
        {"metadata": [1]}, {"metadata": {"properties": [1]}}, {"metadata": {"tags": {"a": 5}}}, {"metadata": {"sensitive": 5}},
        {"metadata": {"properties": {"a": {}}}}, {"ruleSet": [1]}, {"ruleSet": {"domainRules": 5}}, {"ruleSet": {"domainRules": [5]}},
        {"ruleSet": {"domainRules": [{"name": "a", "tags": [None]}]}}, {"ruleSet": {"domainRules": [{"name": "a", "params": [1]}]}},
        {"references": [1]}, {"references": 5}, {"schema": "\ud800"}, {"schema": [1]}, {"schemaType": [1]}, {"version": -5}, {"version": 0},
        {"id": -3}, {"id": 10**30}, {"id": None}, {"deleted": "x"}, {"subject": ""}, {"subject": [1]},
    ],
)  # fmt: skip
def test_schema_with_a_member_of_another_type_is_left_out(index: SchemaIndex, changed: dict[str, Any]) -> None:
    before = repr(state(index))
    with pytest.raises(InvalidRecord):
        apply(index, SCHEMA_KEY, SCHEMA | changed)
    assert repr(state(index)) == before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (CONFIG_KEY, [1]), (CONFIG_KEY, b"{"), (CONFIG_KEY, {"compatibilityLevel": 5}), (CONFIG_KEY, {"compatibilityLevel": "ODD"}),
        (CONFIG_KEY, {"alias": [5]}), (CONFIG_KEY, {"defaultMetadata": [1]}), (CONFIG_KEY, {"overrideRuleSet": 5}),
        (CONFIG_KEY | {"subject": [1]}, {"compatibilityLevel": "NONE"}), (MODE_KEY | {"subject": {}}, {"mode": "IMPORT"}),
        (MODE_KEY, {"mode": 5}), (MODE_KEY, {}), (ASSOC_KEY, {"subject": "x"}), (ASSOC_KEY, {"subject": 5}), ({"keytype": [1]}, {}),
        ([], {}), (SCHEMA_KEY | {"version": "z"}, SCHEMA), (SCHEMA_KEY, b"[" * 100_000),
    ],
)  # fmt: skip
def test_other_record_of_another_type_is_left_out(index: SchemaIndex, key: Any, value: Any) -> None:
    before = repr(state(index))
    with pytest.raises(InvalidRecord):
        apply(index, key, value)
    assert repr(state(index)) == before
