"""Whether data that fits one JSON Schema fits another, by the rules of Confluent's registry (package `json.diff`, policy STRICT).

`old` is the schema of the data, `new` the one that has to accept them. Only differences that make them incompatible are returned.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..pairs import Pair, PairComparison
from .differences import Difference
from .keywords import compare_constants, compare_enums, compare_numbers, compare_strings
from .matching import count_matches
from .members import JsonSteps, MemberComparison
from .parts import ArrayPart, CombinedPart, JsonPart, NotPart, NumberPart, ObjectPart, ReferencePart


def compare_json_schemas(old: JsonPart, new: JsonPart) -> list[Difference]:
    """Returns the differences because of which data of `old` may not fit `new`. Raises `ComparisonTooLarge`.

    A pair that is met again while it is being compared is taken to be compatible. If it turns out not to be, the schemas are compared
    again with this knowledge, until nothing new is found.
    """
    incompatible: dict[Pair, list[Difference]] = {}
    while True:
        comparison = JsonComparison(incompatible)
        found = comparison.compare(old, new)
        now_incompatible = {pair: differences for pair, differences in comparison.results.items() if differences}
        if not comparison.has_assumed or now_incompatible.keys() == incompatible.keys():
            return found
        incompatible = now_incompatible


class JsonComparison(PairComparison[JsonPart, Difference]):
    """Compares parts. `incompatible` are the results of pairs that an earlier comparison has found."""

    def __init__(self, incompatible: dict[Pair, list[Difference]]) -> None:
        super().__init__()
        self.has_assumed = False
        self._incompatible = incompatible
        self._members = MemberComparison()
        self._numbering = Numbering()

    def assume(self, pair: Pair) -> list[Difference]:
        self.has_assumed |= pair not in self._incompatible
        return self._incompatible.get(pair, [])

    def compare_pair(self, first: JsonPart, second: JsonPart, path: tuple[str, ...]) -> JsonSteps | list[Difference]:  # noqa: ARG002
        old, new = first, second
        if isinstance(old, ReferencePart) or isinstance(new, ReferencePart):
            return _compare_targets(old, new)
        if isinstance(old, CombinedPart) != isinstance(new, CombinedPart):
            return _compare_with_combined(old, new)
        if old.kind != new.kind:
            return _compare_kinds(old, new)
        match old, new:
            case ObjectPart(), ObjectPart():
                return self._members.compare_objects(old, new)
            case ArrayPart(), ArrayPart():
                return self._members.compare_arrays(old, new)
            case CombinedPart(), CombinedPart():
                return _compare_combined(old, new, self._numbering)
            case NotPart(), NotPart():
                return _compare_negated(old, new)
            case NumberPart(), NumberPart():
                return compare_numbers(old, new)
        compare_keywords: Callable[[JsonPart, JsonPart], list[Difference]] | None = {
            "string": compare_strings,
            "enum": compare_enums,
            "const": compare_constants,
        }.get(old.kind)
        return compare_keywords(old, new) if compare_keywords else []


def _compare_targets(old: JsonPart, new: JsonPart) -> JsonSteps:
    return (yield _follow(old), _follow(new), ())


def _compare_kinds(old: JsonPart, new: JsonPart) -> list[Difference]:
    if old.kind == "none" or new.kind == "any" or old.connect_type == new.connect_type == "bytes":
        return []
    return [("TYPE_CHANGED", ())]


def _compare_with_combined(old: JsonPart, new: JsonPart) -> JsonSteps:
    """Compares two parts of which one is combined. One of its parts may suffice to make them compatible."""
    if isinstance(new, CombinedPart) and (len(new.parts) == 1 or new.criterion != "allOf"):
        for part in new.parts:
            if not (yield old, part, ()):
                return []
    elif isinstance(old, CombinedPart) and (len(old.parts) == 1 or old.criterion == "allOf"):
        for part in old.parts:
            if not (yield part, new, ()):
                return []
    return _compare_kinds(old, new)


def _compare_negated(old: NotPart, new: NotPart) -> JsonSteps:
    return [("NOT_TYPE_EXTENDED", ("not",))] if (yield new.negated, old.negated, ()) else []


def _compare_combined(old: CombinedPart, new: CombinedPart, numbering: Numbering) -> JsonSteps:
    if not _is_extension(old, new):
        return [("COMBINED_TYPE_CHANGED", ())]
    found: list[Difference] = []
    before, after = numbering.distinct(old.parts), numbering.distinct(new.parts)
    if len(before) < len(after) and new.criterion == "allOf":
        found.append(("PRODUCT_TYPE_EXTENDED", ()))
    elif len(before) > len(after) and old.criterion != "allOf":
        found.append(("SUM_TYPE_NARROWED", ()))
    edges: list[list[int]] = []
    for old_part in before:
        edges.append([])
        for index, new_part in enumerate(after):
            if not (yield old_part, new_part, ()):
                edges[-1].append(index)
    if count_matches(edges) < min(len(before), len(after)):
        found.append(("COMBINED_TYPE_SUBSCHEMAS_CHANGED", ()))
    return found


def _follow(part: JsonPart) -> JsonPart:
    return part.target if isinstance(part, ReferencePart) and part.target else part


def _is_extension(old: CombinedPart, new: CombinedPart) -> bool:
    """Returns whether the criterion is the same, or accepts whatever the old one accepted."""
    if old.criterion == new.criterion or new.criterion == "anyOf":
        return True
    if len(old.parts) == 1 and (len(new.parts) == 1 or new.criterion == "oneOf"):
        return True
    return len(new.parts) == 1 and old.criterion == "allOf"


class Numbering:
    """Gives equal JSON values the same number. Each value of a schema is looked at once, however deep it is nested."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._of_containers: dict[int, int] = {}

    def number_of(self, value: Any) -> int:
        if not isinstance(value, dict | list):
            return self._number((type(value), value))
        if id(value) not in self._of_containers:
            members = (
                frozenset((key, self.number_of(member)) for key, member in value.items())
                if isinstance(value, dict)
                else tuple(map(self.number_of, value))
            )
            self._of_containers[id(value)] = self._number(members)
        return self._of_containers[id(value)]

    def _number(self, key: Any) -> int:
        return self._numbers.setdefault(key, len(self._numbers))

    def distinct(self, parts: list[JsonPart]) -> list[JsonPart]:
        """Returns the parts without those that are equal to an earlier one."""
        found: dict[Any, JsonPart] = {}
        for part in parts:
            is_integer = isinstance(part, NumberPart) and part.is_integer
            found.setdefault((part.kind, is_integer, self.number_of(part.declared)), part)
        return list(found.values())
