"""Compares keywords of strings, numbers, enums and constants, and the limits of arrays and objects."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from ..json_text import sort_keys, write_json
from .differences import LOWER_LIMITS, UPPER_LIMITS, Difference
from .parts import ArrayPart, JsonPart, NumberPart, ObjectPart

STRING_LIMITS = ("maxLength", "minLength")
NUMBER_LIMITS = ("maximum", "minimum", "exclusiveMaximum", "exclusiveMinimum")
OBJECT_LIMITS = ("maxProperties", "minProperties")
ARRAY_LIMITS = ("maxItems", "minItems")


def compare_limits(old: dict[str, Any], new: dict[str, Any], keywords: tuple[str, ...]) -> list[Difference]:
    """Returns the limits that `new` adds or narrows. A boolean is draft 4's way to make a limit exclusive, which is not compared."""
    found: list[Difference] = []
    for keyword in keywords:
        before, after = (_number(declared.get(keyword)) for declared in (old, new))
        name = LOWER_LIMITS.get(keyword) or UPPER_LIMITS[keyword]
        if after is None:
            continue
        if before is None:
            found.append((f"{name}_ADDED", (keyword,)))
        elif keyword in LOWER_LIMITS and before < after:
            found.append((f"{name}_INCREASED", (keyword,)))
        elif keyword in UPPER_LIMITS and before > after:
            found.append((f"{name}_DECREASED", (keyword,)))
    return found


def _number(value: Any) -> int | Decimal | None:
    return value if isinstance(value, int | Decimal) and not isinstance(value, bool) else None


def compare_strings(old: JsonPart, new: JsonPart) -> list[Difference]:
    found = compare_limits(old.keywords, new.keywords, STRING_LIMITS)
    before, after = old.keywords.get("pattern"), new.keywords.get("pattern")
    if after is not None and before != after:
        found.append(("PATTERN_ADDED" if before is None else "PATTERN_CHANGED", ("pattern",)))
    return found


def compare_numbers(old: NumberPart, new: NumberPart) -> list[Difference]:
    found = compare_limits(old.keywords, new.keywords, NUMBER_LIMITS)
    found += _compare_multiples(_number(old.keywords.get("multipleOf")), _number(new.keywords.get("multipleOf")))
    if new.is_integer and not old.is_integer:
        found.append(("TYPE_NARROWED", ()))
    return found


def _compare_multiples(before: int | Decimal | None, after: int | Decimal | None) -> list[Difference]:
    if after is None or before == after:
        return []
    if before is None:
        return [("MULTIPLE_OF_ADDED", ("multipleOf",))]
    if _is_multiple(after, before):
        return [("MULTIPLE_OF_EXPANDED", ("multipleOf",))]
    return [] if _is_multiple(before, after) else [("MULTIPLE_OF_CHANGED", ("multipleOf",))]


def _is_multiple(number: int | Decimal, factor: int | Decimal) -> bool:
    """Returns whether `factor` divides `number`, in exact arithmetic."""
    over, under = number.as_integer_ratio()
    factor_over, factor_under = factor.as_integer_ratio()
    return over * factor_under % (under * factor_over) == 0


def compare_enums(old: JsonPart, new: JsonPart) -> list[Difference]:
    before, after = ({_value_key(value) for value in part.keywords["enum"]} for part in (old, new))
    if before <= after:
        return []
    return [("ENUM_ARRAY_NARROWED" if after < before else "ENUM_ARRAY_CHANGED", ("enum",))]


def compare_constants(old: JsonPart, new: JsonPart) -> list[Difference]:
    if _value_key(old.keywords["const"]) == _value_key(new.keywords["const"]):
        return []
    return [("ENUM_ARRAY_CHANGED", ("const",))]


def _value_key(value: Any) -> str:
    return write_json(sort_keys(value))


def compare_object_limits(old: ObjectPart, new: ObjectPart) -> list[Difference]:
    return compare_limits(old.keywords, new.keywords, OBJECT_LIMITS)


def compare_array_limits(old: ArrayPart, new: ArrayPart) -> list[Difference]:
    found = compare_limits(old.keywords, new.keywords, ARRAY_LIMITS)
    if new.keywords.get("uniqueItems") and not old.keywords.get("uniqueItems"):
        found.append(("UNIQUE_ITEMS_ADDED", ("uniqueItems",)))
    contains = [{"maxContains": part.max_contains, "minContains": part.min_contains} for part in (old, new)]
    return found + compare_limits(contains[0], contains[1], ("maxContains", "minContains"))
