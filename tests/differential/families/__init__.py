"""The cases, a module for each family."""

from __future__ import annotations

from collections.abc import Callable

from ..script import Cases
from . import batches, consumer_groups, fetch, forms, group_lists, group_offsets, group_states, groups, offsets, produce, sequences

FAMILIES: dict[str, Callable[[], Cases]] = {
    "produce": produce.cases,
    "batches": batches.cases,
    "sequences": sequences.cases,
    "fetch": fetch.cases,
    "offsets": offsets.cases,
    "forms": forms.cases,
    "groups": groups.cases,
    "group_states": group_states.cases,
    "consumer_groups": consumer_groups.cases,
    "group_offsets": group_offsets.cases,
    "group_lists": group_lists.cases,
}
"""What makes the cases of a family, by its name."""
