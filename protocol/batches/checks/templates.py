"""The single-record path: compares the only record of a batch with the structure of an earlier record of the same size.

Producers that send one record per batch tend to send the same kind of record again and again. The structural bytes of the first
record of each size are kept as a template; a later record with the same structural bytes is well formed without being parsed.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import itemgetter
from typing import Any, NamedTuple

from ..records import TIMESTAMP_TYPE_BIT, BatchHeader, Buffer, InvalidRecords
from .rules import RecordRules
from .shapes import shape_of_record

MAX_TEMPLATES, MAX_STRUCTURE_LENGTH = 4096, 64
"""The number of templates that are kept, and the most structural bytes that one may have."""


class _Template(NamedTuple):
    """The structural bytes of a record, and the function that extracts them from a payload."""

    read: Callable[[Any], tuple[int, ...]]
    structure: tuple[int, ...]
    key_missing: bool


_templates: dict[tuple[int, int], _Template | None] = {}
"""Templates by start and end of the payload; None if the first record of that size cannot serve as one."""


def matches_template(data: Buffer, header: BatchHeader, rules: RecordRules, start: int) -> bool:
    """Returns whether the only record, at `start`, matches a template and the rules. Its timestamp is then the base timestamp.

    The result False does not mean that the record is invalid.
    """
    place = start, len(data)
    if place not in _templates:
        if len(_templates) == MAX_TEMPLATES:
            _templates.clear()
        _templates[place] = _new_template(data, start)
    template = _templates[place]
    return (
        template is not None
        and template.read(data) == template.structure
        and max(rules.earliest, 0) <= header.base_timestamp <= rules.latest
        and not header.attributes & TIMESTAMP_TYPE_BIT
        and not (rules.keys and template.key_missing)
    )


def _new_template(data: Buffer, start: int) -> _Template | None:
    """Returns a template made of a record whose timestamp delta and offset delta are 0; None for any other."""
    try:
        shape = shape_of_record(data, start)
    except (IndexError, InvalidRecords):
        return None
    deltas = (*shape.timestamp, *shape.offset)
    if shape.end != len(data) or [data[at] for at in deltas] != [0, 0] or len(shape.lengths) > MAX_STRUCTURE_LENGTH:
        return None
    read = itemgetter(*shape.size, *deltas, *shape.lengths)
    return _Template(read, read(data), shape.key_missing)
