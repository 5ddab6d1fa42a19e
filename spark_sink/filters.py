"""Narrows ranges of offsets by the filters that Spark pushes down (from 4.1 on). Spark still applies the filters to the rows."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from .offset_ranges import Logs, OffsetRange

if TYPE_CHECKING:
    from pyspark.sql.datasource import Filter

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
LOWER = {"EqualTo", "EqualNullSafe", "In", "GreaterThan", "GreaterThanOrEqual"}
"""Filters with a lower bound."""
UPPER = {"EqualTo", "EqualNullSafe", "In", "LessThan", "LessThanOrEqual"}
"""Filters with an upper bound."""
TESTS: dict[str, Callable[[Any, Any], bool]] = {
    "EqualTo": operator.eq,
    "EqualNullSafe": operator.eq,
    "In": lambda value, values: value in values,
    "GreaterThan": operator.gt,
    "GreaterThanOrEqual": operator.ge,
    "LessThan": operator.lt,
    "LessThanOrEqual": operator.le,
    "IsNull": lambda value, _: value is None,
    "IsNotNull": lambda value, _: value is not None,
    "StringStartsWith": str.startswith,
    "StringEndsWith": str.endswith,
    "StringContains": operator.contains,
}


def narrow_ranges(logs: Logs, ranges: Iterable[OffsetRange], filters: Iterable[Filter]) -> list[OffsetRange]:
    """Returns the ranges without those parts in which no row can pass all filters. Raises KafkaError, OSError."""
    left, times = list(ranges), []
    for one in filters:
        column = _column(one)
        if column == "offset":
            left = [_between(wanted, _values(one, LOWER), _values(one, UPPER)) for wanted in left]
        elif column in ("topic", "partition"):
            left = [wanted for wanted in left if _passes(one, getattr(wanted.partition, column))]
        elif column == "timestamp":
            times += [min(values) for values in [_values(one, LOWER)] if values]
    return _from_time(logs, left, (max(times) - EPOCH) // timedelta(milliseconds=1)) if times else left


def _from_time(logs: Logs, ranges: list[OffsetRange], time_ms: int) -> list[OffsetRange]:
    """Lets ranges start at their first record of that time or later.

    An upper bound of the time cannot end a range, because producers set timestamps: later records may be older.
    """
    if time_ms <= 0:
        return ranges
    firsts = logs.list_offsets({wanted.partition: time_ms for wanted in ranges})
    return [_between(wanted, [first if first >= 0 else wanted.end], []) for wanted in ranges for first in [firsts[wanted.partition]]]


def _between(wanted: OffsetRange, lower: list[int], upper: list[int]) -> OffsetRange:
    start = min(max(wanted.start, min(lower, default=wanted.start)), wanted.end)
    return OffsetRange(wanted.partition, start, max(start, min(wanted.end, max(upper, default=wanted.end) + 1)))


def _column(one: Filter) -> str:
    """Returns the column that a filter is about, "" for a field inside a column."""
    path: tuple[str, ...] = getattr(getattr(one, "child", one), "attribute", ())
    return path[0] if len(path) == 1 else ""


def _values(one: Filter, kinds: set[str]) -> list[Any]:
    """Returns the values that a filter compares with, none when the filter is not one of `kinds`."""
    kind, value = type(one).__name__, getattr(one, "value", ())
    if kind not in kinds:
        return []
    return [each for each in (value if kind == "In" else (value,)) if each is not None]


def _passes(one: Filter, value: object) -> bool:
    if type(one).__name__ == "Not":
        return not _passes(one.child, value)  # type: ignore[attr-defined]
    return TESTS[type(one).__name__](value, getattr(one, "value", None))
