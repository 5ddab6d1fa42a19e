"""The declarations equal schema.txt, Kafka's schemas: names, order, types, versions, nullability, tags and defaults."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from odradek.protocol import messages
from odradek.protocol.messages import APIS, load_api
from odradek.protocol.schema import NEVER, Message, Spec, Versions, has_default, specs
from odradek.protocol.served_apis import SERVED
from tests.protocol.reference import CASES, Case, default

TYPES = {"b": "i8", "h": "i16", "H": "u16", "i": "i32", "q": "i64", "d": "f64", "?": "bool", "16s": "uuid", "records": "recs"}
FIELD = re.compile(r"( +)(\w+) (?:(\[\])?(\w+))(?: v(\S+))?(?: \?(\S+))?(?: @(\d+))?(?: =(.*))?")


class Fact(NamedTuple):
    """A field in schema.txt."""

    name: str
    array: bool
    type: str
    versions: Versions
    nullable: Versions
    tag: int | None
    default: str | None
    fields: list[Fact]


class MessageFact(NamedTuple):
    """A message in schema.txt."""

    key: int
    versions: Versions
    flexible_from: int
    fields: list[Fact]


def read_facts(name: str) -> dict[str, MessageFact]:
    facts: dict[str, MessageFact] = {}
    nesting: list[list[Fact]] = []
    for line in Path(__file__).with_name(name).read_text().splitlines():
        if line.startswith("#"):
            continue
        if not line.startswith(" "):
            name, key, versions, *flexible_from = line.split()
            facts[name] = MessageFact(int(key), _versions(versions), int(flexible_from[0]) if flexible_from else NEVER, [])
            nesting = [facts[name].fields]
            continue
        match = FIELD.fullmatch(line)
        assert match, line
        indent, name, array, kind, versions, nullable, tag, value = match.groups()
        fact = Fact(name, bool(array), kind, _versions(versions or "0+"), _versions(nullable), int(tag) if tag else None, value, [])
        del nesting[len(indent) :]
        nesting[-1].append(fact)
        nesting.append(fact.fields)
    return facts


def _versions(text: str | None) -> Versions:
    if text is None:
        return Versions(1, 0)
    first, _, last = text.removesuffix("+").partition("-")
    return Versions(int(first), NEVER if text.endswith("+") else int(last or first))


FACTS = read_facts("schema.txt")
REMOVED = read_facts("removed_versions.txt")


def declared(cls: type[Message], version: int) -> list[Any]:
    return [
        (
            spec.name,
            spec.array,
            TYPES.get(spec.kind, spec.kind) if isinstance(spec.kind, str) else spec.kind.__name__,
            spec.null_allowed(version) and not (spec.declared.tag is not None and not isinstance(spec.kind, str)),
            spec.declared.tag,
            None if isinstance(spec.kind, str) else declared(spec.kind, version),
        )
        for spec in specs(cls)
        if spec.present(version)
    ]


def factual(fields: list[Fact], version: int) -> list[Any]:
    return [
        (
            fact.name,
            fact.array,
            fact.type,
            version in fact.nullable,
            fact.tag,
            factual(fact.fields, version) if fact.fields else None,
        )
        for fact in fields
        if version in fact.versions
    ]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_message_fields_equal_schema(case: Case) -> None:
    name = case.cls.__name__
    fact = REMOVED[name] if name in REMOVED and case.version in REMOVED[name].versions else FACTS[name]
    assert declared(case.cls, case.version) == factual(fact.fields, case.version)


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_api_key_and_versions_equal_schema(api: Any) -> None:
    for cls in (api.request, api.response):
        fact = FACTS[cls.__name__]
        assert api.key == fact.key
        assert cls.flexible_from == fact.flexible_from
        assert fact.versions.first <= api.versions.first <= api.versions.last <= fact.versions.last


def test_removed_versions_are_those_before_the_served_ones() -> None:
    older = {api.key: Versions(api.declared.first, api.versions.first - 1) for api in APIS.values() if api.oldest is not None}
    assert older == {fact.key: fact.versions for fact in REMOVED.values()}


def test_registry_has_every_message_of_schema() -> None:
    assert set(FACTS) == {cls.__name__ for api in APIS.values() for cls in (api.request, api.response)}


def structures(cls: type[Message], fields: list[Fact]) -> list[tuple[str, Spec, Fact]]:
    by_name = {fact.name: fact for fact in fields}
    pairs = []
    for spec in (spec for spec in specs(cls) if spec.name in by_name):  # not the fields of removed versions only
        fact = by_name[spec.name]
        pairs.append((f"{cls.__name__}.{spec.name}", spec, fact))
        if not isinstance(spec.kind, str):
            pairs += structures(spec.kind, fact.fields)
    return pairs


@pytest.mark.parametrize("api", APIS.values(), ids=lambda api: api.name)
def test_message_defaults_equal_schema(api: Any) -> None:
    """A default must be Kafka's, but a nullable field may default to None. A tagged structure of defaults is None."""
    for cls in (api.request, api.response):
        for name, spec, fact in structures(cls, FACTS[cls.__name__].fields):
            if not has_default(spec.declared):
                assert spec.declared.tag is None and spec.declared.since <= api.versions.first, f"{name} needs a default"
                continue
            implicit = default(spec._replace(declared=spec.declared._replace(default=NO_DEFAULT, default_factory=None)))
            expected = implicit if fact.default is None else _value(fact)
            allowed = [expected, None] if spec.nullable and fact.default is None else [expected]
            assert default(spec) in allowed, f"{name}: {default(spec)!r} is not {expected!r}"


NO_DEFAULT = next(spec.declared.default for api in APIS.values() for spec in specs(api.request) if not has_default(spec.declared))


def _value(fact: Fact) -> Any:
    if fact.default == "null":
        return None
    if fact.type == "bool":
        return fact.default == "true"
    return fact.default if fact.type == "str" else int(fact.default or "")


def test_load_api_returns_each_served_api_once() -> None:
    assert {key: load_api(key) for key in SERVED} == APIS
    assert all(load_api(key) is APIS[key] for key in SERVED)
    assert load_api(7) is None


def test_messages_unknown_name_raises_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'unknown'"):
        messages.unknown  # type: ignore[attr-defined]  # noqa: B018
