"""Metadata and rules of a schema: those of the request, of the version before, and the defaults and overrides of the config, merged."""

from __future__ import annotations

from .data_contracts import RULE_KINDS
from .records import Json

CONFLUENT_VERSION = "confluent:version"


def merge_metadata(old: Json | None, new: Json | None) -> Json | None:
    """Returns metadata with the members of both; those of `new` take precedence."""
    if old is None or new is None:
        return new if old is None else old
    merged: Json = {}
    for name in ("tags", "properties"):
        if values := {**(old.get(name) or {}), **(new.get(name) or {})}:
            merged[name] = dict(sorted(values.items()))
    if sensitive := sorted({*(old.get("sensitive") or ()), *(new.get("sensitive") or ())}):
        merged["sensitive"] = sensitive
    return merged


def merge_rule_sets(old: Json | None, new: Json | None) -> Json | None:
    """Returns the rules of both; a rule of `new` replaces one of the same name."""
    if old is None or new is None:
        return new if old is None else old
    merged: Json = {}
    for kind in RULE_KINDS:
        added = new.get(kind) or []
        names = {rule.get("name") for rule in added}
        if rules := [rule for rule in old.get(kind) or [] if rule.get("name") not in names] + added:
            merged[kind] = rules
    if enable_at := new.get("enableAt") or old.get("enableAt"):
        merged["enableAt"] = enable_at
    return merged


def with_version(metadata: Json | None, version: int) -> Json:
    """Returns metadata with the property confluent:version."""
    properties = {**((metadata or {}).get("properties") or {}), CONFLUENT_VERSION: str(version)}
    return {**(metadata or {}), "properties": dict(sorted(properties.items()))}


def without_version(metadata: Json | None) -> Json:
    """Returns metadata without the property confluent:version, to compare it with other metadata. No metadata is like empty metadata."""
    given = metadata or {}
    properties = {name: value for name, value in (given.get("properties") or {}).items() if name != CONFLUENT_VERSION}
    return {name: value for name, value in {**given, "properties": properties}.items() if value}
