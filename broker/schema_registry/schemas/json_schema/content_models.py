"""Content models: which properties or items a schema accepts beside those that it names.

A model is open if it accepts anything, closed if it accepts nothing else, and partially open if the others must fit a schema.
"""

from __future__ import annotations

from ....kafka_quirks.re2 import InvalidRegularExpression, Regex
from ..schema import ComparisonTooLarge
from .parts import ArrayPart, JsonPart, ObjectPart

MAX_PATTERN_STEPS = 1_000_000
"""How many states all patterns of a comparison may visit while they are matched."""


class PatternSearch:
    """Looks for patterns in names in bounded time, because Python's `re` would let one pattern block the process.

    A pattern with look-around or a backreference, which RE2 does not know, is taken not to match.
    """

    def __init__(self) -> None:
        self._expressions: dict[str, Regex | None] = {}
        self._steps = 0

    def finds(self, pattern: str, name: str) -> bool:
        """Returns whether a part of `name` matches. Raises `ComparisonTooLarge` when `MAX_PATTERN_STEPS` are used up."""
        if pattern not in self._expressions:
            try:
                self._expressions[pattern] = Regex(f"(?s:.*)(?:{pattern})(?s:.*)")
            except InvalidRegularExpression:
                self._expressions[pattern] = None
        expression = self._expressions[pattern]
        if expression is None:
            return False
        matching = expression.match(name)
        while True:
            try:
                self._steps += next(matching)
            except StopIteration as done:
                return bool(done.value)
            if self._steps > MAX_PATTERN_STEPS:
                raise ComparisonTooLarge


def is_open(part: ObjectPart | ArrayPart) -> bool:
    """Returns whether a part accepts all properties or items that it does not name."""
    if part.additional is not True or (isinstance(part, ObjectPart) and part.patterns):
        return False
    return part.unevaluated is None or part.unevaluated.kind == "any"


def find_schema_of_others(part: ObjectPart | ArrayPart, name: str, search: PatternSearch) -> JsonPart | None:
    """Returns the schema for a property, or an item, that a partially open part does not name; None if the part is closed."""
    if isinstance(part, ObjectPart):
        for pattern, schema in part.patterns.items():
            if search.finds(pattern, name):
                return schema
    if isinstance(part.additional, JsonPart):
        return part.additional
    if part.additional and part.unevaluated is not None and part.unevaluated.kind not in ("any", "none"):
        return part.unevaluated
    return None
