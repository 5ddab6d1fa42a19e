"""Metadata and rules of a schema in the body of a request, with the types that Confluent's classes Metadata, RuleSet and Rule have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .body_members import flag_of, object_of, text_of, wrong_type
from .errors import invalid_rule_set
from .records import Json

RULE_KINDS = ("migrationRules", "domainRules", "encodingRules")
_RULE_TEXTS = ("name", "doc", "kind", "mode", "type", "expr", "onSuccess", "onFailure")
Read = Callable[[Any, str], Any]


def metadata_of(body: Mapping[str, Any], name: str) -> Json | None:
    """Returns a member with metadata, None if it is missing or null. Raises RegistryError for parts of another type."""
    readers = {"tags": _map_of(_list_of(_text)), "properties": _map_of(_text), "sensitive": _list_of(_text)}
    return _with_parts(object_of(body, name), name, readers)


def rule_set_of(body: Mapping[str, Any], name: str) -> Json | None:
    """Returns a member with rules, None if it is missing or null. Raises RegistryError for parts of another type."""
    return _with_parts(object_of(body, name), name, dict.fromkeys(RULE_KINDS, _list_of(_rule)))


def check_rule_names(rule_set: Json | None) -> None:
    """Raises RegistryError for rules without a name, or with the name of another one (RuleSet.validate)."""
    for kind in RULE_KINDS:
        names = [rule.get("name") for rule in (rule_set or {}).get(kind) or ()]
        if not all(names):
            raise invalid_rule_set("Missing rule name")
        if repeated := [name for name in names if names.count(name) > 1]:
            raise invalid_rule_set(f"Found rule with duplicate name '{repeated[0]}'")


def _with_parts(value: Json | None, place: str, readers: Mapping[str, Read]) -> Json | None:
    """Returns an object whose parts have been read; other members are kept."""
    if value is None:
        return None
    return {
        part: readers[part](given, f"{place}.{part}") if part in readers and given is not None else given for part, given in value.items()
    }


def _rule(value: Any, place: str) -> Json:
    if not isinstance(value, dict):
        raise wrong_type(place, "a list of objects")
    read: Json = {name: text_of(value, name) for name in _RULE_TEXTS if name in value}
    read |= {"disabled": flag_of(value, "disabled")} if "disabled" in value else {}
    return (_with_parts(value, place, {"tags": _list_of(_text), "params": _map_of(_text)}) or {}) | read


def _text(value: Any, place: str) -> str:
    text = text_of({place: value}, place)
    if text is None:
        raise wrong_type(place, "a string")
    return text


def _map_of(read: Read) -> Read:
    def read_map(value: Any, place: str) -> Json:
        if not isinstance(value, dict):
            raise wrong_type(place, "an object")
        return {name: read(each, f"{place}.{name}") for name, each in value.items()}

    return read_map


def _list_of(read: Read) -> Read:
    def read_list(value: Any, place: str) -> list[Any]:
        if not isinstance(value, list):
            raise wrong_type(place, "a list")
        return [read(each, place) for each in value]

    return read_list
