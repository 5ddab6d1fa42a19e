"""Compares the members of objects and arrays: properties, items, dependencies, and what is accepted beside them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ....kafka_quirks.java_hash import hash_map_order
from ..pairs import Steps
from .content_models import PatternSearch, find_schema_of_others, is_open
from .differences import Difference
from .keywords import compare_array_limits, compare_object_limits
from .parts import ArrayPart, JsonPart, ObjectPart

MAX_PATH_LENGTH = 100
"""The longest path in a message. Without this limit, paths through cycles of references would grow with the number of parts."""

JsonSteps = Steps[JsonPart, Difference]


def place_below(differences: Iterable[Difference], *path: str) -> list[Difference]:
    """Returns differences of a part as those of the part that contains it at `path`."""
    return [(kind, (*path, *below)[:MAX_PATH_LENGTH]) for kind, below in differences]


class MemberComparison:
    """Compares objects and arrays in steps, which yield pairs of their members."""

    def __init__(self) -> None:
        self._search = PatternSearch()

    def compare_objects(self, old: ObjectPart, new: ObjectPart) -> JsonSteps:
        found = list(_compare_required(old, new))
        for name in _all_keys(old.properties, new.properties):
            found += place_below((yield from self._compare_property(old, new, name)), "properties", name)
        found += place_below((yield from _compare_dependencies(old, new)), "dependencies")
        found += place_below((yield from _compare_additional(old, new, "ADDITIONAL_PROPERTIES")), "additionalProperties")
        found += place_below((yield from _compare_unevaluated(old, new, "UNEVALUATED_PROPERTIES")), "unevaluatedProperties")
        return found + compare_object_limits(old, new)

    def compare_arrays(self, old: ArrayPart, new: ArrayPart) -> JsonSteps:
        found = place_below((yield from _compare_items(old, new)), "items")
        for index in range(max(len(old.first_items), len(new.first_items))):
            found += place_below((yield from self._compare_first_item(old, new, index)), "items", str(index))
        found += place_below((yield from _compare_additional(old, new, "ADDITIONAL_ITEMS")), "additionalItems")
        found += place_below((yield from _compare_unevaluated(old, new, "UNEVALUATED_ITEMS")), "unevaluatedItems")
        return found + compare_array_limits(old, new)

    def _compare_property(self, old: ObjectPart, new: ObjectPart, name: str) -> JsonSteps:
        before, after = old.properties.get(name), new.properties.get(name)
        if after is None:
            return (yield from self._compare_removed(new, name, old.properties[name], "PROPERTY"))
        if before is not None:
            return (yield before, after, ())
        is_required, has_default = name in new.required, "default" in after.keywords
        if is_open(old):
            if after.kind == "any":
                return []
            kind = "OPTIONAL_PROPERTY" if not is_required else "REQUIRED_PROPERTY_WITH_DEFAULT" if has_default else "REQUIRED_PROPERTY"
            return [(f"{kind}_ADDED_TO_OPEN_CONTENT_MODEL", ())]
        found = yield from self._compare_covered(old, name, after, "PROPERTY")
        if is_required and not has_default:
            found.append(("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", ()))
        return found

    def _compare_first_item(self, old: ArrayPart, new: ArrayPart, index: int) -> JsonSteps:
        if index >= len(new.first_items):
            return (yield from self._compare_removed(new, "", old.first_items[index], "ITEM"))
        after = new.first_items[index]
        if index < len(old.first_items):
            return (yield old.first_items[index], after, ())
        if is_open(old):
            return [] if after.kind == "any" else [("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", ())]
        return (yield from self._compare_covered(old, "", after, "ITEM"))

    def _compare_covered(self, old: ObjectPart | ArrayPart, name: str, added: JsonPart, member: str) -> JsonSteps:
        """Compares an added member with the schema that it had to fit before, if the model was partially open."""
        others = find_schema_of_others(old, name, self._search)
        found = [] if others is None else [*(yield others, added, ())]
        if found:
            found.append((f"{member}_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ()))
        return found

    def _compare_removed(self, new: ObjectPart | ArrayPart, name: str, removed: JsonPart, member: str) -> JsonSteps:
        if is_open(new):
            return []
        others = find_schema_of_others(new, name, self._search)
        if others is None:
            return [] if removed.kind == "none" else [(f"{member}_REMOVED_FROM_CLOSED_CONTENT_MODEL", ())]
        found = [*(yield removed, others, ())]
        if found:
            found.append((f"{member}_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ()))
        return found


def _compare_dependencies(old: ObjectPart, new: ObjectPart) -> JsonSteps:
    found: list[Difference] = []
    for name in _all_keys(old.property_dependencies, new.property_dependencies):
        before, after = old.property_dependencies.get(name), new.property_dependencies.get(name)
        if before is None:
            found.append(("DEPENDENCY_ARRAY_ADDED", (name,)))
        elif after is not None and not after <= before:
            found.append(("DEPENDENCY_ARRAY_EXTENDED" if before < after else "DEPENDENCY_ARRAY_CHANGED", (name,)))
    for name in _all_keys(old.schema_dependencies, new.schema_dependencies):
        schema_before, schema_after = old.schema_dependencies.get(name), new.schema_dependencies.get(name)
        if schema_before is None:
            found.append(("DEPENDENCY_SCHEMA_ADDED", (name,)))
        elif schema_after is not None:
            found += place_below((yield schema_before, schema_after, ()), name)
    return found


def _compare_additional(old: ObjectPart | ArrayPart, new: ObjectPart | ArrayPart, name: str) -> JsonSteps:
    before, after = old.additional, new.additional
    if after is True:
        return []
    if after is False:
        return [] if before is False else [(f"{name}_REMOVED", ())]
    if isinstance(before, JsonPart):
        return (yield before, after, ())
    return [(f"{name}_NARROWED", ())] if before else []


def _compare_unevaluated(old: ObjectPart | ArrayPart, new: ObjectPart | ArrayPart, name: str) -> JsonSteps:
    before, after = old.unevaluated, new.unevaluated
    if after is None or (before is not None and before.kind == "none"):
        return []
    if after.kind == "none":
        return [(f"{name}_REMOVED", ())]
    if before is None or (before.kind == "any" and after.kind != "any"):
        return [(f"{name}_NARROWED", ())]
    return (yield before, after, ())


def _compare_items(old: ArrayPart, new: ArrayPart) -> JsonSteps:
    if new.items is None:
        return []
    if old.items is None:
        return [("SCHEMA_ADDED", ())]
    return (yield old.items, new.items, ())


def _compare_required(old: ObjectPart, new: ObjectPart) -> Iterator[Difference]:
    for name in hash_map_order(old.properties):
        after = new.properties.get(name)
        if after is not None and name in new.required - old.required and "default" not in after.keywords:
            yield "REQUIRED_ATTRIBUTE_ADDED", ("required", name)


def _all_keys(old: Iterable[str], new: Iterable[str]) -> list[str]:
    """Returns the keys of both in the order of a Java HashSet that is made from the first and then gets the second."""
    before = list(old)
    return hash_map_order([*before, *new], max(int(len(before) / 0.75) + 1, 16))
