"""The types of members in the body of a request, above all of metadata and rules."""

from __future__ import annotations

from typing import Any

import pytest

from odradek.broker.schema_registry.body_members import flag_of, number_of, object_of, text_of
from odradek.broker.schema_registry.data_contracts import check_rule_names, metadata_of, rule_set_of
from odradek.broker.schema_registry.errors import RegistryError


def test_numbers_and_flags_are_read_as_texts() -> None:
    assert [text_of({"a": value}, "a") for value in ("x", 5, 1.5, True, None)] == ["x", "5", "1.5", "true", None]
    assert [flag_of({"a": value}, "a") for value in (True, "false", None)] == [True, False, None]
    assert [number_of({"a": value}, "a", 3) for value in ("7", 7.0, None)] == [7, 7, 3]
    assert object_of({"a": {"ä": 1}}, "a") == {"ä": 1}


@pytest.mark.parametrize("value", ["\ud800", "a\udfffb"])
def test_half_of_a_surrogate_pair_is_refused(value: str) -> None:
    with pytest.raises(RegistryError, match="a contains half of a surrogate pair"):
        text_of({"a": value}, "a")
    with pytest.raises(RegistryError, match="a contains half of a surrogate pair"):
        object_of({"a": {"b": [value]}}, "a")


def test_metadata_are_texts() -> None:
    given = {"tags": {"a": ["PII", 5]}, "properties": {"p": 1, "q": "r"}, "sensitive": ["p"], "other": 7}
    assert metadata_of({"metadata": given}, "metadata") == {
        "tags": {"a": ["PII", "5"]}, "properties": {"p": "1", "q": "r"}, "sensitive": ["p"], "other": 7,
    }  # fmt: skip
    assert metadata_of({"metadata": {"tags": None}}, "metadata") == {"tags": None}
    assert metadata_of({}, "metadata") is None


def test_rules_have_types() -> None:
    rule = {"name": "r", "disabled": "true", "tags": ["a"], "params": {"n": 5}, "expr": None, "other": []}
    read = rule_set_of({"ruleSet": {"domainRules": [rule]}}, "ruleSet")
    assert read == {"domainRules": [rule | {"disabled": True, "params": {"n": "5"}}]}
    check_rule_names(read)
    check_rule_names(None)


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        ({"tags": [1]}, "metadata.tags must be an object"),
        ({"tags": {"a": "x"}}, "metadata.tags.a must be a list"),
        ({"properties": {"a": {"b": "c"}}}, "metadata.properties.a must be a string"),
        ({"properties": {"a": None}}, "metadata.properties.a must be a string"),
        ({"sensitive": "x"}, "metadata.sensitive must be a list"),
        ([], "metadata must be an object"),
    ],
)
def test_metadata_of_another_type_is_refused(metadata: Any, message: str) -> None:
    with pytest.raises(RegistryError, match=message) as refused:
        metadata_of({"metadata": metadata}, "metadata")
    assert refused.value.error_code == 400


@pytest.mark.parametrize(
    ("rules", "message"),
    [([5], "a list of objects"), ({}, "a list"), ([{"name": []}], "name must be a string"), ([{"params": 5}], "params must be an object")],
)
def test_rules_of_another_type_are_refused(rules: Any, message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        rule_set_of({"ruleSet": {"domainRules": rules}}, "ruleSet")


@pytest.mark.parametrize(("names", "message"), [(["", "a"], "Missing rule name"), (["a", "a"], "duplicate name 'a'")])
def test_rules_without_names_of_their_own_are_refused(names: list[str], message: str) -> None:
    with pytest.raises(RegistryError, match=message):
        check_rule_names({"encodingRules": [{"name": name} for name in names]})
